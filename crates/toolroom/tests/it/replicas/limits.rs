//! Rate limits over all replicas: counted in the database or in Redis, and by shares while that is away.

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::redis_server::RedisServer;
use super::{Replica, all_at_once, path, serve, write_script};
use crate::postgres::Authority;
use crate::promises::cluster::Cluster;
use crate::promises::figure;
use crate::test_home::{Reply, Served, TestHome, until};

const NOTHING: &str = "def run(params, context):\n    return {'done': True}\n";
const MOST: usize = 10;

/// Three replicas with tools that may be called ten times an hour.
fn limited(url: &str, more: &[&str]) -> Vec<Replica> {
    let limit = json!({ "rateLimit": { "maxCalls": MOST, "windowMs": 3_600_000 }, "parallel": true });
    let tools = ["first", "second", "third"].map(|name| (name, limit.clone()));
    replicas_with_tools(url, more, &tools)
}

fn replicas_with_tools(url: &str, more: &[&str], tools: &[(&str, Value)]) -> Vec<Replica> {
    let start = |_| {
        let home = TestHome::new();
        for (name, entry) in tools {
            write_script(&home, name, NOTHING, entry.clone());
        }
        let server = Served::start(home.command(&[&serve(url)[..], more].concat()));
        Replica { home, server }
    };
    (0..3).map(start).collect()
}

/// How many callers each replica has.
fn sockets() -> usize {
    figure(8, 17)
}

/// How many of many calls at once pass; the others are told when to come back.
fn passed(replicas: &[Replica], tool: &str) -> usize {
    let answers = all_at_once(replicas, sockets(), tool, "", &json!({ "params": {} }));
    for refused in answers.iter().filter(|reply| reply.status != 200) {
        let error = &refused.json["error"];
        assert_eq!(error["code"], "rate_limited", "{refused:?}");
        assert!(error["retryAfter"].as_u64() > Some(1_000), "{refused:?}");
    }
    answers.iter().filter(|reply| reply.status == 200).count()
}

fn limits_check(replica: &Replica) -> (u16, bool) {
    let ready = replica.server.get("/readyz", "");
    (ready.status, ready.json["checks"]["limits"]["ok"] == true)
}

#[test]
fn promise_a_limit_holds_over_all_replicas() {
    let cluster = Cluster::start();
    let replicas = limited(&cluster.url(), &[]);
    let passed = passed(&replicas, "first");
    assert_eq!(passed, MOST);
}

#[test]
fn promise_a_limit_in_redis_holds_over_all_replicas_and_without_it_each_has_its_share() {
    let (cluster, mut redis) = (Cluster::start(), RedisServer::start());
    let replicas = limited(&cluster.url(), &["--redis", &redis.url()]);
    // One after the other, so that each replica has let a third of them through.
    for number in 0..MOST {
        replicas[number % 3].call("first", &json!({}));
    }
    assert_eq!(passed(&replicas, "first"), 0);
    let at_once = passed(&replicas, "second");
    assert_eq!(at_once, MOST);
    assert!(redis.ask("KEYS *").contains("toolroom:"), "they are counted in Redis");

    // A share is that of the servers which one has seen.
    for replica in &replicas {
        until("it knows the others", || (replica.home.ready().json["sharing"] == 3).then_some(()));
    }
    redis.kill();
    for replica in &replicas {
        let ready = until("it is said", || Some(limits_check(replica)).filter(|(_, ok)| !ok));
        assert_eq!(ready, (200, false));
    }
    let by_share = passed(&replicas, "third");
    assert!((MOST..=MOST + 2).contains(&by_share), "{by_share} passed without Redis");
    let more = passed(&replicas, "first");
    assert!(more <= 2, "{more} more passed of a limit that was used up");
    let shares: u64 = replicas.iter().map(counted_by_share).sum();
    assert_eq!(shares, 2 * 3 * sockets() as u64, "every call is in the meter");

    redis.start_again();
    for replica in &replicas {
        until("it is used again", || (limits_check(replica) == (200, true)).then_some(()));
    }
    // The new server has counted nothing yet.
    let again = passed(&replicas, "third");
    assert_eq!(again, MOST, "with Redis back");
}

