//! What becomes of the operations of a document.

use serde_json::{Value, json};
use toolroom_contract::check::{self, Stage};
use toolroom_contract::definition::Category;
use toolroom_contract::entry::ToolEntry;
use toolroom_contract::validator::Validator;
use toolroom_openapi::{DocumentError, Imported, OwnAuth, Wish, read};

const PETS: &str = include_str!("../../../../tests/openapi/pets.json");
const SHOP: &str = include_str!("../../../../tests/openapi/shop.json");

fn import(text: &str, wish: &Wish) -> Imported {
    read(&serde_json::from_str(text).unwrap(), text.len(), wish).unwrap()
}

fn shop() -> Imported {
    import(SHOP, &Wish { origin: Some("http://shop.example.com".to_owned()), ..Wish::default() })
}

fn tool<'a>(imported: &'a Imported, name: &str) -> &'a ToolEntry {
    imported.tools.iter().find(|tool| tool.name == name).unwrap_or_else(|| panic!("no {name}: {imported:?}"))
}

fn accepts(tool: &ToolEntry, value: Value) -> bool {
    Validator::compile(tool.parameters.as_ref().unwrap()).unwrap().accepts(&value)
}

#[test]
fn promise_every_operation_is_a_tool_whose_contract_passes_the_checklist() {
    let (pets, shop) = (import(PETS, &Wish::default()), shop());
    let names = |imported: &Imported| imported.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    assert_eq!(
        names(&pets),
        [
            "list-pets",
            "create-pet",
            "get-pet",
            "replace-pet",
            "delete-pet",
            "get-photo",
            "add-photo",
            "orders-place"
        ]
    );
    assert_eq!(names(&shop), ["items-search", "patch-items-id-price", "is-open"]);
    for tool in pets.tools.iter().chain(&shop.tools) {
        let definition = tool.definition();
        assert!(definition.derived.is_empty(), "{}: {:?}", tool.name, definition.derived);
        let findings = check::check(&definition, Stage::Loaded);
        assert!(check::passes(&findings), "{}: {findings:?}", tool.name);
    }
}

#[test]
fn promise_a_reference_to_another_file_leaves_out_one_tool_with_a_reason() {
    let pets = import(PETS, &Wish::default());
    let [left_out] = &pets.refused[..] else { panic!("{:?}", pets.refused) };
    assert_eq!(left_out.operation, "GET /elsewhere");
    assert!(left_out.reason.contains("other.json") && left_out.reason.contains("bundle"), "{left_out:?}");
}

#[test]
fn promise_category_and_flags_follow_from_the_method() {
    let pets = import(PETS, &Wish::default());
    let flags = |name: &str| {
        let tool = tool(&pets, name).definition();
        (tool.category, tool.idempotent, tool.destructive, tool.permissions[0].to_string())
    };
    assert_eq!(flags("list-pets"), (Category::Query, true, false, "pet-shop:read".to_owned()));
    assert_eq!(flags("create-pet"), (Category::Mutation, false, false, "pet-shop:write".to_owned()));
    assert_eq!(flags("replace-pet"), (Category::Mutation, true, false, "pet-shop:write".to_owned()));
    assert_eq!(flags("delete-pet"), (Category::Mutation, true, true, "pet-shop:write".to_owned()));
}

#[test]
fn promise_parameters_and_body_are_one_flat_object_that_the_document_would_accept() {
    let pets = import(PETS, &Wish::default());
    let list = tool(&pets, "list-pets");
    assert!(
        accepts(list, json!({})) && accepts(list, json!({ "limit": 100, "status": null, "filter_age_": 1 }))
    );
    for bad in [
        json!({ "limit": 101 }),
        json!({ "status": "gone" }),
        json!({ "filter_age_": 0 }),
        json!({ "more": 1 }),
    ] {
        assert!(!accepts(list, bad.clone()), "{bad}");
    }
    let field = |tool: &ToolEntry, name: &str| {
        serde_json::to_value(&tool.config.request.as_ref().unwrap().fields[name]).unwrap()
    };
    assert_eq!(field(list, "filter_age_"), json!({ "in": "query", "name": "filter[age]" }));
    assert_eq!(field(list, "fields"), json!({ "in": "query", "explode": false }));
    // What is read only is not sent; a name in path and body is two parameters; a weight may be null.
    let replace = tool(&pets, "replace-pet");
    let good = json!({ "petId": 7, "body_petId": "7", "name": "Rex", "weight": null, "owner": { "pets": [{ "name": "Tom" }] } });
    assert!(accepts(replace, good));
    assert!(
        !accepts(replace, json!({ "petId": 7 }))
            && !accepts(replace, json!({ "petId": 7, "name": "R", "id": 1 }))
    );
    assert_eq!(field(replace, "body_petId"), json!({ "in": "body", "name": "petId" }));
    assert_eq!(replace.parameters.as_ref().unwrap()["properties"]["pin"]["writeOnly"], true);
    // What the engine cannot check is left to the service.
    assert!(accepts(tool(&pets, "orders-place"), json!({ "item": "x" })));
    let photo = tool(&pets, "add-photo");
    assert_eq!(field(photo, "photo"), json!({ "in": "body", "style": "base64" }));
    // A body that may be left out is left out whole, or has what it needs.
    let mut optional: Value = serde_json::from_str(PETS).unwrap();
    optional["paths"]["/orders"]["post"]["requestBody"]["required"] = false.into();
    let optional = read(&optional, PETS.len(), &Wish::default()).unwrap();
    let place = tool(&optional, "orders-place");
    assert!(
        accepts(place, json!({}))
            && accepts(place, json!({ "item": "a" }))
            && !accepts(place, json!({ "count": 1 }))
    );
    let shop = shop();
    let price = tool(&shop, "patch-items-id-price");
    assert!(accepts(price, json!({ "id": "a", "body": { "euro": 1.5 } })));
    assert!(
        !accepts(price, json!({ "id": "a", "body": { "euro": 0 } }))
            && !accepts(price, json!({ "body": {} }))
    );
}

