//! Secrets of keys, sessions and links: made from random bytes, shown once, never printed by accident.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::StoreError;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// What a client presents, such as its key. Only [`Secret::reveal`] shows it.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// A new secret of a key: `tr_` and 256 random bits in base64url.
    pub(crate) fn random() -> Result<Self, StoreError> {
        Ok(Self(format!("tr_{}", Self::bare()?.0)))
    }

    /// 256 random bits in base64url, and nothing that says what they are for.
    pub fn bare() -> Result<Self, StoreError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| StoreError::Random { cause: error.to_string() })?;
        Ok(Self(base64url(&bytes)))
    }

    /// What somebody else made, such as a password.
    pub(crate) fn of(text: String) -> Self {
        Self(text)
    }

    /// The secret itself, to be handed to its owner.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Enough to tell keys apart in a list, and far too little to guess the rest.
    pub(crate) fn prefix(&self) -> &str {
        &self.0[..8]
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// What is stored instead of the secret.
pub fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

fn base64url(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().fold(0, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            text.push(char::from(ALPHABET[(group >> (18 - 6 * place)) as usize & 63]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64url;

    #[test]
    fn base64url_agrees_with_known_answers() {
        assert_eq!(base64url(b""), "");
        assert_eq!(base64url(b"f"), "Zg");
        assert_eq!(base64url(b"fo"), "Zm8");
        assert_eq!(base64url(b"foo"), "Zm9v");
        assert_eq!(base64url(&[0xfb, 0xff, 0xfe]), "-__-");
        assert_eq!(base64url(&[0; 32]).len(), 43);
    }
}
