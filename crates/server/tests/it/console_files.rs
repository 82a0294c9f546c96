//! The console's page and files: what they are sent with, and who gets them.

use crate::test_server::TestServer;

/// The address of a file that the page names.
fn named(page: &str, file: &str) -> String {
    let end = page.find(&format!("/{file}\"")).unwrap_or_else(|| panic!("{file} is not named: {page}"));
    let start = page[..end].rfind('"').unwrap() + 1;
    format!("{}/{file}", &page[start..end])
}

#[tokio::test]
async fn promise_the_page_is_sent_under_a_strict_policy_whatever_its_address() {
    let server = TestServer::new();
    for path in
        ["/console", "/console/", "/console/login", "/console/executions/x?q=tool:a", "/console/tools/a%2Fb"]
    {
        let page = server.ask("GET", path).send().await;
        assert_eq!(page.status, 200, "{path}");
        let header = |name: &str| page.headers[name].to_str().unwrap();
        assert_eq!(header("content-type"), "text/html; charset=utf-8");
        assert_eq!(
            header("content-security-policy"),
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
             form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
             trusted-types 'none'"
        );
        assert_eq!(header("x-frame-options"), "DENY");
        assert_eq!(header("cross-origin-opener-policy"), "same-origin");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        assert_eq!(header("cache-control"), "no-store");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert!(header("permissions-policy").contains("clipboard-read=()"));
        assert!(page.text.contains("<div id=\"app\"></div>"), "{}", page.text);
    }
}

#[tokio::test]
async fn promise_the_api_is_read_in_a_browser_under_the_same_policy_and_without_a_session() {
    let server = TestServer::new();
    server.key(serde_json::json!({ "user": "ada" })).await;
    let page = server.ask("GET", "/docs").header("accept", "text/html,*/*").send().await;
    let console = server.ask("GET", "/console/").send().await;
    for name in ["content-security-policy", "x-frame-options", "cross-origin-opener-policy", "cache-control"]
    {
        assert_eq!(page.headers[name], console.headers[name], "{name}");
    }
    assert_eq!(server.ask("GET", named(&page.text, "docs.js")).send().await.status, 200);
    assert_eq!(server.ask("GET", "/openapi.json").send().await.status, 200);
    let others = server.ask("GET", "/docs").header("accept", "*/*").send().await;
    assert!(others.text.contains("/api/v1/tools/{name}/call"), "{}", others.text);
}

#[tokio::test]
async fn files_are_kept_for_good_under_the_hash_of_them_all() {
    let server = TestServer::new();
    let page = server.ask("GET", "/console/").send().await.text;
    for (file, kind) in
        [("main.js", "text/javascript"), ("style/console.css", "text/css"), ("icon.svg", "image/svg+xml")]
    {
        let path = named(&page, file);
        let plain = server.ask("GET", path.clone()).send().await;
        assert_eq!(plain.status, 200, "{path}");
        assert!(plain.headers["content-type"].to_str().unwrap().starts_with(kind));
        assert_eq!(plain.headers["cache-control"], "public, max-age=31536000, immutable");
        assert_eq!(plain.headers["x-content-type-options"], "nosniff");
        assert!(!plain.text.is_empty() && plain.headers.get("content-encoding").is_none());
        let (packed, _) = server.ask("GET", path.clone()).header("accept-encoding", "gzip, br").open().await;
        assert_eq!(
            (&packed.headers["content-encoding"], &packed.headers["vary"]),
            (&"gzip".parse().unwrap(), &"accept-encoding".parse().unwrap())
        );
        let old = path.replace("/a/", "/a/0");
        assert_eq!(server.ask("GET", old).send().await.status, 404, "of another version");
    }
    let main = named(&page, "main.js");
    for missing in ["README.md", "vendor/preact.d.ts", "../Cargo.toml", "nothing.js"] {
        let path = main.replace("main.js", missing);
        assert_eq!(server.ask("GET", path).send().await.status, 404, "{missing}");
    }
}

#[tokio::test]
async fn browsers_are_led_to_the_console_and_programs_get_a_list() {
    let server = TestServer::new();
    let led =
        server.ask("GET", "/").header("accept", "text/html,application/xhtml+xml,*/*;q=0.8").send().await;
    assert_eq!((led.status.as_u16(), led.headers["location"].to_str().unwrap()), (307, "/console/"));
    let listed = server.ask("GET", "/").send().await;
    assert_eq!(listed.status, 200);
    assert!(listed.text.contains("/docs"));
}
