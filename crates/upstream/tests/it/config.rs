//! mcp.json as people write it.

use std::time::Duration;

use serde_json::json;
use toolroom_upstream::config::{
    Author, ConfigError, Grant, Reach, ServerConfig, ServerEntry, Standing, UrlKind, read_file, read_server,
};

fn environment(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("t0p".to_owned()),
        "HOST" => Some("tools.example".to_owned()),
        _ => None,
    }
}

fn servers(text: &str) -> Result<Vec<ServerEntry>, Vec<ConfigError>> {
    read_file(text, &environment)
}

fn enabled(entry: &ServerEntry) -> &ServerConfig {
    match &entry.standing {
        Standing::Enabled(config) => config,
        other => panic!("{} is not used: {other:?}", entry.name),
    }
}

fn only(entry: serde_json::Value) -> ServerConfig {
    enabled(&read_server("one", &entry, &environment, Author::File).unwrap()).clone()
}

#[test]
fn both_keys_are_read_and_fields_of_other_clients_are_kept() {
    let read = servers(
        r#"{ "mcpServers": { "git": { "command": "uvx", "args": ["mcp-git", "--key=${TOKEN}"], "autoApprove": ["x"] } },
             "mcp_servers": { "web": { "url": "https://${HOST}/mcp" } }, "inputs": [] }"#,
    )
    .unwrap();
    assert_eq!(read.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["git", "web"]);
    assert_eq!(read[0].source["autoApprove"], json!(["x"]));
    let Reach::Stdio(stdio) = &enabled(&read[0]).reach else { panic!() };
    assert_eq!((stdio.command.as_str(), stdio.args[1].as_str()), ("uvx", "--key=t0p"));
    let Reach::Url { url, kind, .. } = &enabled(&read[1]).reach else { panic!() };
    assert_eq!((url.as_str(), *kind), ("https://tools.example/mcp", UrlKind::Detect));
    assert!(servers("{}").unwrap().is_empty());
}

#[test]
fn every_field_has_its_meaning() {
    let config = only(json!({
        "type": "streamable-http", "url": "http://localhost:1/mcp", "headers": { "X-Key": "a ${TOKEN}" },
        "timeout": 2.5, "allow": ["read_*"], "deny": ["read_secret"], "prefix": "r",
        "oauth": { "token_url": "https://auth.example/token", "client_id": "me", "client_secret_env": "TOKEN", "scope": "a b" },
    }));
    let Reach::Url { kind, headers, .. } = &config.reach else { panic!() };
    assert_eq!((*kind, headers["x-key"].reveal()), (UrlKind::Streamable, "a t0p"));
    assert_eq!(config.timeout, Some(Duration::from_millis(2500)));
    assert!(
        config.filter.takes("read_file")
            && !config.filter.takes("read_secret")
            && !config.filter.takes("write")
    );
    assert_eq!(config.name_prefix(), "r");
    let oauth = config.oauth.as_ref().unwrap();
    assert_eq!(
        (oauth.client_secret.as_ref().unwrap().reveal(), oauth.scope.as_deref()),
        ("t0p", Some("a b"))
    );
    assert!(config.allow_private, "who writes the file may name any address");
    assert!(!format!("{config:?}").contains("t0p"), "no key is ever printed");
    for (kind, expected) in [("sse", UrlKind::Sse), ("http", UrlKind::Streamable)] {
        let Reach::Url { kind, .. } = only(json!({ "url": "http://a.example", "type": kind })).reach else {
            panic!()
        };
        assert_eq!(kind, expected);
    }
    let entry = json!({ "url": "http://a.example" });
    let by_api = read_server("one", &entry, &environment, Author::Api).unwrap();
    assert!(!enabled(&by_api).allow_private, "who has a grant may not");
}

