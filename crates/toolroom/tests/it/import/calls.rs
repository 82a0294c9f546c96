//! Calls of imported tools: what is sent, who is told which secret, what comes back.

use serde_json::{Value, json};

use super::mock_api::MockApi;
use super::openapi::{SHOP, pets};
use crate::test_home::TestHome;

/// A home with the pet shop imported, and the shop itself.
fn pet_shop() -> (TestHome, MockApi) {
    let (home, service) = (TestHome::new(), MockApi::start(pets()));
    let done = home.import(&pets(), &["--yes", "--name", "pets", "--server", &service.url("")]);
    assert_eq!(done.code, 0, "{done:?}");
    (home, service)
}

#[test]
fn promise_parameters_go_where_the_document_says() {
    let (home, service) = pet_shop();
    home.secret("PETS_SHOP_KEY", "key-of-the-shop");
    let good = |tool: &str, params: Value| {
        let answer = home.calls(tool, params);
        assert!(answer["error"].is_null(), "{tool}: {answer}");
        (answer, service.last())
    };
    let (answer, seen) = good(
        "list-pets",
        json!({ "limit": 5, "tags": ["a b", "c"], "fields": ["x", "y"], "filter_age_": 2 }),
    );
    assert_eq!(seen.target, "/pets?limit=5&tags=a%20b&tags=c&fields=x,y&filter%5Bage%5D=2");
    assert_eq!(seen.headers["x-shop-key"], "key-of-the-shop");
    assert!(answer["data"]["pets"].is_array() && answer["agentHints"]["warnings"].is_null(), "{answer}");
    let (_, seen) = good("create-pet", json!({ "name": "Rex", "weight": null }));
    assert_eq!((seen.method.as_str(), seen.text()), ("POST", r#"{"name":"Rex","weight":null}"#.to_owned()));
    let (_, seen) = good("replace-pet", json!({ "petId": 7, "body_petId": "8", "name": "Rex" }));
    assert_eq!((seen.target.as_str(), seen.text()), ("/pets/7", r#"{"petId":"8","name":"Rex"}"#.to_owned()));
    let (_, seen) = good("orders-place", json!({ "item": "tea & milk", "count": 2 }));
    assert_eq!(seen.text(), "item=tea%20%26%20milk&count=2");
    let (_, seen) = good("add-photo", json!({ "petId": 1, "photo": "AAEC", "caption": "Rex" }));
    assert!(seen.headers["content-type"].starts_with("multipart/form-data; boundary="));
    assert!(
        seen.body.windows(3).any(|bytes| bytes == [0, 1, 2])
            && seen.text().contains("name=\"caption\"\r\n\r\nRex")
    );
    let (answer, seen) = good("get-photo", json!({ "petId": 1 }));
    assert!(!seen.headers.contains_key("x-shop-key"), "it is not asked for here: {seen:?}");
    assert_eq!(answer["content"][0], json!({ "type": "image", "data": "AQID", "mimeType": "image/png" }));
    // A person is asked before something is removed.
    let held = home.run(&["call", "delete-pet", "--json", "--params", r#"{"petId": 1}"#]);
    assert!(held.out.contains("approval_required"), "{held:?}");
    assert_eq!(home.calls("delete-pet", json!({ "petId": "x" }))["error"]["details"][0]["pointer"], "/petId");
}

#[test]
fn promise_a_parameter_cannot_lead_out_of_its_path() {
    let (home, service) = (TestHome::new(), MockApi::start(json!({ "paths": {} })));
    let document = json!({
        "openapi": "3.1.0", "info": { "title": "files" }, "servers": [{ "url": service.url("/api") }],
        "paths": { "/a/{one}{two}/b": { "get": { "operationId": "readIt", "responses": {} } },
                   "/c/{rest}": { "get": { "operationId": "readRest", "responses": {},
                       "parameters": [{ "name": "rest", "in": "path", "x-multi-segment": true, "schema": { "type": "string" } }] } } },
    });
    assert_eq!(home.import(&document, &["--yes", "--allow-private"]).code, 0);
    for params in [
        json!({ "one": ".", "two": "." }),
        json!({ "one": "..", "two": "" }),
        json!({ "one": "", "two": "" }),
    ] {
        let answer = home.calls("read-it", params.clone());
        assert_eq!(answer["error"]["code"], "invalid_input", "{params}: {answer}");
    }
    assert_eq!(home.calls("read-rest", json!({ "rest": "x/../../etc" }))["error"]["code"], "invalid_input");
    assert_eq!(service.count(), 0);
    home.calls("read-it", json!({ "one": "../x?y#z", "two": "%2e" }));
    assert_eq!(service.last().target, "/api/a/..%2Fx%3Fy%23z%252e/b");
    home.calls("read-rest", json!({ "rest": "x/y z" }));
    assert_eq!(service.last().target, "/api/c/x/y%20z");
}

#[test]
fn promise_a_secret_goes_only_to_hosts_that_a_person_approved_and_is_shown_nowhere() {
    let (home, service) = pet_shop();
    let unset = home.calls("get-pet", json!({ "petId": 1 }));
    assert_eq!(unset["error"]["code"], "not_configured");
    assert!(
        unset["error"]["message"].as_str().unwrap().contains("toolroom secrets set PETS_SHOP_KEY"),
        "{unset}"
    );
    // The second way is taken if its secret is set.
    home.secret("PETS_LOGIN", "ada:open-sesame");
    service.answer(
        200,
        &[("Content-Type", "application/json")],
        br#"{"said": "open-sesame, YWRhOm9wZW4tc2VzYW1l"}"#,
    );
    let answer = home.calls("get-pet", json!({ "petId": 1 }));
    assert_eq!(service.last().headers["authorization"], "Basic YWRhOm9wZW4tc2VzYW1l");
    assert!(!answer.to_string().contains("sesame") && !answer.to_string().contains("YWRh"), "{answer}");
    // Another host, written into the file by hand or by an agent, gets nothing.
    let file = home.home().join("tools/tools.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let other = MockApi::start(pets());
    std::fs::write(&file, text.replace(&service.url(""), &other.url(""))).unwrap();
    let refused = home.calls("get-pet", json!({ "petId": 1 }));
    assert_eq!(refused["error"]["code"], "not_configured", "{refused}");
    let allow = format!("toolroom secrets allow PETS_LOGIN {}", other.url(""));
    assert!(refused["error"]["message"].as_str().unwrap().contains(&allow), "{refused}");
    assert_eq!(other.count(), 0);
    assert_eq!(home.run(&["secrets", "allow", "PETS_LOGIN", &other.url("/any")]).code, 0);
    assert!(home.calls("get-pet", json!({ "petId": 1 }))["error"].is_null());
    assert!(home.run(&["secrets", "list"]).out.contains(&other.url("")));
    assert_eq!(home.run(&["secrets", "deny", "PETS_LOGIN", &other.url("")]).code, 0);
    assert_eq!(home.calls("get-pet", json!({ "petId": 1 }))["error"]["code"], "not_configured");
}

#[test]
fn promise_failures_of_the_service_have_the_codes_that_every_tool_has() {
    let (home, service) = pet_shop();
    home.secret("PETS_SHOP_KEY", "key-of-the-shop");
    let fails = |tool: &str, params: Value, status: u16, headers: &[(&'static str, &str)], body: &str| {
        service.answer(status, headers, body.as_bytes());
        home.calls(tool, params)["error"].clone()
    };
    let json_type = ("Content-Type", "application/json");
    let one = json!({ "petId": 1 });
    let codes = [
        (400, "invalid_input"),
        (401, "not_configured"),
        (403, "not_configured"),
        (404, "not_found"),
        (409, "version_conflict"),
        (412, "version_conflict"),
        (422, "invalid_input"),
        (429, "rate_limited"),
        (500, "tool_execution_error"),
        (503, "service_unavailable"),
    ];
    for (status, code) in codes {
        let error = fails(
            "get-pet",
            one.clone(),
            status,
            &[json_type],
            r#"{"error": {"message": "no, key-of-the-shop"}}"#,
        );
        assert_eq!(error["code"], code, "{status}: {error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("no, ") && !error.to_string().contains("key-of-the-shop"), "{error}");
        assert!(error["outcome"].is_null(), "{error}");
    }
    let slow = fails("get-pet", one.clone(), 429, &[("Retry-After", "7")], "");
    assert_eq!(slow["retryAfter"], 7000);
    let unsure = fails("create-pet", json!({ "name": "Rex" }), 502, &[], "");
    assert_eq!((&unsure["code"], &unsure["outcome"]), (&json!("service_unavailable"), &json!("unknown")));
    let moved = fails("create-pet", json!({ "name": "Rex" }), 307, &[("Location", "/elsewhere")], "");
    assert_eq!(moved["code"], "tool_execution_error");
    let broken = fails("get-pet", one.clone(), 200, &[json_type], "{");
    assert_eq!(broken["code"], "invalid_output");
    let rounded =
        fails("get-pet", one.clone(), 200, &[json_type], r#"{"id": 1180591620717411303424, "name": "Rex"}"#);
    assert_eq!(rounded["code"], "invalid_output");
    assert!(rounded["message"].as_str().unwrap().contains("'/id'"), "{rounded}");
    let large = fails("get-pet", one, 200, &[json_type], &"x".repeat(5 << 20));
    assert_eq!(large["code"], "output_too_large");
}

#[test]
fn promise_an_answer_that_strays_from_the_document_is_passed_on_with_a_warning() {
    let (home, service) = pet_shop();
    home.secret("PETS_SHOP_KEY", "key-of-the-shop");
    let kind = ("Content-Type", "application/json");
    service.answer(200, &[kind], br#"{"sold": "maybe"}"#);
    let answer = home.calls("get-pet", json!({ "petId": 1 }));
    assert_eq!(answer["data"]["sold"], "maybe");
    let warning = answer["agentHints"]["warnings"][0]["message"].as_str().unwrap();
    assert!(warning.contains("data/sold"), "{warning}");
    // The next page is suggested where the service names it.
    service.answer(200, &[kind, ("Link", "</pets?limit=5&x=1>; rel=\"next\"")], b"{}");
    let answer = home.calls("list-pets", json!({}));
    assert_eq!(answer["agentHints"]["suggestedNextActions"][0]["data"], json!({ "limit": 5 }), "{answer}");
    service.answer(204, &[], b"");
    assert_eq!(home.calls("get-pet", json!({ "petId": 1 }))["data"], json!({ "status": 204 }));
}

#[test]
fn promise_client_credentials_are_turned_into_a_token_that_is_fetched_again_when_it_has_ended() {
    let home = TestHome::new();
    let text = |service: &str| SHOP.replace("TOKEN_URL", &format!("{service}/token"));
    let mock = MockApi::start(serde_json::from_str(&text("http://127.0.0.1")).unwrap());
    let document = serde_json::from_str(&text(&mock.url(""))).unwrap();
    let done = home.import(&document, &["--yes", "--name", "shop", "--server", &mock.url("")]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains("CLIENT_ID:CLIENT_SECRET"), "{done:?}");
    home.secret("SHOP_MACHINES", "robot:wide-open-sesame");
    // One server, so that the token is kept from call to call.
    let _served = home.serve();
    let search = json!({ "where": { "colour": "red", "size": 3 }, "X-Trace": "t1" });
    let answer = home.calls("items-search", search);
    assert!(answer["error"].is_null(), "{answer}");
    let seen = mock.last();
    assert_eq!(seen.target, "/items?where%5Bcolour%5D=red&where%5Bsize%5D=3");
    assert_eq!(
        (seen.headers["x-trace"].as_str(), seen.headers["authorization"].as_str()),
        ("t1", "Bearer token-number-1")
    );
    home.calls("items-search", json!({}));
    assert_eq!(mock.last().headers["authorization"], "Bearer token-number-1");
    mock.answer(401, &[], b"");
    let answer = home.calls("items-search", json!({}));
    assert!(answer["error"].is_null(), "{answer}");
    assert_eq!(mock.last().headers["authorization"], "Bearer token-number-2");
    let answer = home.calls("patch-items-id-price", json!({ "id": "a", "body": { "euro": 2 } }));
    assert!(answer["error"].is_null(), "{answer}");
    assert_eq!(home.calls("is-open", json!({}))["data"]["text"], "some text");
}
