//! Ids that hold their session, for servers that share a database: whichever of them is asked, it finds in the id who the
//! client is, and needs to look nothing up. An id is taken for an attack unless it has our seal for this very caller.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::OnceCell;
use toolroom_contract::Principal;
use toolroom_contract::ids::RunId;
use toolroom_mcp::{Capabilities, Client, Implementation, LogLevel, Revision};
use toolroom_store::{Store, StoreError};
use uuid::Uuid;

use super::{Introduced, Transport};
use crate::kept_key::kept_key;
use crate::mcp::seal;

/// How long an id is good.
pub(crate) const LIFE: Duration = Duration::from_secs(24 * 3600);
/// Proxies take headers of 8 KB and less; an id that is longer was not made here.
const LONGEST: usize = 4096;
/// The form of what is sealed, and the number of the key: an id of another form or key is none of ours.
const FORM: &str = "1.1.";

/// What an id says.
#[derive(Serialize, Deserialize)]
pub(crate) struct Content {
    /// A short name of the session, for rows and logs.
    #[serde(rename = "n")]
    pub(crate) name: Uuid,
    #[serde(rename = "p")]
    pub(crate) profile: Cow<'static, str>,
    #[serde(rename = "t")]
    pub(crate) transport: Transport,
    /// Where the session began; a stream of events stays there.
    #[serde(rename = "b")]
    pub(crate) begun_at: RunId,
    /// The client, where it had introduced itself.
    #[serde(rename = "c")]
    client: Option<SealedClient>,
    /// The list of tools that it was shown, as a hash: what changes while nobody listens is told later, by anybody.
    #[serde(rename = "l")]
    shown: Option<String>,
    #[serde(rename = "e")]
    expires: i64,
}

#[derive(Serialize, Deserialize)]
struct SealedClient {
    #[serde(rename = "r")]
    revision: String,
    #[serde(rename = "i")]
    name_and_version: Option<(String, String)>,
    #[serde(rename = "c")]
    capabilities: Arc<Map<String, Value>>,
}

impl Content {
    pub(crate) fn new(
        profile: Cow<'static, str>,
        transport: Transport,
        begun_at: RunId,
        introduced: Option<&Introduced>,
        now: Timestamp,
    ) -> Self {
        let shown = introduced.and_then(|introduced| Some(introduced.shown?.to_hex().to_string()));
        let client = introduced.map(|Introduced { client, .. }| SealedClient {
            revision: client.revision.as_str().to_owned(),
            name_and_version: client.info.as_ref().map(|info| (info.name.clone(), info.version.clone())),
            capabilities: Arc::clone(&client.capabilities.0),
        });
        let expires = (now + LIFE).as_second();
        Self { name: Uuid::new_v4(), profile, transport, begun_at, client, shown, expires }
    }

    /// The client, as it introduced itself.
    pub(crate) fn introduced(&self) -> Option<Introduced> {
        let client = self.client.as_ref()?;
        let shown = self.shown.as_ref().and_then(|shown| blake3::Hash::from_hex(shown).ok());
        let client = Client {
            revision: Revision::parse(&client.revision)?,
            info: client.name_and_version.clone().map(|(name, version)| Implementation { name, version }),
            capabilities: Capabilities(Arc::clone(&client.capabilities)),
            log_level: Some(LogLevel::Info),
        };
        Some(Introduced { client, shown })
    }

    pub(crate) fn expires(&self) -> Timestamp {
        Timestamp::from_second(self.expires).unwrap_or(Timestamp::MIN)
    }
}

/// Seals ids and opens them.
#[derive(Default)]
pub(crate) struct SealedIds(OnceCell<[u8; 32]>);

impl SealedIds {
    /// The id; `None` if it would be too long for a header.
    pub(crate) async fn seal(
        &self,
        store: &Store,
        principal: &Principal,
        content: &Content,
    ) -> Result<Option<String>, StoreError> {
        let key = self.key(store).await?;
        // Our own types have string keys: this cannot fail.
        let payload = serde_json::to_vec(content).unwrap_or_default();
        let mac = mac(key, principal, &payload);
        let id = format!("{FORM}{}.{}", BASE64.encode(&payload), BASE64.encode(mac.as_bytes()));
        Ok((id.len() <= LONGEST).then_some(id))
    }

