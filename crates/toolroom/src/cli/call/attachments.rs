//! `call`, with `--out DIR` or without: the images, recordings and files of an answer, as files.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::failure::Failure;
use crate::terminal;

/// Whether an answer has anything beside its data that can be a file.
pub fn is_any(answer: &Value) -> bool {
    let blocks = answer["content"].as_array().into_iter().flatten();
    blocks.into_iter().any(|block| block["data"].is_string() || block["resource"]["blob"].is_string())
}

/// Writes it into a new folder for temporary files, where nobody named one.
pub fn keep(answer: &Value) -> Result<Vec<String>> {
    match is_any(answer) {
        true => write(answer, &tempfile::Builder::new().prefix("toolroom-").tempdir()?.keep()),
        false => Ok(Vec::new()),
    }
}

/// Writes what an answer has beside its data, and gives the files. Nothing that is there is overwritten.
pub fn write(answer: &Value, folder: &Path) -> Result<Vec<String>> {
    let mut written = Vec::new();
    let failed = |error: std::io::Error| {
        Failure::new(format!("{}: {error}", folder.display()), "Name a folder that you can write to.")
    };
    for (at, block) in answer["content"].as_array().into_iter().flatten().enumerate() {
        let (data, kind, name) = match block["type"].as_str() {
            Some("image" | "audio") => (&block["data"], &block["mimeType"], String::new()),
            Some("resource") => {
                let resource = &block["resource"];
                (
                    &resource["blob"],
                    &resource["mimeType"],
                    name_of(resource["uri"].as_str().unwrap_or_default()),
                )
            }
            _ => continue,
        };
        let Some(bytes) = data.as_str().and_then(|data| STANDARD.decode(data).ok()) else { continue };
        let name = match name.is_empty() {
            true => format!("{}.{}", at + 1, ending(kind.as_str().unwrap_or_default())),
            false => name,
        };
        fs::create_dir_all(folder).map_err(failed)?;
        let place = free_place(folder, &name, &bytes).map_err(failed)?;
        terminal::remark(&format!("wrote {place} ({} bytes)", bytes.len()));
        written.push(place);
    }
    Ok(written)
}

/// Writes under that name, or with a number if it is taken.
fn free_place(folder: &Path, name: &str, bytes: &[u8]) -> std::io::Result<String> {
    let (stem, ending) = name.rsplit_once('.').map_or((name, ""), |(stem, ending)| (stem, ending));
    let dot = if ending.is_empty() { "" } else { "." };
    let mut place = folder.join(name);
    for number in 2.. {
        match OpenOptions::new().write(true).create_new(true).open(&place) {
            Ok(mut file) => {
                file.write_all(bytes)?;
                break;
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && number < 1000 => {
                place = folder.join(format!("{stem}-{number}{dot}{ending}"));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(place.display().to_string())
}

/// The last part of a URI as a file name: without anything that leads elsewhere, and not hidden.
fn name_of(uri: &str) -> String {
    let last = uri.rsplit('/').next().unwrap_or_default();
    let bytes = last.as_bytes();
    let (mut name, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let coded = bytes.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
        match coded.filter(|_| bytes[at] == b'%').and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                name.push(byte);
                at += 3;
            }
            None => {
                name.push(bytes[at]);
                at += 1;
            }
        }
    }
    let name = String::from_utf8_lossy(&name);
    let plain = |letter: char| if letter.is_control() || "/\\:".contains(letter) { '_' } else { letter };
    let name: String = name.trim_start_matches('.').chars().take(120).map(plain).collect();
    name.trim().to_owned()
}

fn ending(kind: &str) -> &str {
    match kind {
        "image/jpeg" => "jpg",
        "image/svg+xml" => "svg",
        "audio/mpeg" => "mp3",
        "text/plain" => "txt",
        _ => {
            let last = kind.rsplit('/').next().unwrap_or_default();
            let plain = !last.is_empty() && last.chars().all(|letter| letter.is_ascii_alphanumeric());
            if plain && last.len() < 9 { last } else { "bin" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ending, name_of};

    #[test]
    fn names_stay_in_the_folder() {
        assert_eq!(name_of("file:///t%20a.csv"), "t a.csv");
        assert_eq!(name_of("file:///..%2F..%2Fetc%2Fpasswd"), "_.._etc_passwd");
        assert_eq!(name_of("file:///.."), "");
        assert_eq!((ending("image/png"), ending("image/jpeg"), ending("x/../../y")), ("png", "jpg", "y"));
    }
}
