//! The home: made by the first command, halted on when it is broken.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::test_home::{Done, Served, TestHome};

#[test]
fn the_first_command_makes_a_home_and_says_so_once() {
    let home = TestHome::new();
    let first = home.run(&["tools", "list"]);
    assert_eq!(first.code, 0, "{first:?}");
    assert!(first.err.contains("created a new home at"), "{first:?}");
    for name in ["toolroom.toml", "tools/tools.json", "mcp.json", "logs"] {
        assert!(home.home().join(name).exists(), "{name}");
    }
    let mode = fs::metadata(home.home()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(home.run(&["tools", "list"]).err, "");
}

#[test]
fn nothing_is_left_beside_a_new_home() {
    let home = TestHome::new();
    home.run(&["init"]);
    let beside = fs::read_dir(home.home().parent().unwrap()).unwrap().count();
    assert_eq!(beside, 1);
}

#[test]
fn an_empty_folder_becomes_a_home() {
    let home = TestHome::new();
    fs::create_dir(home.home()).unwrap();
    assert_eq!(home.json(&["init"])["made"], true);
    assert_eq!(home.json(&["init"])["made"], false);
}

#[test]
fn the_flag_counts_more_than_the_environment_and_a_local_home_more_than_that_of_the_user() {
    let home = TestHome::new();
    let other = home.path("other");
    let made = home.json(&["init", "--home", other.to_str().unwrap()]);
    assert_eq!(made["home"], other.to_str().unwrap());
    let user = home.path("user");
    fs::create_dir(&user).unwrap();
    let in_user_home = || {
        let mut command = home.command(&["init", "--json"]);
        command.env_remove("TOOLROOM_HOME").env("HOME", &user).current_dir(&user);
        let done = Done::of(command);
        serde_json::from_str::<serde_json::Value>(done.line()).unwrap()["home"].as_str().unwrap().to_owned()
    };
    assert!(in_user_home().ends_with("user/.toolroom"));
    let project = home.path("project");
    fs::create_dir_all(project.join(".toolroom")).unwrap();
    let mut command = home.command(&["init", "--json"]);
    command.env_remove("TOOLROOM_HOME").env("HOME", &user).current_dir(&project);
    assert!(Done::of(command).out.contains("project/.toolroom"));
}

#[test]
fn a_malformed_registry_halts_with_file_line_field_and_remedy() {
    let home = TestHome::new();
    home.run(&["init"]);
    let tools = home.home().join("tools/tools.json");
    fs::write(&tools, "{\n  \"tools\": [\n    {\"name\": 7}\n  ]\n}\n").unwrap();
    for verb in [&["serve", "--listen", "127.0.0.1:0"][..], &["tools", "list"], &["call", "get-status"]] {
        let done = home.run(verb);
        assert_eq!(done.code, 1, "{done:?}");
        assert!(done.err.contains("tools.json:3:"), "{done:?}");
        assert!(done.err.contains("tools[0].name"), "{done:?}");
        assert!(done.err.contains("hint: "), "{done:?}");
    }
    fs::remove_file(&tools).unwrap();
    let missing = home.run(&["tools", "list"]);
    assert_eq!(missing.code, 1);
    assert!(missing.err.contains("tools.json") && missing.err.contains("{\"tools\": []}"), "{missing:?}");
}

#[test]
fn a_malformed_mcp_json_halts_with_its_line() {
    let home = TestHome::new();
    home.run(&["init"]);
    fs::write(home.home().join("mcp.json"), "{\n\"mcpServers\": [\n").unwrap();
    let done = home.run(&["tools", "list"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("mcp.json:2:"), "{done:?}");
}

#[test]
fn an_unknown_setting_is_refused_with_its_line() {
    let home = TestHome::new();
    home.run(&["init"]);
    fs::write(home.home().join("toolroom.toml"), "[server]\ngrace = 5\nlisten_to = \"x\"\n").unwrap();
    let done = home.run(&["tools", "list"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("toolroom.toml:3: ") && done.err.contains("listen_to"), "{done:?}");
}

#[test]
fn settings_of_the_file_hold_and_flags_count_more() {
    let home = TestHome::new();
    home.run(&["init"]);
    fs::write(home.home().join("toolroom.toml"), "[database]\nurl = \"sqlite:mine.db\"\n").unwrap();
    home.run(&["call", "get-status"]);
    assert!(home.home().join("mine.db").exists());
    let other = home.path("other.db");
    home.run(&["call", "get-status", "--database", other.to_str().unwrap()]);
    assert!(other.exists());
    assert!(!home.home().join("toolroom.db").exists());
}

#[test]
fn many_first_commands_at_once_make_one_home_and_all_succeed() {
    let home = TestHome::new();
    let done: Vec<Done> = std::thread::scope(|scope| {
        let one = || home.run(&["call", "create-task", "--param", "title=Milk"]);
        let started: Vec<_> = (0..6).map(|_| scope.spawn(one)).collect();
        started.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(done.iter().all(|one| one.code == 0), "{done:?}");
    assert_eq!(done.iter().filter(|one| one.err.contains("created a new home")).count(), 1, "{done:?}");
    assert_eq!(home.json(&["call", "list-tasks"])["data"]["tasks"].as_array().unwrap().len(), 6);
}

#[test]
fn a_home_with_a_very_long_path_is_served() {
    let home = TestHome::new();
    let long = home.path(&"long-".repeat(30));
    let long = long.to_str().unwrap();
    let _server = Served::start(home.command(&["serve", "--listen", "127.0.0.1:0", "--home", long]));
    let me = home.json(&["call", "get-status", "--home", long]);
    assert_eq!(me["data"]["status"], "ok");
}

#[test]
fn empty_variables_count_as_not_set() {
    let home = TestHome::new();
    let mut command = home.command(&["init", "--json"]);
    command.env("TOOLROOM_HOME", "").env("TOOLROOM_DATABASE", "").env("HOME", home.path("user"));
    command.current_dir(home.path("."));
    assert!(Done::of(command).out.contains("user/.toolroom"));
}

#[test]
fn a_home_that_cannot_be_written_is_named_and_what_to_do() {
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    for verb in [&["call", "get-status"][..], &["serve", "--listen", "127.0.0.1:0"], &["mcp"]] {
        let wanted = home.command(verb);
        let mut command = Command::new("unshare");
        command.arg(if root { "-m" } else { "-Urm" }).args(["sh", "-ec"]);
        command
            .arg("mount --bind \"$0\" \"$0\"; mount -o remount,ro,bind \"$0\"; exec \"$@\"")
            .arg(home.home());
        command.arg(wanted.get_program()).args(wanted.get_args()).env("TOOLROOM_HOME", home.home());
        let done = Done::of(command);
        assert_eq!(done.code, 1, "{verb:?}: {done:?}");
        let told = format!("the home {} cannot be written", home.home().display());
        assert!(done.err.contains(&told) && done.err.contains("--home DIR"), "{verb:?}: {done:?}");
    }
}
