//! The command line as people and programs expect it: tables at a terminal, JSON in a pipe, names that are completed
//! and corrected, errors that can be read by either.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::test_home::{Done, TestHome, until};

impl TestHome {
    /// A server `files` in mcp.json, switched off.
    pub(crate) fn add_server(&self) {
        assert_eq!(self.run(&["init"]).code, 0);
        let servers = json!({ "mcpServers": { "files": { "command": "/bin/false", "enabled": false } } });
        fs::write(self.home().join("mcp.json"), servers.to_string()).unwrap();
    }

    /// Runs a command at a terminal of eighty columns, types each line when it is asked for, and gives what is seen.
    fn at_terminal(&self, arguments: &[&str], typed: &[&str], variables: &[(&str, &str)]) -> String {
        let mut terminal = Terminal::start(self, arguments, variables);
        for line in typed {
            terminal.wait_for("you> ");
            terminal.child.stdin.as_mut().unwrap().write_all(format!("{line}\r").as_bytes()).unwrap();
        }
        terminal.end()
    }
}

/// A command at a terminal of its own.
struct Terminal {
    child: Child,
    out: ChildStdout,
    seen: String,
    /// What was waited for before ends here.
    at: usize,
}

impl Terminal {
    fn start(home: &TestHome, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let command = home.command(arguments);
        let quoted = |word: &OsStr| format!("'{}'", word.to_str().unwrap().replace('\'', "'\\''"));
        let words: Vec<String> =
            [command.get_program()].into_iter().chain(command.get_args()).map(quoted).collect();
        let line = format!("stty cols 80 rows 40; {}", words.join(" "));
        let mut terminal = Command::new("script");
        terminal.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").env("NO_COLOR", "1");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => terminal.env(name, value),
                None => terminal.env_remove(name),
            };
        }
        terminal.envs(variables.iter().copied());
        let mut child = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        Self { child, out, seen: String::new(), at: 0 }
    }

    fn wait_for(&mut self, words: &str) {
        while !self.seen[self.at..].contains(words) {
            assert!(self.read(), "never {words:?}: {}", self.seen);
        }
        self.at += self.seen[self.at..].find(words).unwrap() + words.len();
    }

    fn read(&mut self) -> bool {
        let mut some = [0; 4096];
        let read = self.out.read(&mut some).unwrap();
        // Pieces of letters are not waited for.
        self.seen.push_str(&String::from_utf8_lossy(&some[..read]).replace('\r', ""));
        read > 0
    }

    fn end(mut self) -> String {
        while self.read() {}
        self.child.wait().unwrap();
        self.seen
    }
}

#[test]
fn tasks_and_matches_are_tables_at_a_terminal_and_json_in_a_pipe() {
    let home = TestHome::new();
    home.json(&["call", "create-task", "--param", "title=Buy milk", "--param", "priority=high"]);
    let seen = home.at_terminal(&["call", "list-tasks"], &[], &[]);
    let row = seen.lines().find(|line| line.contains("Buy milk")).unwrap_or_else(|| panic!("{seen}"));
    assert!(seen.contains("TITLE") && row.contains("high") && !seen.contains("\"tasks\""), "{seen}");
    let seen = home.at_terminal(&["call", "find-tasks", "--param", "query=milk"], &[], &[]);
    assert!(seen.contains("FITS") && seen.contains(" %"), "{seen}");
    let piped: Value = serde_json::from_str(&home.run(&["call", "list-tasks"]).out).unwrap();
    assert_eq!(piped["tasks"][0]["title"], "Buy milk");
    let asked = home.at_terminal(&["call", "list-tasks", "--json"], &[], &[]);
    assert!(asked.contains("\"tasks\""), "{asked}");
}

