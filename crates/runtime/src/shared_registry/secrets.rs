//! Secrets of servers that share a database: sealed documents, which each home has copies of.

use std::io;
use std::sync::Arc;

use toolroom_store::registry::{Base, Kind, NewDocument, Text};

use super::SharedRegistry;
use crate::registry_file::FileError;
use crate::secret_file::{SecretBook, SecretFile};

impl SharedRegistry {
    /// Changes secrets, or the hosts that may get them. Returns when that is in force at every server.
    pub async fn change_secrets<T: Send + 'static>(
        self: &Arc<Self>,
        change: impl FnOnce(&mut SecretBook) -> io::Result<T> + Send + 'static,
    ) -> Result<T, FileError> {
        let me = Arc::clone(self);
        // It is carried to its end even if nobody waits for it any more.
        let changed = tokio::spawn(async move {
            let turn = me.begin().await?;
            let here = Arc::clone(&me);
            let changed = tokio::task::spawn_blocking(move || here.change_secrets_in_turn(change)).await;
            me.end(turn).await;
            changed.unwrap_or_else(|error| Err(FileError::Aborted(error.to_string())))
        });
        changed.await.unwrap_or_else(|error| Err(FileError::Aborted(error.to_string())))
    }

    /// The same in a turn that somebody has: the copies are as new as the documents. On a thread that may block.
    pub(crate) fn change_secrets_in_turn<T>(
        &self,
        change: impl FnOnce(&mut SecretBook) -> io::Result<T>,
    ) -> Result<T, FileError> {
        let (done, next) = self.secret_file().changed(change)?;
        if !next.is_empty() {
            let document = |(name, body): (&str, Vec<u8>)| {
                let text = Text { body: Some(body), is_executable: false };
                NewDocument { kind: Kind::Secrets, name: name.to_owned(), text }
            };
            let documents = next.into_iter().map(document).collect();
            let here = tokio::runtime::Handle::current();
            here.block_on(self.write("secrets".to_owned(), documents, Base::Nothing))?;
        }
        Ok(done)
    }

    /// Says so if this server cannot open what others have sealed.
    pub(super) fn check_secrets(&self) {
        if let Err(error) = self.secret_file().check() {
            tracing::warn!(%error, "tools that need a secret are refused: the secrets cannot be used");
        }
    }

    fn secret_file(&self) -> SecretFile {
        SecretFile::of_home(&self.home)
    }
}