#[test]
fn promise_answers_promise_types_and_nothing_that_services_stray_from() {
    let pets = import(PETS, &Wish::default());
    let output = Validator::compile(tool(&pets, "list-pets").output.as_ref().unwrap()).unwrap();
    for good in [json!({}), json!({ "pets": [{ "name": null, "more": 1, "parent": { "sold": true } }] })] {
        assert!(output.accepts(&good), "{good}");
    }
    assert!(
        !output.accepts(&json!({ "pets": 1 })) && !output.accepts(&json!({ "pets": [{ "sold": "no" }] }))
    );
    assert!(
        tool(&pets, "list-pets").output.as_ref().unwrap().to_string().find("pin").is_none(),
        "write only"
    );
    assert!(tool(&pets, "get-photo").output.is_none());
}

#[test]
fn promise_security_schemes_become_secrets_with_their_alternatives_in_order() {
    let pets = import(PETS, &Wish { name: Some("pets".to_owned()), ..Wish::default() });
    let auth = |imported: &Imported, name: &str| {
        serde_json::to_value(&tool(imported, name).config.request.as_ref().unwrap().auth).unwrap()
    };
    let key = json!({ "type": "api_key", "in": "header", "name": "X-Shop-Key", "secret": "PETS_SHOP_KEY" });
    assert_eq!(auth(&pets, "get-pet"), json!([[key], [{ "type": "basic", "secret": "PETS_LOGIN" }]]));
    assert_eq!(auth(&pets, "get-photo"), json!([]));
    let names: Vec<&str> = pets.secrets.iter().map(|secret| secret.name.as_str()).collect();
    assert_eq!(names, ["PETS_LOGIN", "PETS_SHOP_KEY"]);
    let shop = shop();
    assert_eq!(auth(&shop, "is-open"), json!([[]]));
    // A document that says nothing is told by whoever imports it.
    let silent = json!({ "openapi": "3.1.0", "paths": { "/a": { "get": {} } } });
    let wish = Wish {
        server: Some("https://a.example.com".into()),
        auth: OwnAuth::parse("header:X-K"),
        ..Wish::default()
    };
    let silent = read(&silent, 10, &wish).unwrap();
    assert_eq!(auth(&silent, "get-a")[0][0]["name"], "X-K");
}

#[test]
fn promise_only_takes_tags_paths_ids_and_names() {
    let only = |pattern: &str| {
        let wish = Wish { only: vec![pattern.to_owned()], ..Wish::default() };
        import(PETS, &wish).tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(only("photos"), ["get-photo", "add-photo"]);
    assert_eq!(only("/orders"), ["orders-place"]);
    assert_eq!(only("/pets/{petId}/photo"), ["get-photo", "add-photo"]);
    assert_eq!(only("listPets"), ["list-pets"]);
    assert_eq!(only("delete-pet"), ["delete-pet"]);
    let wish = Wish { only: vec!["cars".to_owned()], ..Wish::default() };
    let error = read(&serde_json::from_str(PETS).unwrap(), 1, &wish).unwrap_err();
    assert!(matches!(&error, DocumentError::NoMatch { tags, .. } if tags.len() == 3), "{error:?}");
}

#[test]
fn promise_other_documents_are_refused_by_name() {
    let refused = |document: Value| read(&document, 100, &Wish::default()).unwrap_err().to_string();
    assert!(refused(json!({ "swagger": "2.0", "paths": {} })).contains("Swagger 2.0"));
    assert!(refused(json!({ "openapi": "4.0.0" })).contains("OpenAPI 4.0.0"));
    assert!(refused(json!({ "info": {} })).contains("not an OpenAPI document"));
    assert!(refused(json!({ "openapi": "3.1.0" })).contains("no operations"));
}
