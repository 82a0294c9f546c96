//! Backup and restore, on both engines, while a server works: everything comes back, and nothing is given twice.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::promises::cluster::Cluster;
use crate::test_home::{Done, Reply, Served, TestHome, until};

/// A home, and the database that its commands and servers use.
struct Place {
    home: TestHome,
    database: Option<String>,
}

impl Place {
    fn on_sqlite() -> Self {
        Self { home: TestHome::new(), database: None }
    }

    fn on(url: String) -> Self {
        Self { home: TestHome::new(), database: Some(url) }
    }

    fn run(&self, arguments: &[&str]) -> Done {
        let database: Vec<&str> = self.database.iter().flat_map(|url| ["--database", url]).collect();
        self.home.run(&[arguments, &database].concat())
    }

    fn serve(&self) -> Served {
        let mut command = self.home.command(&["serve", "--listen", "127.0.0.1:0"]);
        if let Some(url) = &self.database {
            command.args(["--database", url]);
        }
        Served::start(command)
    }

    fn file(&self) -> String {
        self.home.path("home.backup").display().to_string()
    }
}

/// Two databases of one server.
fn two_on_postgres() -> (Cluster, Place, Place) {
    let cluster = Cluster::start_with(|cluster| cluster.run_alone("CREATE DATABASE second\n"));
    let first = Place::on(cluster.url());
    let second = Place::on(second_database(&cluster));
    (cluster, first, second)
}

fn second_database(cluster: &Cluster) -> String {
    cluster.url().replace(&format!("{}/postgres", cluster.port()), &format!("{}/second", cluster.port()))
}

fn ask(server: &Served, key: &str, path: &str, headers: &str, body: &Value) -> Reply {
    server.post(path, &format!("X-API-Key: {key}\r\n{headers}"), body)
}

fn titles(server: &Served, key: &str) -> Vec<String> {
    let wanted = json!({ "params": { "whole": true, "fields": ["taskId", "title"] } });
    let listed = ask(server, key, "/api/v1/tools/list-tasks/call", "", &wanted);
    let tasks = listed.json["data"]["tasks"].as_array().unwrap_or_else(|| panic!("{listed:?}")).clone();
    tasks.iter().map(|task| task["title"].as_str().unwrap().to_owned()).collect()
}

const CREATE: &str = "/api/v1/tools/create-task/call";
const DELETE: &str = "/api/v1/tools/delete-task/call";