#[test]
fn values_of_parameters_are_read_as_the_schema_says() {
    let home = TestHome::new();
    for title in ["123", "true", "null", "1.5"] {
        let made = home.json(&["call", "create-task", "--param", &format!("title={title}")]);
        assert_eq!(made["data"]["task"]["title"], *title, "{made}");
    }
    let listed = home.json(&["call", "list-tasks", "--param", "limit=2"]);
    assert_eq!(listed["data"]["tasks"].as_array().unwrap().len(), 2);
    let made = home.json(&["call", "add_task", "--profile", "assistant", "--param", "title=42"]);
    assert!(made.to_string().contains("42"), "{made}");
    let tags = ["call", "create-task", "--param", "title=x", "--param", "tags=home", "--param", "tags=2026"];
    assert_eq!(home.json(&tags)["data"]["task"]["tags"], json!(["home", "2026"]));
    for (pair, says) in [("title=b", "given twice"), ("=3", "no name before the '='")] {
        let wrong = home.run(&["call", "create-task", "--param", "title=a", "--param", pair]);
        assert!(wrong.code == 2 && wrong.err.contains(says), "{wrong:?}");
    }
}

#[test]
fn names_that_are_nearly_right_are_corrected() {
    let home = TestHome::new();
    home.add_server();
    for (arguments, meant) in [
        (&["call", "craete-task"][..], "create-task"),
        (&["call", "add_tsk", "--profile", "assistant"], "add_task"),
        (&["call", "x", "--profile", "asistant"], "assistant"),
        (&["tools", "show", "get_staus"], "get-status"),
        (&["servers", "show", "fiels"], "files"),
        (&["servers", "remove", "fils"], "files"),
        (&["mcp", "--profile", "plian"], "plain"),
        (&["chat", "--profile", "plian", "hello"], "plain"),
        (&["keys", "create", "--user", "ada", "--profile", "plian"], "plain"),
        (&["replay", "craete-task"], "create-task"),
        (&["call", "list-tasks", "--param", "lmit=3"], "limit"),
    ] {
        let done = home.run(arguments);
        assert_eq!(done.code, 1, "{done:?}");
        assert!(done.err.contains(&format!("Did you mean '{meant}'?")), "{arguments:?}: {done:?}");
    }
    let done = home.run(&["tols", "list"]);
    assert!(done.code == 2 && done.err.contains("'tools'"), "{done:?}");
    let made = home.json(&["call", "create-task", "--param", "title=Milk"]);
    let done = home.run(&["replay", made["metadata"]["executionId"].as_str().unwrap()]);
    assert!(done.code == 1 && done.err.contains("toolroom replay create-task"), "{done:?}");
    let done = home.run(&["servers", "show", "nothing-like-it"]);
    assert!(done.err.contains("toolroom servers list"), "{done:?}");
    // A verb that is not for people is not named to them.
    for arguments in [&["engin"][..], &["engines", "--json"], &["--json"]] {
        let done = home.run(arguments);
        assert!(done.code == 2 && !done.err.replace(arguments[0], "").contains("engine"), "{done:?}");
    }
}

#[test]
fn a_home_that_is_not_there_is_an_error_for_commands_that_show_or_remove() {
    let home = TestHome::new();
    let nowhere = home.path("nowhere").to_str().unwrap().to_owned();
    for arguments in [
        &["tools", "list"][..],
        &["tools", "show", "x"],
        &["logs"],
        &["keys", "list"],
        &["servers", "list"],
        &["approvals", "list"],
        &["doctor"],
        &["check"],
        &["console"],
        &["secrets", "list"],
        &["disconnect", "cursor"],
        &["keys", "revoke", "1"],
        &["approvals", "approve", "x"],
        &["servers", "remove", "x"],
        &["tools", "remove", "x"],
    ] {
        let done = home.run(&[arguments, &["--home", &nowhere]].concat());
        assert_eq!(done.code, 2, "{arguments:?}: {done:?}");
        assert!(done.err.contains("there is no home at") && done.err.contains("toolroom init"), "{done:?}");
    }
    assert!(!home.path("nowhere").exists());
    assert_eq!(home.run(&["call", "get-status", "--home", &nowhere]).code, 0);
    // A folder with something else in it is no home either, and stays as it is.
    let (other, name) = (home.path("other"), home.path("other").to_str().unwrap().to_owned());
    std::fs::create_dir(&other).unwrap();
    for files in [0, 1] {
        let done = home.run(&["tools", "list", "--home", &name]);
        assert!(done.code == 2 && done.err.contains("there is no home at"), "{done:?}");
        assert_eq!(std::fs::read_dir(&other).unwrap().count(), files);
        std::fs::write(other.join("mine.txt"), "mine").unwrap();
    }
}

