//! Every operation of whole documents: ours, and those of real services from a folder that
//! `TOOLROOM_OPENAPI_DOCUMENTS` names, because they are not ours to keep here.
#![allow(clippy::print_stdout, reason = "figures of a measurement that is run by hand")]

use std::time::Instant;

use serde_json::{Value, json};

use super::mock_api::MockApi;
use super::openapi::{PETS, SHOP};
use super::sample::sample;
use crate::test_home::{Reply, TestHome, post};

#[test]
fn promise_every_tool_of_whole_documents_passes_the_checklist_and_calls_its_service() {
    let mut documents = vec![("pets".to_owned(), PETS.to_owned()), ("shop".to_owned(), SHOP.to_owned())];
    if let Some(folder) = std::env::var_os("TOOLROOM_OPENAPI_DOCUMENTS") {
        documents.extend(std::fs::read_dir(folder).unwrap().map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        }));
    }
    let mut failed = 0;
    for (name, text) in documents {
        let mut document: Value = serde_json::from_str(&text).unwrap();
        // Refers to another file on purpose, for the test of what is left out.
        document["paths"].as_object_mut().unwrap().remove("/elsewhere");
        // Everything goes to the service that is made from the document.
        for item in document["paths"].as_object_mut().unwrap().values_mut() {
            let item = item.as_object_mut().unwrap();
            item.remove("servers");
            item.values_mut()
                .filter_map(Value::as_object_mut)
                .for_each(|operation| drop(operation.remove("servers")));
        }
        failed += try_all(&name, document);
    }
    assert_eq!(failed, 0, "calls failed; each is told above");
}

/// How many calls failed.
fn try_all(name: &str, mut document: Value) -> usize {
    let (home, service) = (TestHome::new(), MockApi::start(document.clone()));
    for scheme in
        document["components"]["securitySchemes"].as_object_mut().into_iter().flat_map(|all| all.values_mut())
    {
        if let Some(flow) = scheme.pointer_mut("/flows/clientCredentials") {
            flow["tokenUrl"] = service.url("/token").into();
        }
    }
    home.run(&["init"]);
    let began = Instant::now();
    let done = home.import(
        &document,
        &["--all", "--yes", "--name", name, "--auth", "bearer", "--json", "--server", &service.url("")],
    );
    let took = began.elapsed();
    assert_eq!(done.code, 0, "{name}: {}", done.err);
    let imported: Value = serde_json::from_str(&done.out).unwrap();
    let tools = imported["tools"].as_array().unwrap();
    let refused: Vec<&Value> = tools.iter().filter(|tool| tool["standing"] == "refused").collect();
    let left_out = imported["leftOut"].as_array().unwrap();
    println!(
        "{name}: {} tools in {took:?}, {} tokens, {} refused, {} left out",
        tools.len(),
        imported["tokens"],
        refused.len(),
        left_out.len()
    );
    refused.iter().for_each(|tool| println!("  refused {}: {}", tool["name"], tool["reason"]));
    left_out.iter().for_each(|one| println!("  left out {one}"));
    assert!((refused.len() + left_out.len()) * 100 <= tools.len(), "{name}: more than 1 % are left out");
    for secret in imported["secrets"].as_array().unwrap() {
        home.secret(secret["name"].as_str().unwrap(), "user:secret-of-the-test");
    }
    assert_eq!(home.json(&["check"])["passes"], true, "{name}");
    let _served = home.serve();
    let (mut called, mut failed) = (0, Vec::new());
    for tool in tools.iter().filter(|tool| tool["standing"] == "new") {
        let tool = tool["name"].as_str().unwrap();
        match call(&home, tool) {
            Ok(()) => called += 1,
            Err(error) => failed.push(format!("{tool}: {error}")),
        }
    }
    println!("{name}: {called} of {} called", called + failed.len());
    failed.iter().for_each(|failure| println!("  {failure}"));
    failed.len()
}

fn call(home: &TestHome, tool: &str) -> Result<(), String> {
    let shown = Reply::over_socket(
        home,
        &format!("GET /api/v1/tools/{tool} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
    );
    let schema = &shown.json["parameters"];
    let mut body = json!({ "params": sample(schema, schema, 0) });
    let place = format!("/api/v1/tools/{tool}/call");
    let mut reply = Reply::over_socket(home, &post(&place, "", &body));
    if let Some(id) = reply.json.pointer("/error/pending/id").or(reply.json.pointer("/pending/id")).cloned() {
        let decision = post(
            &format!("/api/v1/approvals/{}", id.as_str().unwrap()),
            "",
            &json!({ "decision": "approve" }),
        );
        let decided = Reply::over_socket(home, &decision);
        if decided.status != 200 {
            return Err(format!("not approved: {decided:?}"));
        }
        body["context"] = json!({ "approvalId": id });
        reply = Reply::over_socket(home, &post(&place, "", &body));
    }
    let warnings = &reply.json["agentHints"]["warnings"];
    match reply.json.get("error") {
        None if warnings.is_null() => Ok(()),
        None => Err(format!("warned: {warnings} for {body}")),
        Some(error) => Err(format!("{error} for {body}")),
    }
}