/// Backs a serving home up and restores it elsewhere: all that people made is there, and used things stay used.
fn comes_back(from: &Place, to: &Place) {
    from.home.write_tool("greet", "def run(params, context):\n    return {'said': 'hello'}\n", json!({}));
    let profile = json!({ "profiles": { "desk": { "tools": ["create-task"] } } }).to_string();
    std::fs::write(from.home.home().join("profiles.json"), &profile).unwrap();
    let secrets = json!({ "WEATHER": "s3cret" }).to_string();
    std::fs::write(from.home.home().join("secrets.json"), &secrets).unwrap();
    let server = from.serve();
    let made = from.run(&["keys", "create", "--user", "anna", "--person", "--grant", "*"]);
    let key = made.line().to_owned();
    let made =
        ask(&server, &key, CREATE, "Idempotency-Key: k1\r\n", &json!({ "params": { "title": "Milk ☕" } }));
    let id = made.json["data"]["task"]["taskId"].as_i64().unwrap();
    // One approval that waits, and one that is decided and not used.
    let waits = |title: &str| {
        let made = ask(&server, &key, CREATE, "", &json!({ "params": { "title": title } }));
        let id = made.json["data"]["task"]["taskId"].clone();
        let asked = ask(&server, &key, DELETE, "", &json!({ "params": { "taskId": id } }));
        (id, asked.json["pending"]["id"].as_str().unwrap_or_else(|| panic!("{asked:?}")).to_owned())
    };
    let (_, open) = waits("open");
    let (decided_task, decided) = waits("decided");
    let decision = json!({ "decision": "approve" });
    assert_eq!(ask(&server, &key, &format!("/api/v1/approvals/{decided}"), "", &decision).status, 200);

    let done = from.run(&["backup", &from.file()]);
    assert_eq!(done.code, 0, "{done:?}");
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(from.file()).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    // What happens later is not in it: the approval is used, and another task is made.
    let used = json!({ "params": { "taskId": decided_task }, "context": { "approvalId": decided } });
    assert_eq!(ask(&server, &key, DELETE, "", &used).status, 200);
    ask(&server, &key, CREATE, "", &json!({ "params": { "title": "later" } }));
    drop(server);

    let done = to.run(&["restore", &from.file(), "--json"]);
    assert_eq!(done.code, 0, "{done:?}");
    let told: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!((&told["void"], &told["kept"]), (&json!(2), &json!(null)), "{told}");
    assert_eq!(std::fs::read_to_string(to.home.home().join("secrets.json")).unwrap(), secrets);
    let server = to.serve();
    let mut found = titles(&server, &key);
    found.sort();
    assert_eq!(found, ["Milk ☕", "decided", "open"]);
    let greeted = ask(&server, &key, "/api/v1/tools/greet/call", "", &json!({}));
    assert_eq!(greeted.json["data"]["said"], "hello", "{greeted:?}");
    assert_eq!(server.get("/api/v1/tools", "").status, 401, "keyless access does not come back");
    assert_eq!(std::fs::read_to_string(to.home.home().join("profiles.json")).unwrap(), profile);
    // Idempotency keys stay used.
    let again =
        ask(&server, &key, CREATE, "Idempotency-Key: k1\r\n", &json!({ "params": { "title": "Milk ☕" } }));
    assert_eq!(again.json["data"]["task"]["taskId"], id, "{again:?}");
    assert_eq!(titles(&server, &key).len(), 3);
    // Approvals are not given twice.
    let twice = ask(&server, &key, DELETE, "", &used);
    assert!(twice.status != 200, "{twice:?}");
    let decided = ask(&server, &key, &format!("/api/v1/approvals/{open}"), "", &decision);
    assert!(decided.status != 200, "{decided:?}");
    assert_eq!(titles(&server, &key).len(), 3);
    // Nor are numbers: 'later' had one.
    let next = ask(&server, &key, CREATE, "", &json!({ "params": { "title": "next" } }));
    assert!(next.json["data"]["task"]["taskId"].as_i64().unwrap() > id + 100, "{next:?}");
    let report: Value = serde_json::from_str(&to.run(&["doctor", "--json"]).out).unwrap();
    assert_eq!(report["healthy"], true, "{report}");
}

#[test]
fn a_home_on_sqlite_comes_back_and_nothing_is_given_twice() {
    comes_back(&Place::on_sqlite(), &Place::on_sqlite());
}

#[test]
fn a_home_on_postgres_comes_back_and_nothing_is_given_twice() {
    let (_cluster, first, second) = two_on_postgres();
    comes_back(&first, &second);
}

#[test]
fn a_home_moves_from_sqlite_to_postgres_and_back() {
    let (_cluster, first, second) = two_on_postgres();
    comes_back(&Place::on_sqlite(), &first);
    comes_back(&second, &Place::on_sqlite());
}

/// The last command in another home counts as a process at work until its lease has lapsed.
fn restore_when_free(place: &Place, file: &str) -> Done {
    until("the lease lapses", || {
        let done = place.run(&["restore", file, "--replace"]);
        (!done.err.contains("other processes")).then_some(done)
    })
}

