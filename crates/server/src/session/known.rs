//! From a session's two halves to a principal, as with keys: looked up, believed for a moment, ended at once.

use std::sync::Arc;

use http::HeaderMap;
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use tokio_util::sync::CancellationToken;
use toolroom_contract::ids::KeyId;
use toolroom_contract::{Grants, Principal, User};
use toolroom_store::StoreError;
use toolroom_store::keys::OwnedKey;
use toolroom_store::sessions::{self, OwnedSession};

use super::same_origin;
use crate::auth::{Auth, Known, principal_of, unauthenticated};
use crate::middleware::Problem;
use crate::problems::of_error;
use crate::revocation::Credential;

/// The last use is written down this often.
const NOTED: SignedDuration = SignedDuration::from_mins(1);

impl Auth {
    /// The session of exactly these halves, if the request comes from our own page.
    pub(crate) async fn by_session(
        &self,
        headers: &HeaderMap,
        cookie: &str,
        proof: &str,
    ) -> Result<Known, Problem> {
        same_origin::check(headers)?;
        // No header can hold a line's end, and so no key looks like this.
        let shown = format!("{cookie}\n{proof}");
        let now = self.runtime.clock.now();
        if let Some(known) = self.recent.get(&shown)
            && !known.principal.revoked.is_cancelled()
            && known.session.as_ref().is_some_and(|session| {
                session.expires_at > now && now.duration_since(session.seen_at) < NOTED
            })
        {
            return Ok(known);
        }
        loop {
            let (cookie, proof, epoch) = (cookie.to_owned(), proof.to_owned(), self.revocations.epoch());
            let found = self.runtime.store.read(move |unit| sessions::find(unit, now, &cookie, &proof)).await;
            let mut found = found.map_err(|error: StoreError| of_error(&error.into()))?.ok_or_else(|| {
                unauthenticated("The session has ended. Log in again: 'toolroom console' prints a link.")
            })?;
            let id = found.session.id;
            if now.duration_since(found.session.seen_at) >= NOTED {
                let noted = self.runtime.store.write(move |unit| sessions::touch(unit, now, id)).await;
                match noted {
                    Ok(()) => found.session.seen_at = now,
                    Err::<(), StoreError>(error) => {
                        tracing::warn!(%error, "that a session was used cannot be noted");
                    }
                }
            }
            let credential = Credential::Session(id);
            let known = known(found, |key| self.revocations.token(credential, key));
            self.recent.insert(shown.clone(), known.clone());
            self.in_use(credential, &known);
            // A session that was ended while it was looked up is looked up again.
            if self.revocations.epoch() == epoch {
                return Ok(known);
            }
            self.recent.invalidate(&shown);
        }
    }
}

fn known(found: OwnedSession, token: impl FnOnce(Option<KeyId>) -> CancellationToken) -> Known {
    let OwnedSession { session, user, key } = found;
    let revoked = token(session.key);
    let principal = match key {
        Some(key) => principal_of(OwnedKey { key, user }, revoked),
        None => Principal {
            user: User { id: user.id, key: user.key.into() },
            grants: Grants::all(),
            profiles: None,
            person: true,
            key: None,
            time_zone: user.time_zone.and_then(|name| TimeZone::get(&name).ok()),
            revoked,
        },
    };
    Known { principal: Arc::new(principal), session: Some(Arc::new(session)) }
}
