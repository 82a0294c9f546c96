//! Completion of the command line, typed at real shells.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::test_home::{Done, TestHome, until};

/// A shell: how it is started without the settings of whoever runs the tests, and what is typed at it first. `toolroom`
/// then says the words that it got.
const SHELLS: [(&str, &str); 3] = [
    (
        "bash --norc -i",
        "source <(\"$TOOLROOM\" completions bash)\ntoolroom() { printf '[%s]' \"$@\"; echo; }\n",
    ),
    (
        "zsh -f -i",
        "autoload -U compinit; compinit -D -u\nsource <(\"$TOOLROOM\" completions zsh)\n\
         toolroom() { printf '[%s]' \"$@\"; echo; }\n",
    ),
    (
        "fish --no-config -i",
        "\"$TOOLROOM\" completions fish | source\nfunction toolroom; printf '[%s]' $argv; echo; end\n",
    ),
];

impl TestHome {
    /// What is seen when these lines are typed at a shell in a terminal of its own.
    fn typed(&self, shell: &str, lines: &str) -> String {
        let typed = self.path("typed");
        fs::write(&typed, lines).unwrap();
        let mut terminal = Command::new("script");
        terminal.args(["-qec", &format!("stty cols 200; {shell}"), "/dev/null"]).current_dir(self.path(""));
        terminal.env("TOOLROOM", self.command(&[]).get_program()).env("TOOLROOM_HOME", self.home());
        terminal.env("HOME", self.path("")).env("TERM", "xterm").stdin(fs::File::open(typed).unwrap());
        Done::of(terminal).out
    }

    /// What a shell is told that asks for the last of these words.
    fn completed(&self, words: &[&str]) -> Done {
        let mut command = self.command(&[&["--", "toolroom"], words].concat());
        let at = words.len().to_string();
        command.env("COMPLETE", "bash").env("_CLAP_IFS", "\n").env("_CLAP_COMPLETE_INDEX", at);
        command.env("_CLAP_COMPLETE_COMP_TYPE", "9").env("_CLAP_COMPLETE_SPACE", "false");
        Done::of(command)
    }
}

/// What a shell puts onto the line is a word, never a command.
#[test]
fn promise_bash_zsh_and_fish_complete_by_the_script_that_is_printed_and_quote_what_they_complete() {
    let home = TestHome::new();
    home.run(&["init"]);
    for name in ["my tool.py", "ev$(touch pwned).py", "co:lon.py"] {
        fs::write(home.path(name), "").unwrap();
    }
    for (shell, first) in SHELLS {
        let seen = home.typed(
            shell,
            &format!(
                "{first}toolroom call create-\t\ntoolroom servers rem\t\ntoolroom call x --profile ass\t\n\
                 toolroom tools add my\t\ntoolroom tools add ev\t\ntoolroom tools add co\t\nexit\n"
            ),
        );
        for words in [
            "[call][create-task]",
            "[servers][remove]",
            "[call][x][--profile][assistant]",
            "[tools][add][my tool.py]",
            "[tools][add][ev$(touch pwned).py]",
            "[tools][add][co:lon.py]",
        ] {
            assert!(seen.contains(words), "{shell}: {words}: {seen}");
        }
        assert!(!home.path("pwned").exists(), "{shell}");
    }
}

/// A home on which somebody works, or whose server hangs, has no names to offer; nobody waits for them.
#[test]
fn promise_a_completion_waits_for_nobody_and_says_nothing_on_the_line() {
    let home = TestHome::new();
    let gate = home.path("gate");
    let script = "import os, time\n\ndef run(params, context):\n    while not os.path.exists(params['gate']):\n        \
                  time.sleep(0.05)\n    return {}\n";
    home.write_tool("wait-long", script, serde_json::json!({ "gate": { "type": "string" } }));
    let params = serde_json::json!({ "gate": gate }).to_string();
    let mut long = home.command(&["call", "wait-long", "--params", &params]);
    let mut long = long.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let lock = home.home().join("lock");
    until("the call has the home", || {
        fs::read_to_string(&lock).ok()?.contains(&format!("\"pid\":{}", long.id())).then_some(())
    });
    let busy = home.completed(&["call", "create-"]);
    assert!(long.try_wait().unwrap().is_none(), "the call still has the home");
    assert_eq!((busy.out.as_str(), busy.err.as_str()), ("", ""));
    fs::write(&gate, "").unwrap();
    assert!(long.wait().unwrap().success());

    let server = home.serve();
    assert!(home.completed(&["call", "create-"]).out.contains("create-task"));
    server.signal("-STOP");
    let began = Instant::now();
    let hung = home.completed(&["call", "create-"]);
    assert_eq!((hung.out.as_str(), hung.err.as_str()), ("", ""));
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

#[test]
fn shells_complete_names_from_the_home() {
    let home = TestHome::new();
    let complete = |words: &[&str]| home.completed(words).out;
    assert!(complete(&["con"]).contains("connect"), "{}", complete(&["con"]));
    assert_eq!(complete(&["call", "create-"]), "", "no home is made for a completion");
    assert!(!home.home().exists());
    home.add_server();
    let key = home.json(&["keys", "create", "--user", "ada"])["id"].to_string();
    assert!(complete(&["call", "create-"]).contains("create-task"));
    assert!(complete(&["servers", "show", "f"]).contains("files"));
    assert!(complete(&["call", "x", "--profile", "ass"]).contains("assistant"));
    assert!(complete(&["keys", "revoke", ""]).contains(&key));
    for taking_a_profile in [
        &["mcp", "--profile", "pl"][..],
        &["connect", "cursor", "--profile", "pl"],
        &["keys", "create", "--profile", "pl"],
        &["chat", "--profile", "pl"],
    ] {
        assert_eq!(complete(taking_a_profile).trim(), "plain", "{taking_a_profile:?}");
    }
    for taking_a_tool in
        [&["replay", "create-"][..], &["logs", "--tool", "create-"], &["tools", "show", "create-"]]
    {
        assert_eq!(complete(taking_a_tool).trim(), "create-task", "{taking_a_tool:?}");
    }
    let call = home.json(&["call", "create-task", "--param", "title=Milk"]);
    let execution = call["metadata"]["executionId"].as_str().unwrap();
    assert!(complete(&["logs", "show", ""]).contains(execution), "{call}");
    let talk = home.json(&["chat", "show my tasks"])["conversation_id"].as_str().unwrap().to_owned();
    assert!(complete(&["chat", "--conversation", ""]).contains(&talk));
    let other = home.path("other");
    assert_eq!(
        complete(&["--home", other.to_str().unwrap(), "call", "create-"]),
        "",
        "that home is not there"
    );
}
