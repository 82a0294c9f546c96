//! Secrets at rest: sealed, with a key apart, and nothing without it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::test_home::{Done, TestHome};

const VALUE: &str = "sup3r-s3cret-v4lue";
const SCRIPT: &str = "import os\nfrom toolroom import tool\n@tool(env={'KEY': 'secret:MY_KEY'})\n\
                      def tell_length() -> int:\n    \"\"\"Tells the length of the key. Use it for tests. Returns it.\"\"\"\n    \
                      return len(os.environ['KEY'])\n";

impl TestHome {
    fn set_secret(&self, name: &str, value: &str) -> Done {
        let mut command = self.command(&["secrets", "set", name]);
        typed(&mut command, value)
    }

    fn in_home(&self, file: &str) -> std::path::PathBuf {
        self.home().join(file)
    }

    fn with_script(self) -> Self {
        let file = self.file("tell_length.py", SCRIPT);
        assert_eq!(self.did(&["tools", "add", &file]).code, 0);
        self
    }

    /// The refusal of a call that needs the secret.
    fn refused(&self) -> String {
        let answer = self.calls("tell_length", json!({}));
        assert_eq!(answer["error"]["code"], "not_configured", "{answer}");
        let message = answer["error"]["message"].as_str().unwrap().to_owned();
        assert!(!message.contains(self.home().to_str().unwrap()), "a path: {message}");
        message
    }
}

pub fn typed(command: &mut Command, value: &str) -> Done {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(value.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Done {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn promise_a_secret_is_sealed_and_its_key_stands_apart() {
    let home = TestHome::new().with_script();
    assert_eq!(home.set_secret("MY_KEY", VALUE).code, 0);
    let (file, key) = (home.in_home("secrets.json"), home.in_home("secrets.key"));
    for path in [&file, &key] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!fs::read_to_string(path).unwrap().contains(VALUE));
    }
    let kept: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert!(kept["sealed"]["MY_KEY"].is_string(), "{kept}");
    assert_eq!(home.calls("tell_length", json!({}))["data"], VALUE.len());
    // A value stays with its name, and nobody changes it unseen.
    let mut moved = kept.clone();
    moved["sealed"]["OTHER"] = kept["sealed"]["MY_KEY"].clone();
    moved["sealed"]["MY_KEY"] = json!("AAAA");
    fs::write(&file, moved.to_string()).unwrap();
    assert!(home.refused().contains("is not the key that 'MY_KEY' was sealed with"));
    fs::write(&file, kept.to_string()).unwrap();
    assert_eq!(home.calls("tell_length", json!({}))["data"], VALUE.len());
    let doctor = home.did(&["doctor"]);
    assert!(doctor.out.contains("1 sealed"), "{doctor:?}");
}

#[test]
fn promise_without_the_right_key_secrets_stay_closed_and_the_error_says_what_to_do() {
    let home = TestHome::new().with_script();
    assert_eq!(home.set_secret("MY_KEY", VALUE).code, 0);
    assert_eq!(home.set_secret("SECOND", "other").code, 0);
    let key = home.in_home("secrets.key");
    let right = fs::read(&key).unwrap();
    let before = fs::read(home.in_home("secrets.json")).unwrap();
    let stays_closed = |told: &str| {
        assert!(home.refused().contains(told), "{told}");
        let set = home.set_secret("MY_KEY", "new");
        assert!(set.code == 1 && set.err.contains(told), "{told}: {set:?}");
        assert_eq!(fs::read(home.in_home("secrets.json")).unwrap(), before);
        let doctor = home.did(&["doctor"]);
        assert!(doctor.code == 1 && doctor.out.contains(told), "{told}: {doctor:?}");
    };
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    stays_closed("others can read secrets.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&key, "0".repeat(64)).unwrap();
    stays_closed("restore that key");
    fs::write(&key, "not a key").unwrap();
    stays_closed("64 hexadecimal digits");
    fs::remove_file(&key).unwrap();
    stays_closed("restore secrets.key");
    assert!(!key.exists(), "no key is made over sealed secrets");
    // Names can be seen and removed without it: that is the way out when it is lost.
    assert_eq!(home.did(&["secrets", "list"]).out, "MY_KEY\nSECOND\n");
    assert_eq!(home.did(&["secrets", "remove", "SECOND"]).code, 0);
    assert_eq!(home.set_secret("MY_KEY", "anew").code, 0);
    assert_eq!(home.calls("tell_length", json!({}))["data"], 4);
    assert_ne!(fs::read(&key).unwrap(), right);
}

#[test]
fn promise_the_key_may_come_from_the_environment_and_is_then_not_in_the_home() {
    let home = TestHome::new().with_script();
    let with_key = |arguments: &[&str], key: &str| {
        let mut command = home.author(arguments);
        command.env("TOOLROOM_SEAL_KEY", key);
        command
    };
    let right = "0123456789abcdef".repeat(4);
    assert_eq!(typed(&mut with_key(&["secrets", "set", "MY_KEY"], &right), VALUE).code, 0);
    assert!(!home.in_home("secrets.key").exists());
    let called = |key: &str| Done::of(with_key(&["call", "tell_length", "--json"], key));
    let answer: Value = serde_json::from_str(&called(&right).out).unwrap();
    assert_eq!(answer["data"], VALUE.len(), "{answer}");
    assert!(called(&"f".repeat(64)).out.contains("TOOLROOM_SEAL_KEY is not the key"));
    assert!(called("short").out.contains("openssl rand -hex 32"));
    assert!(home.refused().contains("set TOOLROOM_SEAL_KEY"));
}

#[test]
fn promise_secrets_of_an_older_version_are_sealed_at_the_next_start() {
    let home = TestHome::new().with_script();
    let plain = json!({ "MY_KEY": VALUE, "sealed": "a name like any other" }).to_string();
    let file = home.in_home("secrets.json");
    fs::write(&file, &plain).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let served = home.serve();
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains(VALUE) && text.contains("MY_KEY"), "{text}");
    assert_eq!(fs::metadata(home.in_home("secrets.key")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(home.calls("tell_length", json!({}))["data"], VALUE.len());
    drop(served);
    // In a scratch home, too: its key would be gone with it.
    fs::write(&file, &plain).unwrap();
    fs::remove_file(home.in_home("secrets.key")).unwrap();
    let tried = home.did(&["dev", home.path("tell_length.py").to_str().unwrap(), "--once"]);
    assert!(tried.out.contains("tell_length 0.1.0"), "{tried:?}");
    assert_eq!(home.calls("tell_length", json!({}))["data"], VALUE.len());
    assert_eq!(home.did(&["secrets", "list"]).out, "MY_KEY\nsealed\n");
}

#[test]
fn promise_secrets_that_are_set_at_the_same_time_are_all_kept() {
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    std::thread::scope(|scope| {
        for at in 0..8 {
            let home = &home;
            scope.spawn(move || assert_eq!(home.set_secret(&format!("KEY_{at}"), VALUE).code, 0));
        }
    });
    assert_eq!(home.json(&["secrets", "list"])["secrets"].as_array().unwrap().len(), 8);
    assert!(home.did(&["doctor"]).out.contains("8 sealed"));
}