/// While tasks are made two at a time, every backup has whole pairs.
fn is_of_one_moment(from: &Place, to: impl Fn() -> Place) {
    let server = from.serve();
    let (address, stop) = (server.address, Arc::new(AtomicBool::new(false)));
    let made = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..3)
        .map(|_| {
            let (stop, made) = (Arc::clone(&stop), Arc::clone(&made));
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let create = |title| json!({ "op": "create", "title": title });
                    let body = json!({ "params": { "operations": [create("a"), create("b")] } });
                    let request = crate::test_home::post("/api/v1/tools/batch-tasks/call", "", &body);
                    let done = Reply::over(std::net::TcpStream::connect(address).unwrap(), &request);
                    assert_eq!(done.status, 200, "{done:?}");
                    made.store(true, Ordering::Relaxed);
                }
            })
        })
        .collect();
    until("the first pair is there", || made.load(Ordering::Relaxed).then_some(()));
    for round in 0..3 {
        let file = from.home.path(&format!("{round}.backup")).display().to_string();
        let done = from.run(&["backup", &file]);
        assert_eq!(done.code, 0, "{done:?}");
        let to = to();
        let done = restore_when_free(&to, &file);
        assert_eq!(done.code, 0, "{done:?}");
        let listed = to.run(&["call", "list-tasks", "--param", "whole=true", "--json"]);
        let listed: Value = serde_json::from_str(&listed.out).unwrap();
        let count = listed["data"]["tasks"].as_array().unwrap().len();
        assert!(count > 0 && count.is_multiple_of(2), "{count}");
    }
    stop.store(true, Ordering::Relaxed);
    writers.into_iter().for_each(|writer| writer.join().unwrap());
}

#[test]
fn a_backup_is_of_one_moment_while_others_write() {
    is_of_one_moment(&Place::on_sqlite(), Place::on_sqlite);
    let (cluster, first, _) = two_on_postgres();
    is_of_one_moment(&first, || Place::on(second_database(&cluster)));
}

#[test]
fn a_database_file_outside_the_home_is_never_replaced() {
    let place = Place::on_sqlite();
    assert_eq!(place.run(&["init"]).code, 0);
    for (name, url) in [
        ("whole", format!("sqlite:{}", place.home.path("whole.db").display())),
        ("beside", "sqlite:../beside.db".to_owned()),
    ] {
        let settings = format!("[database]\nurl = \"{url}\"\n");
        std::fs::write(place.home.home().join("toolroom.toml"), settings).unwrap();
        assert_eq!(place.run(&["call", "create-task", "--param", "title=first"]).code, 0);
        let file = place.home.path(&format!("{name}.backup")).display().to_string();
        let done = place.run(&["backup", &file]);
        assert_eq!(done.code, 0, "{done:?}");
        assert_eq!(place.run(&["call", "create-task", "--param", "title=second"]).code, 0);
        let refused = place.run(&["restore", &file, "--replace"]);
        assert!(refused.code == 1 && refused.err.contains("outside of the home"), "{refused:?}");
        let listed = place.run(&["call", "list-tasks", "--json"]);
        let listed: Value = serde_json::from_str(&listed.out).unwrap();
        assert_eq!(listed["data"]["tasks"].as_array().unwrap().len(), 2, "{listed}");
    }
}

#[test]
fn a_home_that_is_not_empty_is_replaced_only_when_told_and_kept_beside() {
    let place = Place::on_sqlite();
    assert_eq!(place.run(&["call", "create-task", "--param", "title=before"]).code, 0);
    let mut set = place.home.command(&["secrets", "set", "WEATHER"]);
    std::fs::write(place.home.path("value"), "s3cret").unwrap();
    set.stdin(std::fs::File::open(place.home.path("value")).unwrap());
    assert_eq!(Done::of(set).code, 0);
    let key = std::fs::read(place.home.home().join("secrets.key")).unwrap();
    assert_eq!(place.run(&["backup", &place.file()]).code, 0);
    let again = place.run(&["backup", &place.file()]);
    assert!(again.code == 1 && again.err.contains("exists already"), "{again:?}");
    assert_eq!(place.run(&["call", "create-task", "--param", "title=after"]).code, 0);
    let other = Place::on_sqlite();
    let done = other.run(&["restore", &place.file()]);
    assert!(done.code == 0 && done.err.contains("secrets.key"), "{done:?}");
    assert!(!other.home.home().join("secrets.key").exists(), "sealed secrets travel without their key");
    let refused = place.run(&["restore", &place.file()]);
    assert!(refused.code == 1 && refused.err.contains("not empty"), "{refused:?}");
    let server = place.serve();
    let refused = place.run(&["restore", &place.file(), "--replace"]);
    assert!(refused.code == 1 && refused.err.contains("in use by a server"), "{refused:?}");
    drop(server);
    let done = place.run(&["restore", &place.file(), "--replace", "--json"]);
    assert_eq!(done.code, 0, "{done:?}");
    let told: Value = serde_json::from_str(&done.out).unwrap();
    assert!(Path::new(told["kept"].as_str().unwrap()).join("toolroom.db").exists(), "{told}");
    assert_eq!(
        std::fs::read(place.home.home().join("secrets.key")).unwrap(),
        key,
        "that of the same home is at hand"
    );
    let listed = place.run(&["call", "list-tasks"]).out;
    assert!(listed.contains("before") && !listed.contains("after"), "{listed}");
}

