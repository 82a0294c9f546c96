//! Toolroom in the settings of other programs: files, forms, keys, and the programs themselves.

mod files;
mod forms;
mod keys;
mod real_clients;
mod traces;

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::test_home::{Done, TestHome};

impl TestHome {
    /// A command of a user whose own folder is a scratch folder, and who has no client installed.
    fn as_user(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        command.env("HOME", self.path("")).env("PATH", "/usr/bin:/bin").current_dir(self.path(""));
        command.env_remove("XDG_CONFIG_HOME").env_remove("CODEX_HOME").env_remove("CLAUDE_CONFIG_DIR");
        command
    }

    fn connect(&self, arguments: &[&str]) -> Done {
        Done::of(self.as_user(&[&["connect"], arguments].concat()))
    }

    fn disconnect(&self, arguments: &[&str]) -> Done {
        Done::of(self.as_user(&[&["disconnect"], arguments].concat()))
    }

    fn put_file(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn keys(&self) -> Vec<Value> {
        self.json(&["keys", "list"])["keys"].as_array().unwrap().clone()
    }
}

fn success(done: Done) -> Done {
    assert_eq!(done.code, 0, "{done:?}");
    done
}
