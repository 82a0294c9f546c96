//! Cursors of the log for those who see only their own rows. A cursor is a place in a file that everybody's calls are
//! written to: in plain sight it would tell how much others wrote, and how long the reason of a refusal is.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use tokio::sync::OnceCell;
use toolroom_contract::ToolError;
use toolroom_store::Store;
use uuid::Uuid;

use crate::kept_key::kept_key;

/// The key of all cursors.
#[derive(Default)]
pub(crate) struct SealedCursors(OnceCell<LessSafeKey>);

const SETTING: &str = "log.cursor_key";
/// Every cursor is filled up to a multiple of this, so that its length tells nothing.
const BLOCK: usize = 128;

impl SealedCursors {
    pub(crate) async fn seal(&self, store: &Store, cursor: &str) -> Result<String, ToolError> {
        let key = self.key(store).await?;
        let mut text = cursor.as_bytes().to_vec();
        text.resize(text.len().next_multiple_of(BLOCK), b' ');
        let mut nonce = [0; NONCE_LEN];
        nonce.copy_from_slice(&Uuid::new_v4().as_bytes()[..NONCE_LEN]);
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut text)
            .map_err(|_| ToolError::internal("a cursor cannot be sealed"))?;
        Ok(BASE64.encode([nonce.as_slice(), &text].concat()))
    }

    /// The cursor; `None` if this installation did not make it.
    pub(crate) async fn open(&self, store: &Store, sealed: &str) -> Result<Option<String>, ToolError> {
        let key = self.key(store).await?;
        let opened = || {
            let bytes = BASE64.decode(sealed).ok()?;
            let (nonce, text) = bytes.split_at_checked(NONCE_LEN)?;
            let (nonce, mut text) = (Nonce::try_assume_unique_for_key(nonce).ok()?, text.to_vec());
            let text = key.open_in_place(nonce, Aad::empty(), &mut text).ok()?;
            Some(std::str::from_utf8(text).ok()?.trim_end().to_owned())
        };
        Ok(opened())
    }

    async fn key(&self, store: &Store) -> Result<&LessSafeKey, ToolError> {
        let made = async {
            let key = kept_key(store, SETTING, "toolroom log cursor v1").await?;
            let key = UnboundKey::new(&CHACHA20_POLY1305, &key).map_err(|_| ToolError::internal("no key"))?;
            Ok(LessSafeKey::new(key))
        };
        self.0.get_or_try_init(|| made).await
    }
}
