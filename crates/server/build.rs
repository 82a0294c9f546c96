//! Packs the console's files for the program: compressed, with their types, under the hash of them all.
#![allow(clippy::print_stdout, reason = "this is how a build script talks to cargo")]

use std::error::Error;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=console");
    println!("cargo::rerun-if-changed=build.rs");
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("console");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut hasher = DefaultHasher::new();
    let mut contents = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root)?.to_str().ok_or("a name that is not UTF-8")?.to_owned();
        let content = fs::read(&file)?;
        (&name, &content).hash(&mut hasher);
        contents.push((name, content));
    }
    let hash = format!("{:016x}", hasher.finish());
    let mut list =
        format!("pub(super) const HASH: &str = {hash:?};\npub(super) static FILES: &[File] = &[\n");
    for (number, (name, content)) in contents.into_iter().enumerate() {
        let content = match name.as_str() {
            name if name.ends_with(".html") => {
                String::from_utf8(content)?.replace("/a/dev/", &format!("/a/{hash}/")).into_bytes()
            }
            _ => content,
        };
        let packed = out.join(format!("{number}.gz"));
        fs::write(&packed, gzip(&content)?)?;
        let kind = kind(&name);
        writeln!(list, "    File {{ name: {name:?}, kind: {kind:?}, gzip: include_bytes!({packed:?}) }},")?;
    }
    list.push_str("];\n");
    fs::write(out.join("console.rs"), list)?;
    Ok(())
}

/// All files of a folder, but for what is there for those who work on them.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            collect(&path, found)?;
        } else if name != "README.md" && !name.ends_with(".d.ts") {
            found.push(path);
        }
    }
    Ok(())
}

fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "json" => "application/json",
        _ => "text/plain; charset=utf-8",
    }
}

/// RFC 1952: a header without a time, the data, its checksum and its length.
fn gzip(data: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255];
    packed.extend(miniz_oxide::deflate::compress_to_vec(data, 9));
    packed.extend(checksum(data).to_le_bytes());
    packed.extend(u32::try_from(data.len())?.to_le_bytes());
    Ok(packed)
}

fn checksum(data: &[u8]) -> u32 {
    let step = |sum: u32, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
    !data.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step))
}