#[test]
fn a_database_with_data_is_replaced_only_when_told_and_when_nobody_uses_it() {
    let (_cluster, first, second) = two_on_postgres();
    assert_eq!(first.run(&["call", "create-task", "--param", "title=first"]).code, 0);
    assert_eq!(first.run(&["backup", &first.file()]).code, 0);
    let server = second.serve();
    let made = server.post(CREATE, "", &json!({ "params": { "title": "second" } }));
    assert_eq!(made.status, 200, "{made:?}");
    let elsewhere = Place::on(second.database.clone().unwrap());
    let refused = elsewhere.run(&["restore", &first.file(), "--replace"]);
    assert!(refused.code == 1 && refused.err.contains("other processes"), "{refused:?}");
    server.signal("-TERM");
    server.wait();
    let refused = elsewhere.run(&["restore", &first.file()]);
    assert!(refused.code == 1 && refused.err.contains("not empty"), "{refused:?}");
    assert!(!elsewhere.home.home().exists(), "nothing was changed");
    assert!(second.run(&["call", "list-tasks"]).out.contains("second"));
    drop(second);
    let done = restore_when_free(&elsewhere, &first.file());
    assert_eq!(done.code, 0, "{done:?}");
    assert!(elsewhere.run(&["call", "list-tasks"]).out.contains("first"));
}

#[test]
fn a_damaged_or_foreign_file_is_refused_and_changes_nothing() {
    let place = Place::on_sqlite();
    assert_eq!(place.run(&["call", "create-task", "--param", "title=Milk"]).code, 0);
    assert_eq!(place.run(&["backup", &place.file()]).code, 0);
    let whole = std::fs::read(place.file()).unwrap();
    let other = Place::on_sqlite();
    let refused = |what: &str, bytes: &[u8], reason: &str| {
        std::fs::write(other.file(), bytes).unwrap();
        let done = other.run(&["restore", &other.file()]);
        assert!(done.code == 1 && done.err.contains(reason), "{what}: {done:?}");
        assert!(!other.home.home().exists(), "{what}");
        let left: Vec<_> =
            std::fs::read_dir(other.home.home().parent().unwrap()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{what}: {left:?}");
    };
    for at in (200..whole.len()).step_by(whole.len() / 12) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        refused("a bit is wrong", &flipped, "damaged or not whole");
        refused("the end is missing", &whole[..at], "damaged or not whole");
    }
    refused("something follows", &[&whole[..], b"x"].concat(), "damaged or not whole");
    refused("another file", b"PK\x03\x04 not ours", "not a backup of Toolroom");
    refused("an empty file", b"", "not a backup of Toolroom");
    let head = r#"{"toolroom_backup":2,"version":"9.0.0","at":"2030-01-01T00:00:00Z"}"#;
    refused("a newer one", format!("{head}\n").as_bytes(), "newer release (9.0.0)");
    let foreign =
        head.replace(":2,", ":1,") + "\n{\"file\":{\"path\":\"../x\",\"size\":1,\"mode\":384}}\nx\n";
    refused("a file elsewhere", foreign.as_bytes(), "not a home's");
    std::fs::write(other.file(), &whole).unwrap();
    assert_eq!(other.run(&["restore", &other.file()]).code, 0);
}
