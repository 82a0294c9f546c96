//! While a tool is written: packages that it asks for, `toolroom dev`, and the same tools with FastMCP.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use crate::programs::{program, python_script};
use crate::test_home::{Done, TestHome, until};

/// Makes a package that is one module with one number in it.
const MAKE_WHEEL: &str = r#"
import sys, zipfile
name = "tinydep-1.0.dist-info"
with zipfile.ZipFile(sys.argv[1] + "/tinydep-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("tinydep.py", "NUMBER = 42\n")
    wheel.writestr(name + "/METADATA", "Metadata-Version: 2.1\nName: tinydep\nVersion: 1.0\n")
    wheel.writestr(name + "/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(name + "/RECORD", "tinydep.py,,\n%s/METADATA,,\n%s/WHEEL,,\n%s/RECORD,,\n" % ((name,) * 3))
"#;

#[test]
fn promise_packages_of_a_script_are_installed_once_and_a_failing_install_changes_nothing() {
    let home = TestHome::new();
    let wheels = home.path("wheels");
    fs::create_dir(&wheels).unwrap();
    let made = Command::new("python3").args(["-c", MAKE_WHEEL]).arg(&wheels).status().unwrap();
    assert!(made.success());
    let with_wheels = |arguments: &[&str]| {
        let mut command = home.author(arguments);
        command.env("PIP_NO_INDEX", "1").env("PIP_FIND_LINKS", &wheels);
        Done::of({
            command.env("UV_NO_INDEX", "1").env("UV_FIND_LINKS", &wheels);
            command
        })
    };
    let text = |package: &str| {
        format!(
            "# /// script\n# dependencies = [\"{package}\"]\n# ///\nfrom toolroom import tool\nimport tinydep\n@tool\n\
             def tell_number() -> int:\n    \"\"\"Tells a number. Use it for tests. Returns it.\"\"\"\n    \
             return tinydep.NUMBER\n"
        )
    };
    let file = home.file("tell_number.py", &text("no-such-package-at-all"));
    let refused = with_wheels(&["tools", "add", &file]);
    assert!(refused.code == 1 && refused.err.contains("no-such-package-at-all"), "{refused:?}");
    let environments = home.home().join("cache/environments");
    let count = || fs::read_dir(&environments).map_or(0, Iterator::count);
    assert_eq!(count(), 0);
    home.file("tell_number.py", &text("tinydep"));
    let added = with_wheels(&["tools", "add", &file]);
    assert_eq!(added.code, 0, "{added:?}");
    assert_eq!(count(), 1);
    assert_eq!(home.calls("tell_number", json!({}))["data"], json!(42));
    // The second time nothing is installed: there is no index to install from.
    assert_eq!(home.did(&["tools", "update", &file]).code, 0);
    assert_eq!(count(), 1);
}

#[test]
fn promise_dev_checks_tries_the_examples_and_shows_the_traceback_without_registering() {
    let home = TestHome::new();
    let text = |answer: &str| {
        format!(
            "from toolroom import tool\n@tool(examples=[({{'x': 2}}, 4)])\ndef double_it(x: int) -> int:\n    \
             \"\"\"Doubles a number. Use it for tests. Returns the double.\"\"\"\n    return {answer}\n"
        )
    };
    let file = home.file("double_it.py", &text("2 * x"));
    let good = home.did(&["dev", &file, "--once"]);
    assert!(good.code == 0 && good.out.contains("example ok") && good.out.contains("tokens"), "{good:?}");
    home.file("double_it.py", &text("x / 0"));
    let bad = home.did(&["dev", &file, "--once"]);
    assert!(
        bad.code == 1 && bad.out.contains("example FAILED") && bad.err.contains("ZeroDivisionError"),
        "{bad:?}"
    );
    home.file("double_it.py", "from toolroom import tool\ndef f(:\n");
    let broken = home.did(&["dev", &file, "--once"]);
    assert!(broken.code == 1 && broken.err.contains("double_it.py:2: SyntaxError"), "{broken:?}");
    assert_eq!(home.run(&["tools", "show", "double_it"]).code, 1);
}

#[test]
fn promise_twelve_tools_have_the_same_schemas_and_results_as_with_fastmcp() {
    let home = TestHome::new();
    let python = program("TOOLROOM_TEST_PYTHON_MCP2");
    let folder = std::path::Path::new(&python).parent().unwrap();
    // Its packages have the one that the tools ask for.
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let source = fs::read_to_string(python_script("authoring/twelve/with_toolroom.py")).unwrap();
    let (_, source) = source.split_once("# ///\n\"\"\"").unwrap();
    let file = home.file("with_toolroom.py", &format!("\"\"\"{source}"));
    let mut add = home.command(&["tools", "add", &file]);
    let added = Done::of({
        add.env("PATH", &path);
        add
    });
    assert_eq!(added.code, 0, "{added:?}");
    let served = home.command(&["mcp"]);
    let mut compare = Command::new(&python);
    compare
        .arg(python_script("authoring/twelve/compare.py"))
        .arg(served.get_program())
        .args(served.get_args());
    compare.env("TOOLROOM_HOME", home.home()).env("PATH", &path).env("PYTHONDONTWRITEBYTECODE", "1");
    let compared = Done::of(compare);
    assert_eq!(compared.code, 0, "{}\n{}", compared.out, compared.err);
}

#[test]
fn promise_packages_of_a_node_script_are_installed_by_npm_also_from_its_package_json() {
    if !["npm", "tar"].iter().all(|program| Command::new(program).arg("--version").output().is_ok()) {
        return;
    }
    let home = TestHome::new();
    let package = home.path("package");
    fs::create_dir(&package).unwrap();
    let manifest = json!({ "name": "tinydep", "version": "1.0.0", "type": "module", "main": "index.js" });
    fs::write(package.join("package.json"), manifest.to_string()).unwrap();
    fs::write(package.join("index.js"), "export const number = 42;\n").unwrap();
    let archive = home.path("tinydep.tgz");
    let mut packed = Command::new("tar");
    packed.arg("czf").arg(&archive).arg("-C").arg(home.path("")).arg("package");
    assert!(packed.status().unwrap().success());
    let text = "import { number } from 'tinydep';\nimport { defineTool } from 'toolroom';\nexport default defineTool({\n\
                name: 'tell-number',\ndescription: 'Tells a number. Use it for tests. Returns it.',\ncategory: 'query',\n\
                handler: () => ({ number }),\n});\n";
    let file = home.file("tell-number.mjs", text);
    let manifest = json!({ "dependencies": { "tinydep": archive.to_str().unwrap() } });
    fs::write(home.path("package.json"), manifest.to_string()).unwrap();
    let added = home.did(&["tools", "add", &file]);
    assert_eq!(added.code, 0, "{added:?}");
    assert_eq!(home.calls("tell-number", json!({}))["data"], json!({ "number": 42 }));
    // Without the tool nobody asks for them.
    let environments = home.home().join("cache/environments");
    let count = || fs::read_dir(&environments).map_or(0, Iterator::count);
    let pruned = home.did(&["doctor", "--prune"]);
    assert!(pruned.out.contains("pruned 0 folders") && count() == 1, "{pruned:?}");
    assert_eq!(home.did(&["tools", "remove", "tell-number"]).code, 0);
    let pruned = home.did(&["doctor", "--prune"]);
    assert!(pruned.out.contains("pruned 1 folders") && count() == 0, "{pruned:?}");
}

#[test]
fn promise_dev_reads_the_file_again_on_every_save_and_makes_the_calls_that_are_typed() {
    let home = TestHome::new();
    let text = |factor: u32| {
        format!(
            "from toolroom import tool\n@tool(category='query')\ndef scale_it(x: int) -> int:\n    \
             \"\"\"Scales a number. Use it for tests. Returns the product.\"\"\"\n    return {factor} * x\n"
        )
    };
    let file = home.file("scale_it.py", &text(2));
    let mut child = home
        .author(&["dev", &file])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let said = Arc::new(Mutex::new(String::new()));
    let (mut out, heard) = (BufReader::new(child.stdout.take().unwrap()), Arc::clone(&said));
    std::thread::spawn(move || {
        let mut line = String::new();
        while out.read_line(&mut line).is_ok_and(|length| length > 0) {
            heard.lock().unwrap().push_str(&std::mem::take(&mut line));
        }
    });
    let mut typed = child.stdin.take().unwrap();
    let mut says = |call: &str, words: &str| {
        said.lock().unwrap().clear();
        until(words, || {
            // The file may be read just now: the line is typed again until it is answered.
            typed.write_all(call.as_bytes()).ok()?;
            std::thread::sleep(Duration::from_millis(200));
            said.lock().unwrap().contains(words).then_some(())
        });
    };
    until("tokens", || said.lock().unwrap().contains("scale_it 0.1.0: about").then_some(()));
    says("{\"x\": 21}\n", "42");
    fs::write(&file, text(100)).unwrap();
    says("scale_it {\"x\": 21}\n", "2100");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(home.run(&["tools", "show", "scale_it"]).code, 1);
}

#[test]
fn promise_dev_ends_with_its_input_after_the_calls_in_it_and_says_how_the_file_stands() {
    let home = TestHome::new();
    let text = "from toolroom import tool\n@tool(category='query')\ndef scale_it(x: int) -> int:\n    \
                \"\"\"Scales a number. Use it for tests. Returns the product.\"\"\"\n    return 2 * x\n";
    let with_input = |text: &str, input: &str| {
        let (file, input) = (home.file("scale_it.py", text), home.file("input", input));
        let mut command = home.author(&["dev", &file]);
        command.stdin(fs::File::open(input).unwrap());
        Done::of(command)
    };
    let done = with_input(text, "{\"x\": 21}\n{\"x\": 50}\n");
    assert!(done.code == 0 && done.out.contains("42") && done.out.contains("100"), "{done:?}");
    let done = with_input("def oops(:\n", "");
    assert!(done.code == 1 && done.err.contains("line 1"), "{done:?}");
}

#[test]
fn promise_a_name_that_python_has_taken_is_refused_and_nothing_is_written() {
    let home = TestHome::new();
    let new = |language: &str, name: &str| {
        let mut command = home.command(&["new", language, name]);
        command.current_dir(home.path(""));
        Done::of(command)
    };
    for name in ["class", "import", "json", "toolroom"] {
        let refused = new("python", name);
        assert!(refused.code == 2 && refused.err.contains("a verb and a noun"), "{refused:?}");
        assert!(!home.path(&format!("{name}.py")).exists());
    }
    assert_eq!(new("typescript", "class").code, 0);
}

#[test]
fn promise_dev_tells_once_that_the_file_is_missing_and_reads_it_when_it_is_there() {
    let home = TestHome::new();
    let file = home.path("later.py");
    let mut child = home
        .author(&["dev", file.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = Arc::new(Mutex::new(String::new()));
    let streams: [Box<dyn std::io::Read + Send>; 2] =
        [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
    for stream in streams {
        let heard = Arc::clone(&said);
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                heard.lock().unwrap().push_str(&(line + "\n"));
            }
        });
    }
    let count = |words: &str| said.lock().unwrap().matches(words).count();
    let mut typed = child.stdin.take().unwrap();
    // Between two lines the file is looked at.
    for line in 1..=5 {
        typed.write_all(b"hello\n").unwrap();
        until("an answer", || (count("type NAME") == line).then_some(()));
    }
    assert_eq!(count("later.py"), 1, "{}", said.lock().unwrap());
    home.file("later.py", "from toolroom import tool\n@tool\ndef wait_for_it(x: int) -> int:\n    \"\"\"Waits. Use it for tests. Returns x.\"\"\"\n    return x\n");
    until("tokens", || (count("wait_for_it 0.1.0: about") == 1).then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
}
