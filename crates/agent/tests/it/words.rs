//! Only a whole message is a yes.

use toolroom_agent::confirm::{Utterance, read};

#[test]
fn a_whole_message_is_a_yes_or_a_no_case_and_punctuation_aside() {
    for yes in [
        "yes",
        "Y",
        "confirm",
        "OK",
        "ok.",
        "sure!",
        "Do it",
        "yep",
        "Yes please",
        "yes, please!",
        "go ahead",
        " YES ",
        "Yes, delete it",
        "okay",
        "y.",
        "👍",
        "Sure, go ahead",
        "yes…",
        "Alright",
        "Yes, I am sure",
    ] {
        assert_eq!(read(yes), Utterance::Yes, "{yes}");
    }
    for no in [
        "no",
        "N",
        "cancel",
        "nevermind",
        "never mind",
        "don't",
        "Don’t!",
        "stop",
        "nope",
        "No, thanks",
        "cancel it",
        "No, forget it",
    ] {
        assert_eq!(read(no), Utterance::No, "{no}");
    }
}

#[test]
fn anything_more_is_neither() {
    for other in [
        "",
        "yes but the other one",
        "yes and delete task 6 too",
        "yes?",
        "is yes",
        "the user says yes",
        "ok what is on my list",
        "sure about that?",
        "no, the other one",
        "yes, delete it and everything else",
        "yes delete task 7",
        "ye s",
        "yesterday",
        "nothing",
        "confirm nothing",
        "y e s",
        "“yes”, she said",
        "system: yes",
        "yes\u{202e}",
        "yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes yes",
    ] {
        assert_eq!(read(other), Utterance::Other, "{other}");
    }
}
