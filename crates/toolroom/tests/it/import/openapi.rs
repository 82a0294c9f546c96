//! From a document to tools: what is shown, asked, kept and refused.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::mock_api::MockApi;
use crate::test_home::{Done, TestHome};

pub const PETS: &str = include_str!("../../../../../tests/openapi/pets.json");
pub const SHOP: &str = include_str!("../../../../../tests/openapi/shop.json");

pub fn pets() -> Value {
    serde_json::from_str(PETS).unwrap()
}

impl TestHome {
    /// Writes a document, and imports it with these arguments.
    pub fn import(&self, document: &Value, arguments: &[&str]) -> Done {
        let file = self.path("api.json");
        std::fs::write(&file, document.to_string()).unwrap();
        self.run(&[&["import", "openapi", file.to_str().unwrap()], arguments].concat())
    }

    pub fn secret(&self, name: &str, value: &str) {
        let mut child = self
            .command(&["secrets", "set", name])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(value.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn promise_an_import_shows_its_plan_and_changes_nothing_without_a_yes() {
    let home = TestHome::new();
    let planned = home.import(&pets(), &["--plan"]);
    assert_eq!(planned.code, 0, "{planned:?}");
    for words in [
        "list-pets",
        "GET /pets",
        "8 new; about",
        "left out",
        "other.json",
        "gets a secret: https://pets.example.com (PET_SHOP_LOGIN, PET_SHOP_SHOP_KEY)",
    ] {
        assert!(planned.out.contains(words), "no {words:?}: {}", planned.out);
    }
    // Nobody can be asked here.
    let refused = home.import(&pets(), &[]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("no terminal") && refused.err.contains("--yes"), "{refused:?}");
    assert!(home.run(&["tools", "show", "list-pets"]).code != 0);
    let imported = home.import(&pets(), &["--yes"]);
    assert_eq!(imported.code, 0, "{imported:?}");
    assert!(imported.out.contains("toolroom secrets set PET_SHOP_SHOP_KEY"), "{imported:?}");
    let listed = home.json(&["tools", "list", "--tag", "pet-shop"]);
    assert_eq!(listed["tools"].as_array().unwrap().len(), 8);
    let checked = home.json(&["check"]);
    assert_eq!(checked["passes"], true);
    assert_eq!(home.run(&["doctor"]).out.matches("FAIL").count(), 0);
    // Tools of an API are tools like all others.
    assert_eq!(home.run(&["tools", "remove", "get-photo"]).code, 0);
    assert!(home.run(&["tools", "show", "get-photo"]).code != 0);
}

#[test]
fn promise_importing_again_shows_what_changes_and_keeps_names_versions_and_what_a_person_set() {
    let home = TestHome::new();
    assert_eq!(home.import(&pets(), &["--yes"]).code, 0);
    let again = home.import(&pets(), &["--plan"]);
    assert!(again.out.contains("pet-shop: 8 unchanged;"), "{again:?}");
    // A person publishes one tool, and says of another that it only reads.
    assert_eq!(home.run(&["tools", "publish", "get-pet"]).code, 0);
    let file = home.home().join("tools/tools.json");
    let mut entries: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let all = entries["tools"].as_array_mut().unwrap();
    let place = all.iter_mut().find(|entry| entry["name"] == "orders-place").unwrap();
    place["category"] = "query".into();
    place["config"]["request"]["keep"] = json!(["category"]);
    std::fs::write(&file, entries.to_string()).unwrap();
    // The service renames an operation, drops one, and asks for more in two.
    let mut changed = pets();
    changed["paths"]["/pets"]["get"]["operationId"] = "searchPets".into();
    changed["paths"]["/orders"]["post"]["summary"] = "Orders something".into();
    changed["paths"]["/pets/{petId}"].as_object_mut().unwrap().remove("delete");
    for path in ["/pets", "/pets/{petId}"] {
        let parameters =
            json!([{ "name": "shop", "in": "query", "required": true, "schema": { "type": "string" } }]);
        changed["paths"][path]["get"]["parameters"] = parameters;
    }
    let planned = home.import(&changed, &["--plan"]);
    for words in [
        "list-pets",
        "breaking /parameters",
        "delete-pet",
        "removed",
        "refused",
        "This would break callers of 'get-pet'",
    ] {
        assert!(planned.out.contains(words), "no {words:?}: {}", planned.out);
    }
    assert!(!planned.out.contains("search-pets"), "{}", planned.out);
    assert_eq!(home.import(&changed, &["--yes"]).code, 0);
    let tool = |name: &str| home.json(&["tools", "show", name]);
    assert_eq!(tool("list-pets")["parameters"]["required"], json!(["shop"]));
    assert_eq!(tool("get-pet")["version"], "1.0.0");
    assert_eq!(
        tool("get-pet")["parameters"]["required"],
        json!(["petId"]),
        "the published one stays as it is"
    );
    assert_eq!(tool("orders-place")["category"], "query");
    assert!(tool("orders-place")["description"].as_str().unwrap().starts_with("Orders something."));
    assert!(home.run(&["tools", "show", "delete-pet"]).code != 0);
}

#[test]
fn promise_a_name_that_is_taken_gets_that_of_the_api_in_front_and_keeps_it() {
    let home = TestHome::new();
    let mut document = pets();
    document["paths"]["/pets"]["get"]["operationId"] = "createTask".into();
    document["paths"]["/pets"]["post"]["operationId"] = "execute-code".into();
    let imported = home.import(&document, &["--yes"]);
    assert_eq!(imported.code, 0, "{imported:?}");
    assert!(imported.out.contains("8 new"), "{imported:?}");
    for name in ["create-task", "execute-code"] {
        assert!(imported.out.contains(&format!("-{name}")), "{imported:?}");
    }
    let again = home.import(&document, &["--yes"]);
    assert!(again.out.contains("8 unchanged") || again.out.contains("nothing to import"), "{again:?}");
}

#[test]
fn promise_documents_that_cannot_be_imported_are_refused_with_the_way_out() {
    let home = TestHome::new();
    let refused = |text: &str, arguments: &[&str], words: &[&str]| {
        let file = home.path("other");
        std::fs::write(&file, text).unwrap();
        let done = home.run(&[&["import", "openapi", file.to_str().unwrap(), "--yes"], arguments].concat());
        assert_eq!(done.code, 1, "{text}: {done:?}");
        for word in words {
            assert!(done.err.contains(word), "no {word:?}: {}", done.err);
        }
    };
    refused(r#"{"swagger": "2.0"}"#, &[], &["Swagger 2.0", "swagger2openapi"]);
    refused("openapi: 3.0.0\npaths: {}\n", &[], &["is YAML", "js-yaml", "yq", "python3"]);
    refused("<html>", &[], &["not JSON"]);
    refused(PETS, &["--only", "cars"], &["cars", "The tags are: orders, pets, photos"]);
    refused(PETS, &["--name", "a b"], &["cannot be the name"]);
    // A server without its host needs one.
    let done = home.import(&serde_json::from_str(SHOP).unwrap(), &["--plan"]);
    assert!(done.out.contains("give it with --server"), "{done:?}");
    let mut large = pets();
    for at in 0..70 {
        large["paths"][format!("/more{at}")] = json!({ "get": { "tags": ["more"], "responses": {} } });
    }
    refused(&large.to_string(), &[], &["79 operations", "--only", "more (70)", "--all"]);
    let some = home.import(&large, &["--only", "/pets", "--yes"]);
    assert!(some.out.contains("7 new"), "{some:?}");
    // What was chosen once is brought up to date without choosing again.
    large["paths"]["/pets"]["get"]["summary"] = "Finds pets".into();
    let again = home.import(&large, &["--yes"]);
    assert!(again.out.contains("1 changed, 6 unchanged"), "{again:?}");
    let all = home.import(&large, &["--all", "--yes"]);
    assert!(all.out.contains("71 new, 7 unchanged"), "{all:?}");
}

#[test]
fn promise_a_document_at_an_address_is_fetched_and_its_service_reached_there() {
    let home = TestHome::new();
    let mut document = pets();
    document["servers"] = json!([{ "url": "/" }]);
    let service = MockApi::start(document);
    let done = home.run(&["import", "openapi", &service.url("/document.json"), "--only", "photos", "--yes"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(home.calls("get-photo", json!({ "petId": 3 }))["data"]["contentType"], "image/png");
    // Somebody else's document cannot lead calls to this machine.
    let mut elsewhere = pets();
    elsewhere["servers"] = json!([{ "url": service.url("") }]);
    let planned = home.import(&elsewhere, &["--name", "other", "--only", "orders", "--yes"]);
    assert!(planned.out.contains("--allow-private"), "{planned:?}");
    home.secret("OTHER_SHOP_KEY", "key-of-the-shop");
    let before = service.count();
    let refused = home.calls("orders-place", json!({ "item": "tea" }));
    assert_eq!(refused["error"]["code"], "not_configured", "{refused}");
    assert_eq!(service.count(), before);
}
