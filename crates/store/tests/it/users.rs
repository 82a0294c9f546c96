//! Users: made once, found by either name, refused when the name is no name.

use toolroom_contract::ids::UserId;
use toolroom_store::{StoreError, users};

use crate::support::{on_both, read, user, write};

#[tokio::test(flavor = "multi_thread")]
async fn a_user_is_found_by_key_and_by_id() {
    on_both(|store| async move {
        let anna = user(&store, "anna").await;
        assert_eq!(anna.id, UserId(1), "ids start at 1");
        let id = anna.id;
        assert_eq!(read(&store, |unit| users::find(unit, "anna")).await.as_ref(), Some(&anna));
        assert_eq!(read(&store, move |unit| users::by_id(unit, id)).await.as_ref(), Some(&anna));
        assert_eq!(user(&store, "anna").await, anna);
        assert_eq!(read(&store, |unit| users::find(unit, "Anna")).await, None, "names are case-sensitive");
        assert_eq!(read(&store, |unit| users::by_id(unit, UserId(99))).await, None);
        user(&store, "bo").await;
        let names: Vec<_> = read(&store, users::list).await.into_iter().map(|user| user.key).collect();
        assert_eq!(names, ["anna", "bo"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ensure_from_many_callers_makes_one_user() {
    on_both(|store| async move {
        let callers: Vec<_> = (0..50)
            .map(|_| {
                let store = store.clone();
                tokio::spawn(async move { store.write(|unit| users::ensure(unit, "same")).await })
            })
            .collect();
        let mut answered = Vec::new();
        for caller in callers {
            answered.push(caller.await.unwrap().unwrap());
        }
        // Not always the first id: on PostgreSQL a caller that loses has drawn one too, and may have drawn it before the winner.
        let made = read(&store, users::list).await;
        assert_eq!(made.len(), 1);
        assert!(answered.iter().all(|user| *user == made[0]), "{made:?}, but {answered:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_zone_is_set_cleared_and_checked() {
    on_both(|store| async move {
        let id = user(&store, "anna").await.id;
        assert!(write(&store, move |unit| users::set_time_zone(unit, id, Some("Europe/Berlin"))).await);
        assert_eq!(user(&store, "anna").await.time_zone.as_deref(), Some("Europe/Berlin"));
        let wrong = store.write(move |unit| users::set_time_zone(unit, id, Some("Moon/Base"))).await;
        assert!(matches!(wrong, Err(StoreError::InvalidTimeZone)));
        assert!(write(&store, move |unit| users::set_time_zone(unit, id, None)).await);
        assert_eq!(user(&store, "anna").await.time_zone, None);
        assert!(!write(&store, |unit| users::set_time_zone(unit, UserId(99), None)).await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_are_no_names_are_refused() {
    on_both(|store| async move {
        for bad in ["", "a\nb", "a\0b", "\u{7f}", &"x".repeat(129)] {
            let name = bad.to_owned();
            let made = store.write(move |unit| users::ensure(unit, &name)).await;
            assert!(matches!(made, Err(StoreError::InvalidUserKey)), "{bad:?}");
            let name = bad.to_owned();
            assert_eq!(read(&store, move |unit| users::find(unit, &name)).await, None);
        }
        let longest = "é".repeat(128);
        let name = longest.clone();
        assert_eq!(write(&store, move |unit| users::ensure(unit, &name)).await.key, longest);
    })
    .await;
}
