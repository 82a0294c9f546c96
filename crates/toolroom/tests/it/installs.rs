//! What a script asks of the machine: packages of an index, and a version of Python.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};

use crate::test_home::{Done, TestHome};

/// An index that answers every request with this line.
fn index(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(&stream);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|length| length > 2) {
                line.clear();
            }
            let _ = (&stream).write_all(
                format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").as_bytes(),
            );
        }
    });
    format!("http://{address}")
}

/// One that nobody answers at.
fn no_index() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

fn adds(home: &TestHome, file: &str, index: &str) -> Done {
    let mut command = home.author(&["tools", "add", file]);
    let simple = format!("{index}/simple");
    command.env("PIP_INDEX_URL", &simple).env("UV_INDEX_URL", &simple).env("UV_DEFAULT_INDEX", &simple);
    command.env("PIP_RETRIES", "0").env("UV_HTTP_RETRIES", "0").env_remove("PIP_FIND_LINKS");
    command.env("npm_config_registry", index).env("npm_config_fetch_retries", "0");
    Done::of(command)
}

const NEEDS: &str = "# /// script\n# dependencies = [\"no-such-package-at-all\"]\n# ///\nfrom toolroom import tool\n@tool\n\
                     def add_one(x: int) -> int:\n    \"\"\"Adds one. Use it for tests. Returns it.\"\"\"\n    return x + 1\n";

#[test]
fn promise_an_index_that_cannot_be_reached_is_not_taken_for_a_missing_package() {
    let home = TestHome::new();
    let file = home.file("add_one.py", NEEDS);
    assert_eq!(home.run(&["init"]).code, 0);
    let before = fs::read(home.home().join("tools/tools.json")).unwrap();
    for index in [no_index(), index("503 Unavailable")] {
        let refused = adds(&home, &file, &index);
        assert!(refused.code == 1 && refused.err.contains("service_unavailable"), "{refused:?}");
        assert!(refused.err.contains("could not reach the package index"), "{refused:?}");
        assert!(refused.err.contains("Nothing was registered"), "{refused:?}");
    }
    let missing = adds(&home, &file, &index("404 Not Found"));
    assert!(missing.code == 1 && missing.err.contains("no-such-package-at-all"), "{missing:?}");
    assert!(!missing.err.contains("could not reach") && !missing.err.contains("sandbox"), "{missing:?}");
    assert_eq!(fs::read_dir(home.home().join("cache/environments")).unwrap().count(), 0);
    assert_eq!(fs::read(home.home().join("tools/tools.json")).unwrap(), before);
    assert!(!home.home().join("tools/add_one.py").exists());
}

#[test]
fn promise_npm_without_its_registry_is_not_taken_for_a_missing_package() {
    if Command::new("npm").arg("--version").output().is_err() {
        return;
    }
    let home = TestHome::new();
    let text = "// @deps no-such-package-at-all\nimport { defineTool } from 'toolroom';\nexport default defineTool({\n\
                name: 'add-one',\ndescription: 'Adds. Use it for tests. Returns it.',\nhandler: () => ({}),\n});\n";
    let file = home.file("add-one.mjs", text);
    let refused = adds(&home, &file, &no_index());
    assert!(
        refused.code == 1 && refused.err.contains("npm could not reach the package index"),
        "{refused:?}"
    );
    let missing = adds(&home, &file, &index("404 Not Found"));
    assert!(missing.code == 1 && missing.err.contains("could not be found"), "{missing:?}");
    assert!(!missing.err.contains("could not reach"), "{missing:?}");
}

#[test]
fn promise_a_script_runs_with_the_python_that_it_requires_or_is_refused() {
    let home = TestHome::new();
    let text = "# /// script\n# requires-python = \">=3.29\"\n# ///\nfrom toolroom import tool\n@tool\n\
                def add_one(x: int) -> int:\n    \"\"\"Adds one. Use it for tests. Returns it.\"\"\"\n    return x + 1\n";
    let file = home.file("add_one.py", text);
    let programs = home.path("programs");
    fs::create_dir(&programs).unwrap();
    // A Python that says it is another; where it really is, it says as well.
    let pretend = |name: &str, version: &str| {
        let real =
            Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
        let real = String::from_utf8(real.stdout).unwrap();
        let text = format!(
            "#!/bin/sh\n'{}' \"$@\" | sed -E 's/^[0-9]+\\.[0-9]+\\.[0-9]+$/{version}/'\n",
            real.trim()
        );
        fs::write(programs.join(name), text).unwrap();
        fs::set_permissions(programs.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let run = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.env("PATH", &path);
        Done::of(command)
    };
    pretend("python3", "3.7.1");
    let refused = run(&["tools", "add", &file]);
    assert!(refused.code == 1 && refused.err.contains("needs Python >=3.29"), "{refused:?}");
    assert!(refused.err.contains("3.7.1") && refused.err.contains("requires-python"), "{refused:?}");
    home.file("add_one.py", &text.replace(">=3.29", "three"));
    let odd = run(&["tools", "add", &file]);
    assert!(odd.code == 1 && odd.err.contains("requires-python is 'three'"), "{odd:?}");
    home.file("add_one.py", text);
    pretend("python3.29", "3.29.2");
    let added = run(&["tools", "add", &file]);
    assert_eq!(added.code, 0, "{added:?}");
    let call = ["call", "add_one", "--param", "x=1", "--json"];
    let answer: Value = serde_json::from_str(&run(&call).out).unwrap();
    assert_eq!(answer["data"], 2, "{answer}");
    fs::remove_file(programs.join("python3.29")).unwrap();
    let gone = run(&call);
    assert!(gone.out.contains("not_configured") && gone.out.contains("needs Python >=3.29"), "{gone:?}");
}

#[test]
fn promise_what_is_printed_to_try_a_new_tool_works() {
    let home = TestHome::new();
    let text = "from datetime import date, datetime, timedelta\nfrom typing import Annotated\nfrom uuid import UUID\n\
                from toolroom import Format, Ge, Gt, Len, tool\n@tool(category='query')\n\
                def tell(at: datetime, day: date, span: timedelta, id: UUID, mail: Annotated[str, Format('email')],\n\
                \x20        count: Annotated[int, Ge(7)], above: Annotated[float, Gt(2)], name: Annotated[str, Len(9, 12)],\n\
                \x20        days: Annotated[list[date], Len(2)], code: Annotated[str, Len(most=2)]) -> str:\n    \
                \"\"\"Tells. Use it for tests. Returns a day.\"\"\"\n    return str(day)\n";
    let file = home.file("tell.py", text);
    let added = home.did(&["tools", "add", &file]);
    assert_eq!(added.code, 0, "{added:?}");
    let (_, params) = added.out.split_once("try it: toolroom call tell --params '").unwrap();
    let params = params.split_once("'\n").unwrap().0;
    let answer = home.calls("tell", serde_json::from_str(params).unwrap());
    assert_eq!(answer["data"], json!("2026-01-31"), "{params}: {answer}");
}
