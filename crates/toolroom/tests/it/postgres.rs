//! PostgreSQL as others run it: with TLS, with client certificates, and asked no more than is needed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::promises::cluster::Cluster;
use crate::test_home::{Done, Served, TestHome, until};

/// Certificates of a CA, made by openssl in a folder.
pub struct Authority<'a>(pub &'a Path);

impl Authority<'_> {
    pub fn found(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn openssl(&self, arguments: &str) {
        let mut openssl = Command::new("openssl");
        openssl.current_dir(self.0).args(arguments.split(' ')).stdin(Stdio::null());
        let done = openssl.output().expect("openssl is there");
        assert!(done.status.success(), "{arguments}: {}", String::from_utf8_lossy(&done.stderr));
    }

    pub fn begin(&self) {
        let config = "[req]\ndistinguished_name = dn\nx509_extensions = ca\n[dn]\n[ca]\n\
                      basicConstraints = critical, CA:TRUE\nsubjectKeyIdentifier = hash\n";
        std::fs::write(self.found("ca.cnf"), config).unwrap();
        for name in ["ca", "other"] {
            self.openssl(&format!(
                "req -x509 -config ca.cnf -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
                 -keyout {name}.key -out {name}.pem -subj /CN={name}"
            ));
        }
    }

    pub fn sign(&self, name: &str, extensions: &str) {
        std::fs::write(self.found("extensions"), extensions).unwrap();
        self.openssl(&format!(
            "req -new -config ca.cnf -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
             -keyout {name}.key -out {name}.csr -subj /CN={name}"
        ));
        self.openssl(&format!(
            "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out {name}.pem \
             -extfile extensions"
        ));
    }
}

#[test]
fn a_database_with_tls_is_reached_and_checked_as_sslmode_says() {
    let home = TestHome::new();
    let folder = home.path("certificates");
    std::fs::create_dir(&folder).unwrap();
    let authority = Authority(&folder);
    authority.begin();
    authority.sign("localhost", "subjectAltName = DNS:localhost");
    authority.sign("postgres", "extendedKeyUsage = clientAuth");
    let cluster = Cluster::start_with(|cluster| {
        let copy =
            |name: &str| cluster.append(name, &std::fs::read_to_string(authority.found(name)).unwrap());
        let (certificate, key, ca) = (copy("localhost.pem"), copy("localhost.key"), copy("ca.pem"));
        cluster.append(
            "postgresql.conf",
            &format!(
                "ssl = on\nssl_cert_file = '{}'\nssl_key_file = '{}'\nssl_ca_file = '{}'\n",
                certificate.display(),
                key.display(),
                ca.display()
            ),
        );
        std::fs::remove_file(cluster.data().join("pg_hba.conf")).unwrap();
        let rules = "hostssl all postgres 127.0.0.1/32 cert\nhostssl all anna 127.0.0.1/32 scram-sha-256\n";
        cluster.append("pg_hba.conf", rules);
        cluster.run_alone("CREATE ROLE anna LOGIN PASSWORD 'secret'\nCREATE DATABASE anna OWNER anna\n");
    });
    let port = cluster.port();
    let call = |who: &str, host: &str, query: &str| -> Done {
        let url = format!("postgres://{who}@{host}:{port}/{}{query}", who.split(':').next().unwrap());
        home.run(&["call", "list-tasks", "--database", &url])
    };
    let anna = "anna:secret";
    let file = |name: &str| authority.found(name).display().to_string();
    let (ca, other) = (file("ca.pem"), file("other.pem"));
    for (host, query) in [
        ("127.0.0.1", ""),
        ("127.0.0.1", "?sslmode=prefer"),
        ("127.0.0.1", "?sslmode=require"),
        ("127.0.0.1", "?sslmode=require&channel_binding=require"),
        ("localhost", &*format!("?sslmode=verify-full&sslrootcert={ca}")),
        ("localhost", &*format!("?sslrootcert={}&sslmode=verify-full", ca.replace('/', "%2F"))),
        ("127.0.0.1", &*format!("?sslmode=verify-ca&sslrootcert={ca}&connect_timeout=3")),
    ] {
        let done = call(anna, host, query);
        assert_eq!(done.code, 0, "{host} {query}: {done:?}");
    }
    for (host, query, why) in [
        ("127.0.0.1", "?sslmode=disable", "no encryption"),
        ("127.0.0.1", &*format!("?sslmode=verify-full&sslrootcert={ca}"), "not valid for name"),
        ("localhost", "?sslmode=verify-full", "UnknownIssuer"),
        ("localhost", "?sslmode=verify-full&sslrootcert=system", "UnknownIssuer"),
        ("localhost", &*format!("?sslmode=verify-full&sslrootcert={other}"), "certificate"),
        ("localhost", &*format!("?sslmode=require&sslrootcert={other}"), "certificate"),
        ("localhost", "?sslmode=verify-full&sslrootcert=/none/ca.pem", "sslrootcert /none/ca.pem"),
        ("localhost", "?sslmode=verify-full&sslrootcert=ca.pem", "from the root"),
        ("localhost", "?sslrootcert=/none/ca.pem", "sslmode=verify-full"),
        ("localhost", "?sslmode=always", "sslmode is disable"),
        ("localhost", "?sslmode=require&sslcert=/none/x.pem", "belong together"),
    ] {
        let done = call(anna, host, query);
        assert!(done.code != 0 && done.err.contains(why), "{host} {query}: {done:?}");
        assert!(!done.err.contains("secret"), "{done:?}");
    }
    let full = format!("?sslmode=verify-full&sslrootcert={ca}");
    let refused = call("postgres", "localhost", &full);
    assert!(refused.code != 0 && refused.err.contains("client certificate"), "{refused:?}");
    let shown = format!("{full}&sslcert={}&sslkey={}", file("postgres.pem"), file("postgres.key"));
    let done = call("postgres", "localhost", &shown);
    assert_eq!(done.code, 0, "{done:?}");
}