fn counted_by_share(replica: &Replica) -> u64 {
    let metrics = Reply::over_socket(&replica.home, "GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n");
    let line = metrics.body.lines().find_map(|line| line.strip_prefix("toolroom_limit_shares_total "));
    line.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{metrics:?}"))
}

/// When a call that passed was sent and answered: it was counted between the two.
type Passed = (Instant, Instant);

/// How many calls were certainly counted within less than a window.
fn most_in_a_window(calls: &[Passed], window: Duration) -> usize {
    let within = |(first, _): &Passed| {
        calls.iter().filter(|(sent, answered)| first <= sent && *answered < *first + window).count()
    };
    calls.iter().map(within).max().unwrap_or(0)
}

fn limited_to(window: Duration) -> Value {
    json!({ "rateLimit": { "maxCalls": MOST, "windowMs": window.as_millis() as u64 }, "parallel": true })
}

const WINDOW: Duration = Duration::from_millis(500);
const LONG_WINDOW: Duration = Duration::from_secs(1);

/// Counted in the database, then in Redis.
#[test]
fn promise_no_window_holds_more_than_the_limit_wherever_it_begins() {
    let (cluster, redis) = (Cluster::start(), RedisServer::start());
    let tools = [("limited", limited_to(WINDOW)), ("saved", limited_to(LONG_WINDOW))];
    let (url, redis_url) = (cluster.url(), redis.url());
    for more in [&[][..], &["--redis", &redis_url][..]] {
        let replicas = replicas_with_tools(&url, more, &tools);
        let (passed, windows) = callers_who_never_stop(&replicas);
        eprintln!("{passed} calls passed in {windows:.1} windows of {MOST}");
        who_saves_calls_for_the_end_of_a_window(&replicas);
    }
}

/// They get as many calls as the limit says, window after window, and no more: those that are refused are not counted.
/// How many calls passed, and in how many windows.
fn callers_who_never_stop(replicas: &[Replica]) -> (usize, f64) {
    // The first call of a script starts it.
    for replica in replicas {
        until("its script runs", || one_call(replica, "limited").ok());
    }
    let began = Instant::now();
    let end = began + Duration::from_secs(figure(3, 60) as u64);
    let passed: Vec<Passed> = thread::scope(|scope| {
        let callers = replicas.iter().map(|replica| scope.spawn(move || calls_until(replica, end)));
        callers.collect::<Vec<_>>().into_iter().flat_map(|caller| caller.join().unwrap()).collect()
    });
    let windows = began.elapsed().as_secs_f64() / WINDOW.as_secs_f64();
    assert!(most_in_a_window(&passed, WINDOW) <= MOST, "{passed:?}");
    let least = MOST as f64 * windows / 2.0;
    assert!(passed.len() as f64 >= least, "only {} passed in {windows} windows", passed.len());
    (passed.len(), windows)
}

/// Counters of windows that lie side by side would let nearly twice as many pass around their borders.
fn who_saves_calls_for_the_end_of_a_window(replicas: &[Replica]) {
    let first = one_call(&replicas[0], "saved").unwrap();
    let mut passed = vec![first];
    // The end of the first window after that call, and the end of the next.
    for share in [0.85, 1.8] {
        let at = first.1 + LONG_WINDOW.mul_f64(share);
        thread::sleep(at.saturating_duration_since(Instant::now()));
        passed.extend((0..2 * MOST).filter_map(|number| one_call(&replicas[number % 3], "saved").ok()));
    }
    assert!(most_in_a_window(&passed, LONG_WINDOW) <= MOST, "{passed:?}");
    assert!(passed.len() >= MOST, "{passed:?}");
    // Who is told to wait finds room then, at every replica.
    let mut asked = replicas.iter().cycle().take(10 * MOST);
    let wait = asked.find_map(|replica| one_call(replica, "saved").err()).expect("the limit is reached");
    assert!(wait > Duration::ZERO && wait <= LONG_WINDOW, "{wait:?}");
    thread::sleep(wait);
    one_call(&replicas[1], "saved").unwrap();
}

/// The calls that passed.
fn calls_until(replica: &Replica, end: Instant) -> Vec<Passed> {
    let mut passed = Vec::new();
    while Instant::now() < end {
        passed.extend(one_call(replica, "limited").ok());
    }
    passed
}