    /// What was sealed for this caller, until it is too old. One answer to all that is wrong.
    pub(crate) async fn open(
        &self,
        store: &Store,
        principal: &Principal,
        id: &str,
        now: Timestamp,
    ) -> Result<Option<Content>, StoreError> {
        let key = self.key(store).await?;
        let opened = || {
            let (payload, seal) = id.strip_prefix(FORM).filter(|_| id.len() <= LONGEST)?.split_once('.')?;
            let payload = BASE64.decode(payload).ok()?;
            let seal: [u8; 32] = BASE64.decode(seal).ok()?.try_into().ok()?;
            // Hashes are compared in constant time.
            if mac(key, principal, &payload) != blake3::Hash::from(seal) {
                return None;
            }
            let content: Content = serde_json::from_slice(&payload).ok()?;
            (now < content.expires()).then_some(content)
        };
        Ok(opened())
    }

    async fn key(&self, store: &Store) -> Result<&[u8; 32], StoreError> {
        self.0.get_or_try_init(|| kept_key(store, seal::SETTING, "toolroom mcp session v1")).await
    }
}

fn mac(key: &[u8; 32], principal: &Principal, payload: &[u8]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_keyed(key);
    // All but the last are of fixed length, so that nothing runs over into what follows.
    hasher
        .update(FORM.as_bytes())
        .update(&principal.user.id.0.to_le_bytes())
        .update(&principal.key.map_or(0, |key| key.0).to_le_bytes())
        .update(&[u8::from(principal.person)])
        .update(payload);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;
    use toolroom_contract::ids::{KeyId, UserId};
    use toolroom_contract::{Grants, User};

    use super::*;

    fn principal(user: i64, key: Option<i64>, person: bool) -> Principal {
        Principal {
            user: User { id: UserId(user), key: "ada".into() },
            grants: Grants::all(),
            profiles: None,
            person,
            key: key.map(KeyId),
            time_zone: None,
            revoked: CancellationToken::new(),
        }
    }

    #[tokio::test]
    async fn promise_an_id_opens_for_its_caller_alone_and_for_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("toolroom.db").display());
        let store = Store::open(&url.parse().unwrap()).unwrap();
        let (ids, now) = (SealedIds::default(), Timestamp::now());
        let client = Client {
            revision: Revision::V2025_06_18,
            info: Some(Implementation { name: "desk".into(), version: "1".into() }),
            capabilities: Capabilities(Arc::new(Map::from_iter([("roots".to_owned(), Value::Null)]))),
            log_level: None,
        };
        let shown = Some(blake3::hash(b"a list"));
        let met = Introduced { client: client.clone(), shown };
        let content = Content::new("plain".into(), Transport::Http, RunId::new(), Some(&met), now);
        let ada = principal(1, Some(2), false);
        let id = ids.seal(&store, &ada, &content).await.unwrap().unwrap();
        let opens = async |ids: &SealedIds, principal: Principal, later: Duration| {
            ids.open(&store, &principal, &id, now + later).await.unwrap()
        };
        // Another server has read the key for itself.
        let opened = opens(&SealedIds::default(), ada.clone(), LIFE - Duration::from_secs(2)).await.unwrap();
        let Introduced { client: known, shown: seen } = opened.introduced().unwrap();
        assert_eq!(seen, shown);
        assert_eq!((&*opened.profile, opened.name, known.revision), ("plain", content.name, client.revision));
        assert_eq!((known.info, known.capabilities), (client.info, client.capabilities));
        assert!(opens(&ids, ada, LIFE).await.is_none(), "too old");
        for other in [principal(2, Some(2), false), principal(1, Some(3), false), principal(1, None, false)] {
            assert!(opens(&ids, other, Duration::ZERO).await.is_none(), "another's");
        }
        assert!(opens(&ids, principal(1, Some(2), true), Duration::ZERO).await.is_none(), "a person's");
    }

    #[tokio::test]
    async fn a_client_that_says_more_than_a_header_holds_gets_no_id() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("toolroom.db").display());
        let store = Store::open(&url.parse().unwrap()).unwrap();
        let capabilities = |length: usize| {
            let text = Value::String("x".repeat(length));
            Client {
                revision: Revision::V2025_06_18,
                info: None,
                capabilities: Capabilities(Arc::new(Map::from_iter([("experimental".to_owned(), text)]))),
                log_level: None,
            }
        };
        for (length, fits) in [(2_048, true), (4_096, false)] {
            let met = Introduced { client: capabilities(length), shown: None };
            let content =
                Content::new("default".into(), Transport::Http, RunId::new(), Some(&met), Timestamp::now());
            let sealed =
                SealedIds::default().seal(&store, &principal(1, None, false), &content).await.unwrap();
            assert_eq!(sealed.is_some(), fits, "{length}");
        }
    }
}
