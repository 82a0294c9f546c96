//! Browsers that come back from a login to the address of a balancer, and so to any of several replicas.

use serde_json::json;

use super::Replica;
use super::logins::{KEY, works};
use crate::federation::test_servers::write;
use crate::logins::{Guarded, answer_at, began};
use crate::promises::cluster::Cluster;
use crate::test_home::{Reply, TestHome};

const BACK: &str = "http://tools.example.com/login/callback/docs";

/// A replica whose public address is that of a balancer, which nobody need run: the test plays the browser.
fn with_public_address(home: TestHome, cluster: &Cluster) -> Replica {
    if !home.home().exists() {
        home.run(&["init"]);
    }
    let settings = "[server]\npublic_url = \"http://tools.example.com\"\n";
    std::fs::write(home.home().join("toolroom.toml"), settings).unwrap();
    Replica::start_sealed(home, &cluster.url(), KEY)
}

/// Two of them, the first of which brings these servers.
fn two(cluster: &Cluster, servers: serde_json::Value) -> [Replica; 2] {
    let home = TestHome::new();
    write(&home, servers);
    [home, TestHome::new()].map(|home| with_public_address(home, cluster))
}

/// The browser's way back, as the balancer sends it to a replica.
fn come_back(replica: &Replica, query: &str) -> Reply {
    come_back_to("docs", replica, query)
}

/// The same, to the address of a server.
fn come_back_to(server: &str, replica: &Replica, query: &str) -> Reply {
    let text = format!(
        "GET /login/callback/{server}?{query} HTTP/1.1\r\nHost: tools.example.com\r\nConnection: close\r\n\r\n"
    );
    Reply::over(std::net::TcpStream::connect(replica.server.address).unwrap(), &text)
}

#[test]
fn promise_a_browser_comes_back_from_a_login_to_any_replica_once() {
    let (cluster, guarded) = (Cluster::start(), Guarded::with_tokens_of(3600));
    let replicas = two(&cluster, json!({ "docs": guarded.entry() }));
    let begun = began(&replicas[0].home, "docs");
    let query = answer_at(&begun.url, BACK);

    // What nobody asked for is refused, and takes nothing away.
    for other in ["", "code=x", "code=x&state=", "code=x&state=unknown", &format!("{query}&state=twice")] {
        assert_eq!(come_back(&replicas[1], other).status, 404, "{other}");
    }
    let came = come_back(&replicas[1], &query);
    assert_eq!(came.status, 200, "{came:?}");
    assert!(came.body.contains("You can close this window"), "{came:?}");
    // Who began it is told, though the browser came back elsewhere; and it is a login at both.
    begun.ended("logged in to docs");
    replicas.iter().for_each(works);
    assert_eq!(come_back(&replicas[0], &query).status, 404, "an answer is taken once");
    let kept = cluster.sql("SELECT count(*) FROM parcels WHERE kind = 'login' AND length(body) > 0");
    assert_eq!(kept, "0");
}

#[test]
fn a_login_that_is_refused_is_told_where_it_was_begun_and_one_that_was_begun_anew_is_the_only_one() {
    let (cluster, guarded) = (Cluster::start(), Guarded::with_tokens_of(3600));
    let replicas = two(&cluster, json!({ "docs": guarded.entry() }));
    let first = began(&replicas[0].home, "docs");
    let old = answer_at(&first.url, BACK);
    // At another replica, so that who began the first one learns of it there alone.
    let second = began(&replicas[1].home, "docs");
    for replica in &replicas {
        let over = come_back(replica, &old);
        assert_eq!(over.status, 410, "{over:?}");
        assert!(over.body.contains("another login at this server was begun after it"), "{over:?}");
    }
    assert_eq!(guarded.codes(), 0, "no answer to the first is used");
    first.ended("another login at this server was begun after it");
    let given = answer_at(&second.url, BACK);
    let denied = given.split('&').map(|pair| match pair.starts_with("code=") {
        true => "error=access_denied",
        false => pair,
    });
    let refused = come_back(&replicas[0], &denied.collect::<Vec<_>>().join("&"));
    assert_eq!(refused.status, 400, "{refused:?}");
    second.ended("refused (access_denied)");
    // The secrets of an open login are sealed.
    let third = began(&replicas[0].home, "docs");
    let kept = cluster
        .sql("SELECT convert_from(body, 'UTF8') FROM parcels WHERE kind = 'login' AND length(body) > 0");
    assert!(!kept.is_empty() && !kept.contains("verifier") && !kept.contains("redirect"), "{kept}");
    drop(third);
}