/// The statements that the server has logged so far.
fn statements(cluster: &Cluster) -> Vec<String> {
    let log = std::fs::read_to_string(cluster.data().join("log/statements.log")).unwrap_or_default();
    let made = |line: &str| line.contains("execute ") || line.contains("statement: ");
    log.lines().filter(|line| made(line)).map(str::to_owned).collect()
}

#[test]
fn a_short_read_is_one_statement_and_a_longer_one_sees_one_state() {
    let cluster = Cluster::start_with(|cluster| {
        let log = "log_statement = 'all'\nlogging_collector = on\nlog_filename = 'statements.log'\n";
        cluster.append("postgresql.conf", log);
    });
    let home = TestHome::new();
    let url = cluster.url();
    let server = Served::start(home.command(&["serve", "--listen", "127.0.0.1:0", "--database", &url]));
    let count = |part: &str| statements(&cluster).iter().filter(|line| line.contains(part)).count();
    let (look, snapshot) = ("EXISTS (SELECT 1 FROM users)", "ISOLATION LEVEL REPEATABLE READ");
    assert_eq!(server.get("/readyz", "").status, 200);
    until("the log is written", || (count(look) > 0).then_some(()));
    let before = (count(look), count(snapshot));
    for _ in 0..10 {
        assert_eq!(server.get("/readyz", "").status, 200);
    }
    until("the log is written", || (count(look) >= before.0 + 10).then_some(()));
    assert_eq!((count(look), count(snapshot)), (before.0 + 10, before.1), "{:#?}", statements(&cluster));
}

/// A server on a home of its own, with a script that waits until a file is there.
fn slow_server(home: &TestHome, url: &str, gate: &Path) -> Served {
    let script = format!(
        "import os, time\ndef run(params, context):\n    open({started:?}, 'a').write('x')\n    \
         while not os.path.exists({gate:?}):\n        time.sleep(0.02)\n    return {{'done': True}}\n",
        started = gate.with_extension("started").display().to_string(),
        gate = gate.display().to_string(),
    );
    home.write_tool("slow", &script, json!({}));
    Served::start(home.command(&["serve", "--listen", "127.0.0.1:0", "--database", url]))
}

#[test]
fn a_claim_of_a_live_process_is_in_progress_and_only_a_dead_ones_is_unknown() {
    let cluster = Cluster::start();
    let (one, two) = (TestHome::new(), TestHome::new());
    let gate = one.path("gate");
    let first = slow_server(&one, &cluster.url(), &gate);
    let second = slow_server(&two, &cluster.url(), &gate);
    let headers = "Idempotency-Key: k1\r\n";
    let address = first.address;
    let running = std::thread::spawn(move || {
        let request = crate::test_home::post("/api/v1/tools/slow/call", headers, &json!({}));
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        // It is killed before it answers.
        let _ = std::io::Read::read_to_end(&mut stream, &mut Vec::new());
    });
    until("the script runs", || gate.with_extension("started").exists().then_some(()));
    let asked = || second.post("/api/v1/tools/slow/call", headers, &json!({})).json["error"].clone();
    let told = asked();
    assert_eq!((&told["code"], &told["outcome"]), (&json!("in_progress"), &json!(null)), "{told}");
    first.signal("-KILL");
    first.wait();
    running.join().unwrap();
    // The next process in the same home knows that the last one is gone; others would wait for its lease.
    let _again =
        Served::start(one.command(&["serve", "--listen", "127.0.0.1:0", "--database", &cluster.url()]));
    let told = asked();
    assert_eq!(told["outcome"], "unknown", "{told}");
    std::fs::write(&gate, "").unwrap();
}