#[test]
fn what_a_newcomer_types_is_answered_with_what_does_it() {
    let home = TestHome::new();
    home.json(&["init"]);
    for (line, hint) in [
        ("list", "toolroom tools list"),
        ("run get-status", "toolroom call TOOL"),
        ("start", "toolroom serve"),
        ("call create-task title=Milk", "--param city=Oslo"),
        ("call create-task --title Milk", "--param city=Oslo"),
        ("call create-task {\"title\":\"Milk\"}", "--params '{\"city\": \"Oslo\"}'"),
    ] {
        let done = home.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!((done.code, done.out.as_str()), (2, ""), "{line}: {done:?}");
        let hints: Vec<&str> = done.err.lines().filter(|line| line.starts_with("hint: ")).collect();
        assert!(hints.len() == 1 && hints[0].contains(hint), "{line}: {done:?}");
    }
    // A verb below another is that one's matter.
    assert!(!home.run(&["keys", "add"]).err.contains("toolroom tools"));
    let missing = home.run(&["call", "create-task"]);
    assert!(missing.err.contains("its parameters: toolroom tools show create-task"), "{missing:?}");
    assert!(!missing.err.contains("next: create-task"), "said once: {missing:?}");
}

#[test]
fn errors_are_json_where_json_is_asked_for() {
    let home = TestHome::new();
    home.json(&["init"]);
    let error = |arguments: &[&str], code: i32| -> Value {
        let done = home.run(arguments);
        assert_eq!((done.code, done.out.as_str()), (code, ""), "{arguments:?}: {done:?}");
        serde_json::from_str::<Value>(&done.err).unwrap_or_else(|_| panic!("{done:?}"))["error"].clone()
    };
    let unknown = error(&["tools", "show", "nothing-like-it", "--json"], 1);
    assert_eq!(unknown["code"], "tool_not_found", "{unknown}");
    assert!(unknown["message"].is_string() && unknown["hint"].is_string(), "{unknown}");
    assert_eq!(error(&["call", "x", "--wait", "-1", "--json"], 2)["code"], "usage");
    let mistyped = error(&["tools", "lst", "--json"], 2);
    assert_eq!(
        (&mistyped["code"], &mistyped["hint"]),
        (&json!("usage"), &json!("a similar subcommand exists: 'list'."))
    );
    let incomplete = error(&["keys", "create", "--json"], 2);
    assert_eq!(incomplete["message"], "the following required arguments were not provided: --user <NAME>");
    for (line, code) in [
        ("serve --listen x", 2),
        ("mcp --profile nope", 1),
        ("chat --conversation nope hello", 1),
        ("chat --profile nope hello", 1),
        ("console", 1),
        ("connect nope", 2),
        ("call create-task --params {", 2),
        ("tools add /nope.py", 1),
        ("tools update /nope.py", 1),
        ("tools publish nope", 1),
        ("tools remove nope", 1),
        ("import openapi /nope.json", 1),
        ("new python Bad/Name", 2),
        ("replay nope", 1),
        ("secrets remove nope", 1),
        ("servers show nope", 1),
        ("servers remove nope", 1),
        ("servers approve nope", 1),
        ("servers login nope", 1),
        ("check /nope.json", 1),
        ("diff /a.json /b.json", 1),
        ("keys revoke 99", 1),
        ("keys create --user a --profile nope", 1),
        ("approvals approve nope", 1),
        ("approvals standing revoke nope", 1),
        ("logs show nope", 1),
        ("logs --since nope", 2),
        ("completions nope", 2),
    ] {
        let words: Vec<&str> = line.split(' ').chain(["--json"]).collect();
        let told = error(&words, code);
        assert!(told["message"].is_string() && told["code"].is_string(), "{line}: {told}");
    }
    let help = home.run(&["--help"]).out;
    assert!(help.contains("Exit codes: 0") && help.contains("130"), "{help}");
}

