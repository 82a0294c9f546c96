//! Permissions and grants: who may call what.

use proptest::prelude::*;
use serde_json::json;
use toolroom_contract::{Grant, Grants, Permission};

fn permission(text: &str) -> Permission {
    text.parse().unwrap()
}

fn grants(list: &[&str]) -> Grants {
    list.iter().map(|text| text.parse::<Grant>().unwrap()).collect()
}

#[test]
fn a_grant_covers_what_it_names() {
    for (grant, wanted, covered) in [
        ("tasks:read", "tasks:read", true),
        ("tasks:read", "tasks:write", false),
        ("tasks:read", "cards:read", false),
        ("tasks:*", "tasks:write", true),
        ("tasks:*", "cards:write", false),
        ("tasks:*", "tasks2:write", false),
        ("*:read", "cards:read", true),
        ("*:read", "cards:write", false),
        ("*", "registry:write", true),
        ("*:*", "registry:write", true),
    ] {
        assert_eq!(grants(&[grant]).cover(&permission(wanted)), covered, "{grant} on {wanted}");
    }
}

#[test]
fn every_permission_of_a_tool_must_be_covered() {
    let held = grants(&["tasks:*", "cards:read"]);
    assert!(held.cover_all(&[permission("tasks:write"), permission("cards:read")]));
    assert!(!held.cover_all(&[permission("tasks:write"), permission("cards:write")]));
    assert!(Grants::none().cover_all(&[]), "a tool that requires nothing is open");
    assert!(!Grants::none().cover(&permission("tasks:read")));
    assert!(Grants::all().hold("registry", "write"));
    assert!(!held.hold("registry", "write"));
    assert!(!Grants::all().hold("no good", "write"), "a name that is no permission is never held");
}

#[test]
fn a_plain_key_gets_tasks_cards_search_and_questions() {
    let plain = Grants::of_a_plain_key();
    assert_eq!(json!(plain), json!(["tasks:*", "cards:*", "web:search", "humans:ask"]));
    for outside in ["code:execute", "registry:write", "servers:write", "approvals:decide", "users:act-as"] {
        assert!(!plain.cover(&permission(outside)), "{outside}");
    }
}

#[test]
fn without_a_key_added_tools_may_be_used_and_neither_code_nor_administration() {
    let local = Grants::without_a_key();
    assert!(local.hold("added-tools", "use") && local.hold("tasks", "write"));
    for outside in ["code:execute", "registry:write", "servers:write", "approvals:decide", "users:act-as"] {
        assert!(!local.cover(&permission(outside)), "{outside}");
    }
}

#[test]
fn what_is_not_of_the_form_is_refused() {
    for text in ["", "tasks", ":", "tasks:", ":read", "tasks:read:more", "ta sks:read", "tasks:réad", "a/b:c"]
    {
        assert!(text.parse::<Permission>().is_err(), "{text:?}");
        assert!(text.parse::<Grant>().is_err(), "{text:?}");
        let error = serde_json::from_value::<Permission>(json!(text)).unwrap_err().to_string();
        assert!(error.contains("resource:action"), "{error}");
    }
    for text in ["*", "tasks:*", "*:read", "*:*"] {
        assert!(text.parse::<Permission>().is_err(), "a tool names what it requires: {text}");
    }
    assert!("**".parse::<Grant>().is_err() && "task*:read".parse::<Grant>().is_err());
}

#[test]
fn both_are_written_as_they_are_read() {
    for text in ["*", "tasks:*", "*:read", "*:*", "users:act-as", "a.b_c-d:e"] {
        let grant: Grant = serde_json::from_value(json!(text)).unwrap();
        assert_eq!((grant.to_string().as_str(), json!(grant)), (text, json!(text)));
    }
    let wanted = permission("users:act-as");
    assert_eq!((wanted.resource(), wanted.action(), wanted.as_str()), ("users", "act-as", "users:act-as"));
}

const NAME: &str = "[A-Za-z0-9._-]{1,12}";

proptest! {
    #[test]
    fn the_star_covers_everything(resource in NAME, action in NAME) {
        let wanted = Permission::new(&resource, &action).unwrap();
        prop_assert!(Grants::all().cover(&wanted));
        prop_assert!(!Grants::none().cover(&wanted));
    }

    #[test]
    fn a_grant_on_a_resource_never_covers_another(mine in NAME, other in NAME, held in NAME, wanted in NAME) {
        prop_assume!(mine != other);
        let wanted = Permission::new(&other, &wanted).unwrap();
        for grant in [format!("{mine}:{held}"), format!("{mine}:*")] {
            prop_assert!(!grant.parse::<Grant>().unwrap().covers(&wanted));
        }
    }

    #[test]
    fn a_grant_on_an_action_never_covers_another(resource in NAME, mine in NAME, other in NAME) {
        prop_assume!(mine != other);
        let wanted = Permission::new(&resource, &other).unwrap();
        for grant in [format!("{resource}:{mine}"), format!("*:{mine}")] {
            prop_assert!(!grant.parse::<Grant>().unwrap().covers(&wanted));
        }
    }

    #[test]
    fn reading_never_panics(text in ".{0,40}") {
        if let Ok(wanted) = text.parse::<Permission>() {
            prop_assert_eq!(format!("{}:{}", wanted.resource(), wanted.action()), text.clone());
        }
        if let Ok(grant) = text.parse::<Grant>() {
            prop_assert_eq!(grant.to_string(), text);
        }
    }
}
