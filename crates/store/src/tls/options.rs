//! TLS in URLs: `sslmode` and its files, as psql knows them.

use std::path::{Path, PathBuf};

use super::{Mode, Roots, Tls};
use crate::StoreError;

/// Takes what concerns TLS out of a URL, and returns the rest of it. `unsaid` is the mode of a URL that names none.
pub(crate) fn split_off(text: &str, unsaid: Option<Mode>) -> Result<(String, Tls), StoreError> {
    let (address, query) = text.split_once('?').unwrap_or((text, ""));
    let (mut mode, mut roots, mut certificate, mut key) = (None, None, None, None);
    let mut rest = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let slot = match name {
            "sslmode" => &mut mode,
            "sslrootcert" => &mut roots,
            "sslcert" => &mut certificate,
            "sslkey" => &mut key,
            _ => {
                rest.push(pair);
                continue;
            }
        };
        *slot = Some(percent_decoded(value)?);
    }
    let bad = |reason| StoreError::BadUrl { reason };
    let file = |text: String| match Path::new(&text).is_absolute() {
        true => Ok(PathBuf::from(text)),
        false => Err(bad("sslrootcert, sslcert and sslkey are files, named from the root: /etc/…")),
    };
    let has_files = roots.is_some() || certificate.is_some() || key.is_some();
    let mode = match mode.as_deref() {
        Some("disable") => Mode::Disable,
        Some("prefer") => Mode::Prefer,
        Some("require") => Mode::Require,
        Some("verify-ca") => Mode::VerifyCa,
        Some("verify-full") => Mode::VerifyFull,
        Some(_) => return Err(bad("sslmode is disable, prefer, require, verify-ca or verify-full")),
        None if has_files && unsaid.is_none() => {
            return Err(bad("with sslrootcert, sslcert or sslkey, say sslmode=verify-full"));
        }
        None => unsaid.unwrap_or_default(),
    };
    let roots = match roots {
        None => Roots::Unnamed,
        Some(system) if system == "system" => Roots::System,
        Some(path) => Roots::File(file(path)?),
    };
    let identity = match (certificate, key) {
        (Some(certificate), Some(key)) => Some((file(certificate)?, file(key)?)),
        (None, None) => None,
        _ => return Err(bad("sslcert and sslkey belong together")),
    };
    let mark = if rest.is_empty() { "" } else { "?" };
    Ok((format!("{address}{mark}{}", rest.join("&")), Tls { mode, roots, identity }))
}

/// A part of a URL without its percent signs.
pub(crate) fn percent_decoded(text: &str) -> Result<String, StoreError> {
    let bad = || StoreError::BadUrl { reason: "a percent sign must be followed by two hexadecimal digits" };
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2).ok_or_else(bad)?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| bad())?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).map_err(|_| bad())
}
