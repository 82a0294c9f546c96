//! Sessions on both engines: found by both secrets alone, ended with their key, removed when they are long over.

use jiff::{SignedDuration, Timestamp};
use toolroom_store::sessions::{self, Begun, NewSession};
use toolroom_store::{Store, keys};

use crate::support::{on_both, read, user, write};

async fn begin(store: &Store, now: Timestamp, new: NewSession) -> Begun {
    write(store, move |unit| sessions::begin(unit, now, &new)).await
}

async fn is_found(store: &Store, now: Timestamp, cookie: &str, proof: &str) -> bool {
    let (cookie, proof) = (cookie.to_owned(), proof.to_owned());
    read(store, move |unit| sessions::find(unit, now, &cookie, &proof)).await.is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_found_by_both_of_its_secrets_and_ends_with_its_key() {
    on_both(|store| async move {
        let (anna, now) = (user(&store, "anna").await, Timestamp::now());
        let new = keys::NewKey {
            user: anna.id,
            grants: Vec::new(),
            profiles: None,
            person: true,
            note: None,
            expires_at: None,
        };
        let (key, _) = write(&store, move |unit| keys::create(unit, &new)).await;
        let new =
            NewSession { user: anna.id, key: Some(key.id), agent: String::new(), address: "::1".to_owned() };
        let Begun { session, halves, .. } = begin(&store, now, new.clone()).await;
        let (cookie, proof) = (halves.cookie.reveal(), halves.proof.reveal());
        assert!(is_found(&store, now, cookie, proof).await);
        for (cookie, proof) in [(proof, cookie), (cookie, ""), ("", proof), (cookie, cookie)] {
            assert!(!is_found(&store, now, cookie, proof).await);
        }
        let listed = read(&store, move |unit| sessions::list(unit, now, None)).await;
        assert_eq!((listed[0].0.id, listed[0].1.as_str()), (session.id, "anna"));
        let nobody = user(&store, "nobody").await.id;
        assert_eq!(read(&store, move |unit| sessions::list(unit, now, Some(nobody))).await, []);

        let ended =
            move |unit: &mut toolroom_store::Unit<'_>| sessions::ended_among(unit, now, &[session.id]);
        assert_eq!(read(&store, ended).await, []);
        write(&store, move |unit| keys::revoke(unit, key.id)).await;
        assert_eq!(read(&store, ended).await, [session.id]);
        assert!(!is_found(&store, now, cookie, proof).await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_were_over_long_ago_are_removed() {
    on_both(|store| async move {
        let (anna, now) = (user(&store, "anna").await, Timestamp::now());
        let new = NewSession { user: anna.id, key: None, agent: String::new(), address: String::new() };
        let first = begin(&store, now, new.clone()).await.session.id;
        begin(&store, now + SignedDuration::from_hours(1), new).await;
        write(&store, move |unit| sessions::end(unit, now, first)).await;
        let over = now + SignedDuration::from_secs(1);
        assert_eq!(write(&store, move |unit| sessions::purge(unit, over)).await, 1);
        assert_eq!(write(&store, move |unit| sessions::purge(unit, over + sessions::LIFETIME)).await, 0);
        let later = now + SignedDuration::from_hours(2) + sessions::LIFETIME;
        assert_eq!(write(&store, move |unit| sessions::purge(unit, later)).await, 1);
    })
    .await;
}