#[test]
fn promise_the_token_of_a_login_goes_to_no_address_that_the_entry_has_got_since() {
    let (cluster, guarded) = (Cluster::start(), Guarded::with_tokens_of(3600));
    let elsewhere = Guarded::with_tokens_of(3600);
    let replicas = two(&cluster, json!({ "docs": guarded.entry() }));
    let begun = began(&replicas[0].home, "docs");
    let query = answer_at(&begun.url, BACK);
    let body = elsewhere.entry().to_string();
    let put = format!(
        "PUT /api/v1/servers/docs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let put = Reply::over_socket(&replicas[0].home, &put);
    assert_eq!(put.status, 200, "{put:?}");
    let came = come_back(&replicas[1], &query);
    assert_ne!(came.status, 200, "{came:?}");
    assert_eq!(cluster.sql("SELECT count(*) FROM logins"), "0");
}

/// A false server sends the browser to the login of an honest one, with its own state: it is to be given the code.
#[test]
fn promise_an_answer_of_one_servers_login_is_never_sent_to_another_server() {
    let (cluster, honest, evil) =
        (Cluster::start(), Guarded::with_tokens_of(3600), Guarded::with_tokens_of(3600));
    let replicas = two(&cluster, json!({ "docs": honest.entry(), "evil": evil.entry() }));
    let begun = [began(&replicas[0].home, "docs"), began(&replicas[0].home, "evil")];
    let [answer, asked] = [
        answer_at(&begun[0].url, BACK),
        answer_at(&begun[1].url, "http://tools.example.com/login/callback/evil"),
    ];
    let of = |query: &str, name: &str| {
        let found = query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
        found.unwrap().to_owned()
    };
    // Even one that does not say, or lies, who has given the code.
    let mixed = format!("code={}&state={}", of(&answer, "code"), of(&asked, "state"));
    let came = come_back_to("docs", &replicas[1], &format!("{mixed}&iss={}", of(&asked, "iss")));
    assert_eq!(came.status, 400, "{came:?}");
    assert!(came.body.contains("came to the address of another server"), "{came:?}");
    assert_eq!((honest.codes(), evil.codes()), (0, 0), "the code went nowhere");
    let [docs, evil] = begun;
    evil.ended("came to the address of another server");
    // The login at the honest one is not touched by it.
    assert_eq!(come_back(&replicas[1], &answer).status, 200);
    docs.ended("logged in to docs");
}

#[test]
fn who_comes_back_to_a_server_that_was_removed_is_told_what_to_do() {
    let (cluster, guarded) = (Cluster::start(), Guarded::with_tokens_of(3600));
    let replicas = two(&cluster, json!({ "docs": guarded.entry() }));
    let begun = began(&replicas[0].home, "docs");
    let query = answer_at(&begun.url, BACK);
    assert_eq!(replicas[1].home.run(&["servers", "remove", "docs"]).code, 0);
    for replica in &replicas {
        let came = come_back(replica, &query);
        assert_eq!(came.status, 410, "{came:?}");
        assert!(came.body.contains("The server 'docs' was removed"), "{came:?}");
        assert!(came.body.contains("add it again"), "{came:?}");
    }
    assert_eq!(guarded.codes(), 0);
}

/// The same rules where one process serves alone.
#[test]
fn a_login_that_was_begun_anew_or_whose_server_is_gone_says_so_at_one_server_too() {
    let guarded = Guarded::with_tokens_of(3600);
    let home = TestHome::new();
    // A name that is no plain part of an address.
    write(&home, json!({ "my docs": guarded.entry() }));
    let settings = "[server]\npublic_url = \"http://tools.example.com\"\n";
    std::fs::write(home.home().join("toolroom.toml"), settings).unwrap();
    let served = home.serve();
    let first = began(&home, "my docs");
    let part = first.url.split_once("callback%2F%7E").unwrap().1.split('&').next().unwrap();
    let part = format!("~{part}");
    let come_back = |query: &str| {
        let text = format!(
            "GET /login/callback/{part}?{query} HTTP/1.1\r\nHost: tools.example.com\r\nConnection: close\r\n\r\n"
        );
        Reply::over(std::net::TcpStream::connect(served.address).unwrap(), &text)
    };
    let back = format!("http://tools.example.com/login/callback/{part}");
    let old = answer_at(&first.url, &back);
    let second = began(&home, "my docs");
    let over = come_back(&old);
    assert_eq!(over.status, 410, "{over:?}");
    assert!(over.body.contains("was begun after it"), "{over:?}");
    let query = answer_at(&second.url, &back);
    assert_eq!(come_back(&query).status, 200);
    second.ended("logged in to my docs");
    assert_eq!(come_back(&query).status, 404, "an answer is taken once");
    let third = began(&home, "my docs");
    let query = answer_at(&third.url, &back);
    assert_eq!(home.run(&["servers", "remove", "my docs"]).code, 0);
    let gone = come_back(&query);
    assert_eq!(gone.status, 410, "{gone:?}");
    assert!(gone.body.contains("The server 'my docs' was removed"), "{gone:?}");
}