/// A call, or how long its caller is told to wait.
fn one_call(replica: &Replica, tool: &str) -> Result<Passed, Duration> {
    let sent = Instant::now();
    let reply = replica.server.post(&path(tool), "", &json!({ "params": {} }));
    if reply.status == 200 {
        return Ok((sent, Instant::now()));
    }
    assert_eq!(reply.status, 429, "{reply:?}");
    Err(Duration::from_millis(reply.json["error"]["retryAfter"].as_u64().unwrap()))
}

#[test]
fn redis_is_reached_by_tls_with_a_password_and_a_client_certificate_and_no_secret_is_shown() {
    let home = TestHome::new();
    let folder = home.path("certificates");
    std::fs::create_dir(&folder).unwrap();
    let authority = Authority(&folder);
    authority.begin();
    authority.sign("localhost", "subjectAltName = DNS:localhost");
    authority.sign("toolroom", "extendedKeyUsage = clientAuth");
    let file = |name: &str| authority.found(name).display().to_string();
    let redis = RedisServer::start_with(|port| {
        let options = format!(
            "--port 0 --tls-port {port} --tls-cert-file {} --tls-key-file {} --tls-ca-cert-file {} \
             --tls-auth-clients yes --user ada on >pass@w0rd ~toolroom:* +@all",
            file("localhost.pem"),
            file("localhost.key"),
            file("ca.pem")
        );
        options.split(' ').map(str::to_owned).collect()
    });
    let (cluster, port) = (Cluster::start(), redis.port);
    let (ca, certificate, key) = (file("ca.pem"), file("toolroom.pem"), file("toolroom.key"));
    let files = format!("sslrootcert={ca}&sslcert={certificate}&sslkey={key}");
    for (login, query, why) in [
        ("ada:pass%40w0rd", files.clone(), None),
        ("ada:other%40w0rd", files.clone(), Some("WRONGPASS")),
        ("ada:pass%40w0rd", format!("sslcert={certificate}&sslkey={key}"), Some("UnknownIssuer")),
        ("ada:pass%40w0rd", format!("sslrootcert={}", file("none.pem")), Some("sslrootcert")),
    ] {
        let (home, log) = (TestHome::new(), home.path("log"));
        write_script(
            &home,
            "limited",
            NOTHING,
            json!({ "rateLimit": { "maxCalls": 2, "windowMs": 60_000 } }),
        );
        let url = format!("rediss://{login}@localhost:{port}/0?{query}");
        let mut command = home.command(&serve(&cluster.url()));
        command.env("TOOLROOM_REDIS", &url);
        let log_file = std::fs::File::create(&log).unwrap();
        let server = Served::start_with(command, Stdio::from(log_file));
        let replica = Replica { home, server };
        assert_eq!(limits_check(&replica), (200, why.is_none()), "{query}");
        replica.call("limited", &json!({}));
        let told = std::fs::read_to_string(&log).unwrap();
        assert!(why.is_none_or(|why| told.contains(why)), "{query}: {told}");
        let settings = "GET /api/v1/settings HTTP/1.1\r\nConnection: close\r\n\r\n";
        let shown = Reply::over_socket(&replica.home, settings).body;
        assert!(shown.contains(&format!("rediss://localhost:{port}/0")), "{shown}");
        for text in [told, shown] {
            assert!(!text.contains("w0rd"), "{text}");
        }
    }
}

#[test]
fn redis_is_for_servers_that_share_a_database_and_its_address_is_checked() {
    let home = TestHome::new();
    let database = ["--database", "postgres://nobody@127.0.0.1:1/none"];
    for (more, why) in [
        (&["--redis", "redis://cache"][..], "--shared"),
        (&["--shared", "--redis", "http://secret@cache"], "redis://"),
        (&["--shared", "--redis", "redis://secret@cache:port"], "redis://user:password@host"),
        (&["--shared", "--redis", "redis://secret@cache?sslrootcert=/ca.pem"], "rediss://"),
    ] {
        let refused = home.run(&[&["serve", "--listen", "127.0.0.1:0"], &database[..], more].concat());
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.err.contains(why) && !refused.err.contains("secret"), "{refused:?}");
    }
}