/// Remarks are for people: a program that reads stderr finds one document there, or nothing.
#[test]
fn promise_where_json_is_asked_for_stderr_has_the_error_and_nothing_else() {
    let home = TestHome::new();
    let told = |done: &Done| -> Option<Value> {
        let is_silent = done.err.is_empty();
        (!is_silent).then(|| serde_json::from_str(&done.err).unwrap_or_else(|_| panic!("{done:?}")))
    };
    // The home is made by the way.
    let first = home.run(&["call", "no-such-tool", "--json"]);
    assert_eq!((first.code, told(&first)), (1, None), "a failed call is an answer: {first:?}");
    let key = home.run(&["keys", "create", "--user", "ada", "--json"]);
    assert_eq!((key.code, told(&key)), (0, None), "{key:?}");
    let task =
        home.json(&["call", "create-task", "--param", "title=Milk"])["data"]["task"]["taskId"].to_string();
    let held =
        home.run(&["call", "delete-task", "--param", &format!("taskId={task}"), "--wait", "1", "--json"]);
    assert_eq!((held.code, told(&held)), (1, None), "{held:?}");
    let file = home.path("mcp.json").to_str().unwrap().to_owned();
    fs::write(&file, "{ \"mcpServers\": { \"toolroom\": { \"command\": \"mine\" } } }").unwrap();
    let asked = home.run(&["disconnect", "cursor", "--file", &file, "--json"]);
    assert!(asked.code == 1 && told(&asked).is_some(), "{asked:?}");
    let changed = home.run(&["secrets", "remove", "NOPE", "--json"]);
    assert!(changed.code == 1 && told(&changed).is_some(), "{changed:?}");
    // Waiting for somebody else is not told either.
    let gate = home.path("gate");
    let script = "import os, time\n\ndef run(params, context):\n    while not os.path.exists(params['gate']):\n        \
                  time.sleep(0.05)\n    return {}\n";
    home.write_tool("wait-long", script, json!({ "gate": { "type": "string" } }));
    let params = json!({ "gate": gate }).to_string();
    let mut long = home.command(&["call", "wait-long", "--params", &params]);
    let mut long = long.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the call has the home", || {
        fs::read_to_string(home.home().join("lock"))
            .ok()?
            .contains(&format!("\"pid\":{}", long.id()))
            .then_some(())
    });
    let mut person = home.command(&["tools", "show", "nope"]);
    let mut person = person.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let waiting = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| home.run(&["tools", "show", "nope", "--json"]));
        // When a person is told that there is something to wait for, the program waits too.
        let mut said = String::new();
        BufReader::new(person.stderr.take().unwrap()).read_line(&mut said).unwrap();
        assert!(said.contains("waiting for"), "{said}");
        fs::write(&gate, "").unwrap();
        waiting.join().unwrap()
    });
    assert_eq!(told(&waiting).unwrap()["error"]["code"], "tool_not_found", "{waiting:?}");
    person.wait().unwrap();
    assert!(long.wait().unwrap().success());
}

#[test]
fn a_server_elsewhere_is_asked_with_its_address_and_a_key() {
    let home = TestHome::new();
    let key = home.run(&["keys", "create", "--user", "ada", "--grant", "tasks:*"]).line().to_owned();
    let server = home.serve();
    let url = format!("http://{}", server.address);
    // Nothing of the home is used.
    let elsewhere = TestHome::new();
    let ask =
        |key: &str, arguments: &[&str]| elsewhere.run(&[&["--url", &url, "--key", key], arguments].concat());
    let made = ask(&key, &["call", "create-task", "--param", "title=from afar", "--json"]);
    assert_eq!(made.code, 0, "{made:?}");
    assert!(home.run(&["call", "list-tasks", "--user", "ada"]).out.contains("from afar"));
    assert!(ask(&key, &["tools", "list"]).out.contains("create-task"));
    let logged = ask(&key, &["logs"]);
    assert!(logged.code == 0 && logged.out.contains("create-task"), "{logged:?}");
    assert!(ask(&key, &["chat", "show my tasks"]).out.contains("from afar"));
    // A key says who calls; another user's name beside it is not ignored.
    let refused = ask(&key, &["call", "list-tasks", "--user", "ada"]);
    assert!(refused.code == 2 && refused.err.contains("--user"), "{refused:?}");
    let mut by_variable = elsewhere.command(&["--url", &url, "call", "list-tasks"]);
    assert!(
        Done::of({
            by_variable.env("TOOLROOM_KEY", &key);
            by_variable
        })
        .out
        .contains("from afar")
    );
    let refused = ask("tr_wrong", &["tools", "list"]);
    assert!(refused.code == 1 && refused.err.contains("--key KEY"), "{refused:?}");
    let local = ask(&key, &["secrets", "list"]);
    assert!(local.code == 2 && local.err.contains("works on a home of this machine"), "{local:?}");
    assert!(!elsewhere.home().exists());
    drop(server);
    let gone = ask(&key, &["tools", "list"]);
    assert!(gone.code == 1 && gone.err.contains("cannot be reached"), "{gone:?}");
    assert!(gone.err.contains("refused"), "it says why: {gone:?}");
}

