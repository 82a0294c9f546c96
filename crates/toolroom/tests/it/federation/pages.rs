//! The page on federation: its commands are run as they are printed, with programs that are there.

use super::test_servers::{everything, settled};
use crate::documents::{commands, curl};
use crate::test_home::TestHome;

#[test]
fn the_commands_of_the_page_on_federation_work_as_printed() {
    let home = TestHome::new();
    let key = home.run(&["keys", "create", "--user", "ada", "--grant", "everything:call"]).line().to_owned();
    let served = home.serve();
    let program = everything();
    let mut ran = 0;
    for command in commands("docs/federation.md") {
        let mut text: Vec<&str> = command.iter().map(String::as_str).collect();
        if let Some(at) = text.iter().position(|word| *word == "npx") {
            // Nothing is fetched in a test.
            text.truncate(at);
            text.push(program["command"].as_str().unwrap());
            text.extend(program["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
        }
        match text.as_slice() {
            ["toolroom", verb @ ..] => {
                let done = home.run(verb);
                assert_eq!(done.code, 0, "{verb:?}: {done:?}");
                if verb.starts_with(&["servers", "add"]) {
                    settled(&home, "everything", "ready", 16);
                }
            }
            ["curl", ..] => {
                let answer = curl(&served, &command, &key);
                assert_eq!(answer.status, 200, "{command:?}: {answer:?}");
            }
            other => panic!("a command that nobody tries: {other:?}"),
        }
        ran += 1;
    }
    assert!(ran >= 8, "{ran}");
}
