//! The way into the console, and the console itself in a real browser, on a server of its own.

use std::process::Command;

use serde_json::json;

use crate::programs::{console_file, program};
use crate::test_home::{Done, TestHome};

const NODE: &str = "TOOLROOM_TEST_NODE";

#[test]
fn a_link_is_printed_for_a_running_server_and_works_once() {
    let home = TestHome::new();
    let none = home.run(&["console"]);
    assert_eq!(none.code, 1, "{none:?}");
    assert!(none.err.contains("toolroom serve"), "{none:?}");

    let served = home.serve();
    let printed = home.run(&["console"]);
    let start = format!("http://{}/console/login#link=", served.address);
    let link = printed.line().strip_prefix(&start).unwrap_or_else(|| panic!("{printed:?}")).to_owned();
    let log_in = |link: &str| {
        let origin = "Origin: http://localhost\r\n";
        served.post("/api/v1/session", origin, &json!({ "link": link })).status
    };
    assert_eq!((log_in(&link), log_in(&link)), (201, 401));
    let told = home.json(&["console"]);
    assert!(told["url"].as_str().unwrap().starts_with(&start) && told["expires_at"].is_string(), "{told}");
}

#[test]
fn a_log_file_holds_no_link() {
    let home = TestHome::new();
    let log = home.path("log");
    let file = std::fs::File::create(&log).unwrap();
    let served = crate::test_home::Served::start_with(
        home.command(&["serve", "--listen", "127.0.0.1:0"]),
        file.into(),
    );
    home.run(&["console"]).line();
    served.signal("-TERM");
    served.wait();
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("toolroom console") && !log.contains("link="), "{log}");
}

#[test]
fn the_consoles_sources_have_no_mistake_in_their_types() {
    node(&[&console_file("node_modules/typescript/bin/tsc"), "-p", &console_file("tsconfig.json")], &[]);
}

#[test]
fn the_consoles_files_are_small_and_make_no_markup_of_strings() {
    node(&["--test", &console_file("unit/files.test.mjs"), &console_file("unit/values.test.mjs")], &[]);
}

/// Two tests for each theme: what they look at takes minutes.
fn pages(theme: &str, half: &str) {
    in_browser_with("pages", &[("CONSOLE_THEME", theme.to_owned()), ("CONSOLE_HALF", half.to_owned())]);
}

#[test]
fn promise_every_page_of_the_console_fits_and_is_accessible_in_light() {
    pages("light", "1");
}

#[test]
fn promise_every_other_page_of_the_console_fits_and_is_accessible_in_light() {
    pages("light", "2");
}

#[test]
fn promise_every_page_of_the_console_fits_and_is_accessible_in_dark() {
    pages("dark", "1");
}

#[test]
fn promise_every_other_page_of_the_console_fits_and_is_accessible_in_dark() {
    pages("dark", "2");
}

#[test]
fn promise_every_shape_of_a_schema_can_be_filled_in() {
    in_browser("forms");
}

#[test]
fn promise_the_api_is_read_and_tried_in_the_browser() {
    in_browser("docs");
}

#[test]
fn promise_a_new_user_gets_from_a_script_a_server_and_an_agent_to_a_decision() {
    in_browser("walks");
}

#[test]
fn promise_hostile_text_is_text_in_the_console() {
    in_browser("hostile");
}

#[test]
fn promise_the_console_is_used_by_keyboard_alone() {
    in_browser("keyboard");
}

#[test]
fn promise_the_main_act_of_every_page_is_done_by_keyboard_alone() {
    in_browser("keyboard_pages");
}

#[test]
fn promise_every_figure_of_the_overview_opens_exactly_its_calls() {
    in_browser("figures");
}

#[test]
fn promise_the_console_follows_what_happens() {
    in_browser("live");
}

#[test]
fn promise_a_session_is_of_no_use_to_other_pages_and_ends_with_its_key() {
    in_browser("session");
}

#[test]
fn promise_the_console_goes_on_when_the_server_comes_back() {
    in_browser("restart");
}

/// Runs a file of tests in a browser, against a server of its own.
fn in_browser(file: &str) {
    in_browser_with(file, &[]);
}

fn in_browser_with(file: &str, more: &[(&str, String)]) {
    let home = TestHome::new();
    let settings = home.home().join("toolroom.toml");
    home.run(&["init"]).line();
    let text = std::fs::read_to_string(&settings).unwrap().replace("# cards = false", "cards = true");
    std::fs::write(&settings, text).unwrap();
    let served = home.serve();
    let toolroom = assert_cmd::cargo::cargo_bin!("toolroom");
    let mut environment = vec![
        ("TOOLROOM_HOME", home.home().display().to_string()),
        ("CONSOLE_URL", format!("http://{}", served.address)),
        ("TOOLROOM", toolroom.display().to_string()),
        ("CONSOLE_LINK", format!("'{}' console", toolroom.display())),
    ];
    environment.extend_from_slice(more);
    node(&["--test", &console_file(&format!("browser/{file}.test.mjs"))], &environment);
}

fn node(arguments: &[&str], environment: &[(&str, String)]) {
    let mut command = Command::new(program(NODE));
    command.args(arguments).current_dir(console_file("."));
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    let done = Done::of(command);
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
}