#[test]
fn images_are_saved_where_nobody_named_a_folder() {
    let home = TestHome::new();
    let script = "from toolroom import Image, tool\n\n\n@tool\ndef draw() -> Image:\n    \"\"\"Draws a dot. Use it for \
                  pictures.\"\"\"\n    return Image(b'dot', mime_type='image/png')\n";
    let file = home.file("draw.py", script);
    assert_eq!(home.run(&["tools", "add", &file]).code, 0);
    fs::create_dir(home.path("tmp")).unwrap();
    let mut command = home.command(&["call", "draw"]);
    command.env("TMPDIR", home.path("tmp"));
    let done = Done::of(command);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(!done.out.contains("\"text\": \"\""), "{done:?}");
    let place = done.err.split("wrote ").nth(1).unwrap().split(" (").next().unwrap();
    assert!(place.ends_with(".png") && place.starts_with(home.path("tmp").to_str().unwrap()), "{done:?}");
    assert_eq!(fs::read(place).unwrap(), b"dot");
}

#[test]
fn the_terminal_chat_wraps_at_words_and_remembers_what_was_typed() {
    let home = TestHome::new();
    for number in 1..5 {
        let title = format!("title=a fairly long title of a task that fills a line, number {number}");
        home.json(&["call", "create-task", "--param", &title]);
    }
    let half = [("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")];
    let seen = home.at_terminal(&["chat"], &["show my tasks", "/help", "/quit"], &half);
    assert!(seen.contains("but not TOOLROOM_MODEL"), "{seen}");
    for line in seen.lines() {
        assert!(line.chars().count() <= 80 || line.contains('\u{1b}'), "{line:?} in {seen}");
    }
    assert_eq!(
        fs::read_to_string(home.home().join("chat_history")).unwrap(),
        "show my tasks\n/help\n/quit\n"
    );
    let mode = fs::metadata(home.home().join("chat_history")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn the_terminal_chat_says_when_its_model_cannot_answer_and_calls_own_tools_without_one() {
    let home = TestHome::new();
    let whole = [("OPENAI_BASE_URL", "http://127.0.0.1:1/v1"), ("TOOLROOM_MODEL", "m")];
    let seen = home.at_terminal(&["chat"], &["/quit"], &whole);
    assert!(seen.contains("The model cannot answer now: ") && seen.contains("TOOLROOM_MODEL"), "{seen}");
    let script = home.path("say_hello.py");
    let text = "from toolroom import tool\n\n@tool\ndef say_hello(name: str) -> str:\n    \"\"\"Greets a person. \
                Use it to say hello. Returns the greeting.\"\"\"\n    return 'Hello ' + name\n";
    fs::write(&script, text).unwrap();
    let added = home.run(&["tools", "add", script.to_str().unwrap()]);
    assert_eq!(added.code, 0, "{added:?}");
    let said = ["say_hello name=Ada", "call say_hello for Ada", "use say_hello with name Ada"];
    let seen = home.at_terminal(&["chat"], &[&said[..], &["/quit"]].concat(), &[]);
    assert_eq!(seen.matches("Hello Ada").count(), 3, "{seen}");
}

#[test]
fn whoever_waits_at_a_terminal_sees_what_for() {
    let home = TestHome::new();
    let go = home.path("go");
    // It answers nothing before it is let, which it is when the progress was seen.
    let script = format!("while [ ! -e {} ]; do sleep 0.05; done; exit 1", go.display());
    let adding = ["servers", "add", "slow", "--", "/bin/sh", "-c", &script];
    let mut terminal = Terminal::start(&home, &adding, &[]);
    terminal.wait_for("starting slow");
    fs::write(&go, "").unwrap();
    let seen = terminal.end();
    assert!(seen.contains("cannot be used"), "{seen}");
}
