//! Homes of others: what is in a home is run as whoever uses it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::test_home::{Done, Served, TestHome};

/// A project whose `.toolroom` somebody put there: its server leaves a trace when it is started.
struct Project {
    home: TestHome,
    trace: PathBuf,
}

impl Project {
    fn new() -> Self {
        let home = TestHome::new();
        assert_eq!(home.run(&["init"]).code, 0);
        let trace = home.path("started");
        let server = json!({ "command": "touch", "args": [trace] });
        fs::write(home.home().join("mcp.json"), json!({ "mcpServers": { "bad": server } }).to_string())
            .unwrap();
        fs::create_dir(home.path("project")).unwrap();
        fs::create_dir(home.path("user")).unwrap();
        fs::rename(home.home(), home.path("project/.toolroom")).unwrap();
        Self { home, trace }
    }

    fn home(&self) -> PathBuf {
        self.home.path("project/.toolroom")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(arguments);
        command.env_remove("TOOLROOM_HOME").env_remove("XDG_STATE_HOME");
        command.env("HOME", self.home.path("user")).current_dir(self.home.path("project"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Done {
        Done::of(self.command(arguments))
    }
}

#[test]
fn a_home_in_the_working_folder_that_this_user_did_not_make_is_used_only_after_a_yes() {
    let project = Project::new();
    for arguments in [&["tools", "list"][..], &["call", "get-status"], &["mcp"], &["check"], &["doctor"]] {
        let done = project.run(arguments);
        assert_eq!(done.code, 1, "{arguments:?}: {done:?}");
        assert!(done.err.contains("you did not create") && done.err.contains("--trust-home"), "{done:?}");
    }
    assert!(!project.home().join("toolroom.db").exists(), "nothing was done in it");
    let agreed = project.run(&["tools", "list", "--trust-home"]);
    assert_eq!(agreed.code, 0, "{agreed:?}");
    assert_eq!(project.run(&["tools", "list"]).code, 0, "it is asked about once");
    assert!(!project.trace.exists(), "and looking starts no server");

    // Another folder in its place is another home.
    fs::rename(project.home(), project.home.path("project/old")).unwrap();
    copy(&project.home.path("project/old"), &project.home());
    assert_eq!(project.run(&["tools", "list"]).code, 1);
}

fn copy(from: &Path, to: &Path) {
    let done = Command::new("cp").arg("-a").args([from, to]).status().unwrap();
    assert!(done.success());
}

#[test]
fn a_home_that_this_user_made_in_the_working_folder_is_not_asked_about() {
    let project = Project::new();
    fs::remove_dir_all(project.home()).unwrap();
    assert_eq!(project.run(&["init", "--home", "./.toolroom"]).code, 0);
    assert_eq!(project.run(&["tools", "list"]).code, 0);
    // A folder that is named was chosen.
    let other = Project::new();
    assert_eq!(other.run(&["tools", "list", "--home", "./.toolroom"]).code, 0);
}

#[test]
fn a_home_that_others_own_or_can_write_is_refused_with_the_remedy() {
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    let mode = |name: &str, mode: u32| {
        fs::set_permissions(home.home().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    let refused = |name: &str, words: &str| {
        for arguments in [&["tools", "list"][..], &["serve", "--listen", "127.0.0.1:0"], &["keys", "list"]] {
            let done = home.run(arguments);
            assert_eq!(done.code, 1, "{name}: {done:?}");
            assert!(done.err.contains(words) && done.err.contains("hint: "), "{name}: {done:?}");
        }
    };
    for open in [0o777, 0o770, 0o702] {
        mode("", open);
        refused("the home", "other users can write");
    }
    mode("", 0o755);
    assert_eq!(home.run(&["tools", "list"]).code, 0, "others may look into it");
    for (name, open, usual) in
        [("mcp.json", 0o666, 0o600), ("tools/tools.json", 0o620, 0o600), ("tools", 0o777, 0o700)]
    {
        mode(name, open);
        refused(name, "other users can write");
        mode(name, usual);
    }
    // Only the system's administrator can give files away.
    if chown(home.home().join("mcp.json"), Some(65_534), None).is_ok() {
        refused("mcp.json", "belongs to another user");
        chown(home.home(), Some(65_534), None).unwrap();
        refused("the home", "belongs to another user");
    }
}

#[test]
fn no_command_that_only_reads_starts_a_server() {
    let project = Project::new();
    let home = project.home();
    let home = home.to_str().unwrap();
    for arguments in [
        &["tools", "list"][..],
        &["tools", "search", "task"],
        &["tools", "show", "create-task"],
        &["servers", "list"],
        &["servers", "show", "bad"],
        &["check"],
        &["logs"],
        &["keys", "list"],
        &["approvals", "list"],
        &["doctor"],
    ] {
        let done = project.run(&[arguments, &["--home", home]].concat());
        assert!(!project.trace.exists(), "{arguments:?} started a server: {done:?}");
        assert!(done.code == 0 || arguments == ["doctor"], "{arguments:?}: {done:?}");
    }
    let listed = project.run(&["tools", "list", "--home", home]);
    assert!(listed.err.contains("not started yet: bad"), "{listed:?}");
    project.run(&["servers", "show", "bad", "--start", "--home", home]);
    assert!(project.trace.exists(), "who asks for it gets it");
}

#[test]
fn serve_tells_of_a_home_that_others_can_read() {
    use std::io::Read;
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    fs::set_permissions(home.home(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut server =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(server.stdout.take().unwrap()), &mut line)
        .unwrap();
    assert!(line.starts_with("listening"), "{line}");
    server.kill().unwrap();
    let mut said = String::new();
    server.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    server.wait().unwrap();
    assert!(said.contains("other users can read") && said.contains("chmod 700"), "{said}");
}

#[test]
fn keyless_access_does_not_come_back_with_an_emptied_database() {
    let home = TestHome::new();
    home.run(&["keys", "create", "--user", "ada"]).line();
    let server = home.serve();
    assert_eq!(server.get("/api/v1/tools", "").status, 401);
    drop(server);
    for name in ["toolroom.db", "toolroom.db-wal", "toolroom.db-shm"] {
        let _ = fs::remove_file(home.home().join(name));
    }
    let log = home.path("log");
    let serve = || home.command(&["serve", "--listen", "127.0.0.1:0"]);
    let server = Served::start_with(serve(), fs::File::create(&log).unwrap().into());
    assert_eq!(server.get("/api/v1/tools", "").status, 401);
    drop(server);
    let said = fs::read_to_string(&log).unwrap();
    assert!(said.contains("its database has none") && said.contains("toolroom keys create"), "{said}");
    // Keys of a version that made no mark count from the next start on.
    home.run(&["keys", "create", "--user", "ada"]).line();
    fs::remove_file(home.home().join("keyed")).unwrap();
    drop(home.serve());
    assert!(home.home().join("keyed").exists());
}

#[test]
fn what_another_user_owns_in_a_closed_home_is_refused_too() {
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    fs::set_permissions(home.home(), fs::Permissions::from_mode(0o700)).unwrap();
    let elsewhere = home.path("elsewhere.json");
    fs::rename(home.home().join("mcp.json"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, home.home().join("mcp.json")).unwrap();
    assert_eq!(home.run(&["tools", "list"]).code, 0, "a link to a file of this user's own is fine");
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o666)).unwrap();
    let done = home.run(&["tools", "list"]);
    assert!(done.code == 1 && done.err.contains("other users can write"), "{done:?}");
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o600)).unwrap();
    // Only the system's administrator can give files away.
    if std::os::unix::fs::lchown(home.home().join("mcp.json"), Some(65_534), None).is_ok() {
        let done = home.run(&["tools", "list"]);
        assert!(done.code == 1 && done.err.contains("belongs to another user"), "{done:?}");
    }
}

#[test]
fn a_script_that_others_can_write_is_not_run() {
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    let tools = home.home().join("tools");
    let kept = tools.join("say.sh");
    fs::write(&kept, "echo '\"said\"'\n").unwrap();
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o700)).unwrap();
    let entry = serde_json::json!({
        "name": "say", "description": "Says something.", "type": "local", "input_schema": { "type": "object" },
        "config": { "script_path": "say.sh" }
    });
    fs::write(tools.join("tools.json"), serde_json::json!({ "tools": [entry] }).to_string()).unwrap();
    let said = home.run(&["call", "say"]);
    assert!(said.code == 0 && said.out.contains("said"), "{said:?}");
    fs::set_permissions(home.home(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&tools, fs::Permissions::from_mode(0o755)).unwrap();
    for open in [0o777, 0o720] {
        fs::set_permissions(&kept, fs::Permissions::from_mode(open)).unwrap();
        let done = home.run(&["call", "say"]);
        assert!(done.code != 0 && done.err.contains("chmod go-w"), "{done:?}");
        assert!(!done.out.contains("said"), "{done:?}");
    }
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(home.run(&["call", "say"]).code, 0);
    // Only the system's administrator can give files away.
    if chown(&kept, Some(65_534), None).is_ok() {
        let done = home.run(&["call", "say"]);
        assert!(done.code != 0 && done.err.contains("another user"), "{done:?}");
    }
}

#[test]
fn promise_a_script_is_not_run_beside_a_module_that_others_can_write() {
    let home = TestHome::new();
    home.write_tool(
        "say-it",
        "import words\ndef run(params, context):\n    return words.text()\n",
        serde_json::json!({}),
    );
    let tools = home.home().join("tools");
    fs::create_dir(tools.join("words")).unwrap();
    let module = tools.join("words/__init__.py");
    fs::write(&module, "def text():\n    return 'said'\n").unwrap();
    fs::write(tools.join("notes.txt"), "data").unwrap();
    for (path, mode) in [(home.home(), 0o755), (tools.clone(), 0o755), (tools.join("words"), 0o755)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    fs::set_permissions(tools.join("notes.txt"), fs::Permissions::from_mode(0o666)).unwrap();
    let said = home.run(&["call", "say-it"]);
    assert!(said.code == 0 && said.out.contains("said"), "data that others can write does no harm: {said:?}");
    for (path, mode) in [(&module, 0o666), (&tools.join("words"), 0o777)] {
        let before = fs::metadata(path).unwrap().permissions();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let done = home.run(&["call", "say-it"]);
        assert!(done.code != 0 && done.err.contains("chmod go-w"), "{done:?}");
        assert!(done.err.contains(path.to_str().unwrap()), "the owner is told which: {done:?}");
        fs::set_permissions(path, before).unwrap();
    }
    assert_eq!(home.run(&["call", "say-it"]).code, 0);
    // A package that is linked there is looked at too; a link that leads in a circle holds nobody up.
    let elsewhere = home.path("elsewhere");
    fs::rename(tools.join("words"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, tools.join("words")).unwrap();
    std::os::unix::fs::symlink(&tools, elsewhere.join("circle")).unwrap();
    assert_eq!(home.run(&["call", "say-it"]).code, 0);
    fs::set_permissions(elsewhere.join("__init__.py"), fs::Permissions::from_mode(0o666)).unwrap();
    let done = home.run(&["call", "say-it"]);
    assert!(done.code != 0 && done.err.contains("chmod go-w"), "{done:?}");
}

#[test]
fn who_has_too_many_names_beside_a_script_is_told_that_they_were_not_all_checked() {
    let home = TestHome::new();
    home.write_tool("say-it", "def run(params, context):\n    return 'said'\n", serde_json::json!({}));
    for number in 0..2_100 {
        fs::write(home.home().join(format!("tools/{number}.txt")), "").unwrap();
    }
    let mut call = home.command(&["call", "say-it"]);
    call.env("TOOLROOM_LOG", "warn");
    let said = Done::of(call);
    assert!(said.code == 0 && said.out.contains("said"), "{said:?}");
    assert!(said.err.contains("more than 2000 names"), "{said:?}");
}
