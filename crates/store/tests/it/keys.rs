//! Keys: the secret is shown once and kept nowhere; revocation is immediate and leaves a trace.

use toolroom_contract::ids::{KeyId, UserId};
use toolroom_store::{StoreError, keys};

use crate::support::{Database, on_both, read, user, write};

fn new_key(user: UserId) -> keys::NewKey {
    keys::NewKey {
        user,
        grants: vec!["tasks:*".to_owned(), "web:search".to_owned()],
        profiles: Some(vec!["assistant".to_owned()]),
        person: true,
        note: None,
        expires_at: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_found_by_its_secret_until_it_is_revoked() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await;
        assert!(!read(&store, keys::any_ever_made).await);
        let new = new_key(anna.id);
        let (key, secret) = write(&store, move |unit| keys::create(unit, &new)).await;
        let text = secret.reveal().to_owned();
        assert_eq!((text.len(), &text[..3], key.prefix.as_str()), (46, "tr_", &text[..8]));
        assert_eq!(format!("{secret:?}"), "[secret]");

        let presented = text.clone();
        let found = read(&store, move |unit| keys::find_by_secret(unit, &presented)).await.unwrap();
        assert_eq!((&found.key, &found.user), (&key, &anna));
        assert_eq!(found.key.grants, ["tasks:*", "web:search"]);
        for wrong in ["", "tr_", "tr_\0", &text[..45], &format!("{text}A")] {
            let presented = wrong.to_owned();
            assert_eq!(read(&store, move |unit| keys::find_by_secret(unit, &presented)).await, None);
        }

        assert!(write(&store, move |unit| keys::revoke(unit, key.id)).await);
        assert!(!write(&store, move |unit| keys::revoke(unit, key.id)).await, "once is enough");
        assert!(!write(&store, move |unit| keys::revoke(unit, KeyId(99))).await);
        assert_eq!(read(&store, move |unit| keys::find_by_secret(unit, &text)).await, None);
        assert!(read(&store, keys::any_ever_made).await, "open access does not come back");
        let listed = read(&store, keys::list).await;
        assert_eq!(listed.len(), 1);
        assert!(listed[0].key.revoked_at.is_some());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_without_profiles_is_not_one_confined_to_none() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await.id;
        for profiles in [None, Some(Vec::new())] {
            let new = keys::NewKey { profiles: profiles.clone(), person: false, ..new_key(anna) };
            write(&store, move |unit| keys::create(unit, &new)).await;
            let listed = read(&store, keys::list).await;
            assert_eq!(listed.last().unwrap().key.profiles, profiles);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_needs_a_user_that_exists() {
    on_both(|store| async move {
        let made = store.write(|unit| keys::create(unit, &new_key(UserId(7)))).await;
        assert!(matches!(made, Err(StoreError::Constraint { .. })), "{made:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_secret_is_in_no_file_of_the_database() {
    let database = Database::sqlite();
    let store = database.open();
    let anna = user(&store, "anna").await.id;
    let (_, secret) = write(&store, move |unit| keys::create(unit, &new_key(anna))).await;
    let folder = database.url.sqlite_path().unwrap().parent().unwrap().to_owned();
    let mut seen = 0;
    for open in [Some(store), None] {
        for file in std::fs::read_dir(&folder).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            seen += bytes.len();
            let needle = &secret.reveal().as_bytes()[8..];
            assert!(!bytes.windows(needle.len()).any(|window| window == needle));
        }
        drop(open);
    }
    assert!(seen > 0);
}
