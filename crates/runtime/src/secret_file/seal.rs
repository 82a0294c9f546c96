//! Seals what `secrets.json` keeps: AES-256-GCM, with a key that stands apart from it.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};

/// Holds the key instead of the file.
pub const KEY_VARIABLE: &str = toolroom_upstream::config::SEAL_KEY;

/// The key of a home's secrets.
pub(crate) struct SealKey {
    key: LessSafeKey,
    /// Where it came from, for messages.
    from: &'static str,
}

impl SealKey {
    /// The key of the environment, else of this file. Without either there is none.
    pub(crate) fn find(file: &Path) -> io::Result<Option<Self>> {
        if let Some(text) = std::env::var_os(KEY_VARIABLE).filter(|text| !text.is_empty()) {
            return Self::parse(&text.to_string_lossy(), KEY_VARIABLE).map(Some);
        }
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io::Error::new(error.kind(), format!("secrets.key: {error}"))),
        };
        if std::fs::metadata(file)?.mode() & 0o077 != 0 {
            let message = "others can read secrets.key in the home: run chmod 600 on it";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        Self::parse(&text, "secrets.key").map(Some)
    }

    /// The key where servers share a database. None is made: each server would have its own.
    pub(crate) fn find_shared(file: &Path) -> io::Result<Self> {
        Self::find(file)?.ok_or_else(|| {
            let message = format!(
                "servers that share a database seal logins and secrets with one key, and this one has none: set \
                 {KEY_VARIABLE} to the same 64 hexadecimal digits for all of them, or put these into secrets.key of each \
                 home (mode 600). A first key: openssl rand -hex 32"
            );
            io::Error::new(io::ErrorKind::NotFound, message)
        })
    }

    /// The key, which is made if there is none yet.
    pub(super) fn find_or_make(file: &Path) -> io::Result<Self> {
        if let Some(key) = Self::find(file)? {
            return Ok(key);
        }
        let fresh: [u8; 32] = random()?;
        let folder = file.parent().unwrap_or(Path::new("/"));
        let owner_only = Permissions::from_mode(0o600);
        let mut aside =
            tempfile::Builder::new().prefix(".toolroom-").permissions(owner_only).tempfile_in(folder)?;
        writeln!(aside, "{}", blake3::Hash::from(fresh).to_hex())?;
        aside.as_file().sync_all()?;
        match aside.persist_noclobber(file) {
            Ok(_) => std::fs::File::open(folder)?.sync_all()?,
            // Another command made one first: that one counts.
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.error),
        }
        Self::find(file)?.ok_or_else(|| io::Error::other("secrets.key was made and is not there"))
    }

    fn parse(text: &str, from: &'static str) -> io::Result<Self> {
        let bytes = blake3::Hash::from_hex(text.trim()).ok();
        let key = bytes.and_then(|bytes| UnboundKey::new(&AES_256_GCM, bytes.as_bytes()).ok());
        let key = key.ok_or_else(|| {
            let message = format!(
                "{from} is not a key of 64 hexadecimal digits: restore the one that you had. A new one, for a home \
                 without secrets: openssl rand -hex 32"
            );
            io::Error::new(io::ErrorKind::InvalidData, message)
        })?;
        Ok(Self { key: LessSafeKey::new(key), from })
    }

    /// A value as it is kept, bound to its name.
    pub(crate) fn seal(&self, name: &str, value: &str) -> io::Result<String> {
        let nonce: [u8; NONCE_LEN] = random()?;
        let mut bytes = value.as_bytes().to_vec();
        self.key
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(name.as_bytes()),
                &mut bytes,
            )
            .map_err(|_| io::Error::other("a secret cannot be sealed"))?;
        Ok(BASE64.encode([&nonce[..], &bytes].concat()))
    }

    /// The value that was sealed under that name. `else_do`: what to do if the key cannot be had again.
    pub(crate) fn open(&self, name: &str, sealed: &str, else_do: &str) -> io::Result<String> {
        let opened = || {
            let mut bytes = BASE64.decode(sealed).ok()?;
            let (nonce, value) = bytes.split_first_chunk_mut::<NONCE_LEN>()?;
            let nonce = Nonce::assume_unique_for_key(*nonce);
            let value = self.key.open_in_place(nonce, Aad::from(name.as_bytes()), value).ok()?;
            String::from_utf8(value.to_vec()).ok()
        };
        opened().ok_or_else(|| {
            let from = self.from;
            let message = format!(
                "{from} is not the key that '{name}' was sealed with: restore that key, the same for all servers that share \
                 a database, or {else_do}"
            );
            io::Error::new(io::ErrorKind::InvalidData, message)
        })
    }
}

/// The secrets are sealed, and nothing opens them.
pub(super) fn no_key() -> io::Error {
    let message = format!(
        "the secrets are sealed, and their key is missing: restore secrets.key in the home or set {KEY_VARIABLE}, to \
         the same key for all servers that share a database. If \
         the key is lost, remove each secret that 'toolroom secrets list' shows, and set it again"
    );
    io::Error::new(io::ErrorKind::NotFound, message)
}

fn random<const LENGTH: usize>() -> io::Result<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| io::Error::other("the system gives no random numbers")).map(|()| bytes)
}