#[test]
fn an_unset_variable_or_a_switch_disables_that_server_with_a_reason() {
    let read = servers(
        r#"{ "mcpServers": {
            "a": { "url": "https://a.example/", "headers": { "Authorization": "Bearer ${MISSING}" } },
            "b": { "url": "${NOWHERE}" },
            "c": { "command": "${CMD:-true}" },
            "d": { "command": "true", "disabled": true },
            "e": { "command": "true", "enabled": false } } }"#,
    )
    .unwrap();
    let reasons: Vec<Option<&str>> = read
        .iter()
        .map(|entry| match &entry.standing {
            Standing::Disabled(reason) => Some(reason.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(reasons[0], Some("the environment variable MISSING is not set"));
    assert_eq!(reasons[1], Some("the environment variable NOWHERE is not set"));
    assert_eq!(reasons[2], None);
    assert!(reasons[3].is_some() && reasons[4].is_some());
}

/// What is wrong with an entry.
fn wrong(entry: &ServerEntry) -> Option<String> {
    match &entry.standing {
        Standing::Invalid(error) => Some(error.to_string()),
        _ => None,
    }
}

#[test]
fn every_error_names_its_server_and_field_and_leaves_the_others() {
    let entries = servers(
        r#"{ "mcpServers": {
            "a": { "command": "x", "url": "http://a.example" },
            "b": {},
            "c": { "command": "x", "args": ["ok", 7] },
            "d": { "url": "ftp://a.example" },
            "e": { "url": "http://a.example", "timeout": 600000 },
            "f": { "url": "http://a.example", "type": "carrier-pigeon" },
            "g": { "url": "http://u:p@a.example" },
            "h": { "url": "http://a.example", "headers": { "X": "a\nb" } },
            "": { "command": "x" },
            "any name": { "command": "x" },
            "ok": { "command": "x" } }, "mcp_servers": { "OK": { "command": "x" } } }"#,
    )
    .unwrap();
    let texts: Vec<String> = entries.iter().filter_map(wrong).collect();
    for (at, start) in [
        "server 'a': url: ",
        "server 'b': command: ",
        "server 'c': args[1]: ",
        "server 'd': url: ",
        "server 'e': timeout: ",
        "server 'f': type: ",
        "server 'g': url: ",
        "server 'h': headers.X: ",
        "server '': ",
        "server 'OK': ",
    ]
    .iter()
    .enumerate()
    {
        assert!(texts[at].starts_with(start), "{}", texts[at]);
    }
    assert_eq!((texts.len(), entries.len()), (10, 12), "those that are right are used");
    let broken = &servers("{\n  \"mcpServers\": {,\n}").unwrap_err()[0];
    assert_eq!(broken.place.unwrap().0, 2);
    assert!(servers(r#"{ "mcpServers": [] }"#).unwrap_err()[0].to_string().contains("must be an object"));
}

#[test]
fn how_a_token_is_had_follows_from_what_oauth_says() {
    let grant = |oauth: &str| {
        let text =
            format!(r#"{{ "mcpServers": {{ "a": {{ "url": "https://a.example/", "oauth": {oauth} }} }} }}"#);
        let entry = servers(&text).unwrap().remove(0);
        match entry.standing {
            Standing::Enabled(config) => Ok(config.oauth.unwrap()),
            _ => Err(wrong(&entry).unwrap()),
        }
    };
    assert_eq!(grant("{}").unwrap().grant, Grant::AuthorizationCode);
    let written =
        r#"{ "client_id": "me", "client_secret": "s", "redirect_uri": "http://localhost:7000/back" }"#;
    let read = grant(written).unwrap();
    assert_eq!((read.grant, read.token_url, read.allow_private), (Grant::AuthorizationCode, None, false));
    assert!(!format!("{:?}", read.client_secret).contains("\"s\""));
    let own = r#"{ "token_url": "https://t.example", "client_id": "me", "client_secret": "s" }"#;
    assert_eq!(grant(own).unwrap().grant, Grant::ClientCredentials);
    let found = r#"{ "grant": "client_credentials", "client_id": "me", "client_secret": "s" }"#;
    assert_eq!(grant(found).unwrap().grant, Grant::ClientCredentials);
    for (wrong, field) in [
        (r#"{ "grant": "client_credentials" }"#, "oauth.client_id: "),
        (r#"{ "grant": "client_credentials", "client_id": "me" }"#, "oauth.client_secret: "),
        (r#"{ "client_secret": "s", "client_secret_env": "S" }"#, "oauth.client_secret: "),
        (r#"{ "private_key": "no key" }"#, "oauth.private_key: "),
        (r#"{ "redirect_uri": "https://away.example/" }"#, "oauth.redirect_uri: "),
        (r#"{ "redirect_uri": "http://127.0.0.1/" }"#, "oauth.redirect_uri: "),
        (r#"{ "client_metadata_url": "http://a.example/c.json" }"#, "oauth.client_metadata_url: "),
        (r#"{ "token_url": "file:///etc/passwd" }"#, "oauth.token_url: "),
        (r#"{ "grant": "password" }"#, "oauth.grant: "),
    ] {
        let error = grant(wrong).unwrap_err();
        assert!(error.starts_with(&format!("server 'a': {field}")), "{error}");
    }
}
