//! Tools by types: from a file to governed calls, in Python and TypeScript.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::documents::page;
use crate::programs::{node_script, program, python_script};
use crate::test_home::{Done, TestHome};

const SHOP: &str = include_str!("../../../../tests/python/authoring/shop.py");
const SHOP_TS: &str = r#"
import { ToolError, defineTool } from 'toolroom';
const prices: Record<string, number> = { tea: 3.5 };
export default defineTool({
    name: 'get-price',
    description: 'Tells what an item costs. Use it when someone asks for a price. Returns the price.',
    category: 'query',
    parameters: {
        type: 'object',
        properties: { item: { type: 'string' }, size: { enum: ['small', 'large'], default: 'small' } },
        required: ['item'],
        additionalProperties: false,
    },
    handler: ({ item, size }: { item: string; size: string }) => {
        if (!(item in prices)) throw new ToolError('not_found', `No item '${item}'`);
        return { data: { price: prices[item], size }, agentHints: { reasoning: 'asked' } };
    },
});
export const fail = defineTool({
    name: 'fail',
    description: 'Fails. Use it for tests. Returns nothing.',
    handler: () => {
        throw new RangeError('too far');
    },
});
"#;

impl TestHome {
    /// A command that finds the Node of the tests.
    pub fn author(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        if let Some(node) = std::env::var_os("TOOLROOM_TEST_NODE") {
            let folder = Path::new(&node).parent().unwrap().to_owned();
            let path = std::env::var_os("PATH").unwrap_or_default();
            let path = std::iter::once(folder).chain(std::env::split_paths(&path));
            command.env("PATH", std::env::join_paths(path).unwrap());
        }
        command
    }

    pub fn did(&self, arguments: &[&str]) -> Done {
        Done::of(self.author(arguments))
    }

    /// The envelope of a call, failed or not.
    pub fn calls(&self, tool: &str, params: Value) -> Value {
        let done = self.did(&["call", tool, "--json", "--params", &params.to_string()]);
        serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"))
    }

    pub fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.path(name).to_str().unwrap().to_owned()
    }
}

#[test]
fn promise_a_python_file_of_typed_functions_is_added_checked_called_and_updated() {
    let home = TestHome::new();
    let file = home.file("shop.py", SHOP);
    let checked = home.did(&["check", &file, "--json"]);
    assert_eq!(checked.code, 0, "{checked:?}");
    let added = home.did(&["tools", "add", &file]);
    assert_eq!(added.code, 0, "{added:?}");
    for name in ["get_price", "quote-item", "find_item", "draw", "empty", "choose"] {
        assert!(added.out.contains(&format!("added {name} ")), "{added:?}");
    }
    let price = home.calls("get_price", json!({ "item": "tea" }));
    assert_eq!(price["data"], json!(3.5), "{price}");
    let refused = home.calls("get_price", json!({ "item": "rum" }));
    let error = &refused["error"];
    assert_eq!(
        (&error["code"], &error["class"], &error["message"]),
        (&json!("not_found"), &json!("business"), &json!("No item 'rum'"))
    );
    assert_eq!(
        (&error["retryAfter"], &error["data"]),
        (&json!(1500), &json!({ "known": ["coffee", "tea"] }))
    );
    let bad = home.calls("quote-item", json!({ "item": "tea", "when": "2026-01-01" }));
    assert_eq!(bad["error"]["details"][0]["pointer"], "/when", "{bad}");

    let again = home.did(&["tools", "add", &file]);
    assert!(again.code == 1 && again.err.contains("already_exists"), "{again:?}");
    let end = SHOP.find("@tool\ndef choose").unwrap();
    home.file("shop.py", &SHOP[..end].replace("\"tea\": 3.5", "\"tea\": 5.0"));
    let updated = home.did(&["tools", "update", &file]);
    assert_eq!(updated.code, 0, "{updated:?}");
    assert!(updated.out.contains("removed choose"), "{updated:?}");
    assert_eq!(home.calls("get_price", json!({ "item": "tea" }))["data"], json!(5.0));
    assert_eq!(home.run(&["tools", "show", "choose"]).code, 1);
}

#[test]
fn promise_images_and_files_come_as_content_and_are_written_by_out() {
    let home = TestHome::new();
    let file = home.file("shop.py", SHOP);
    assert_eq!(home.did(&["tools", "add", &file]).code, 0);
    let drawn = home.calls("draw", json!({ "kind": "both" }));
    let kinds: Vec<&Value> =
        drawn["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["text", "image", "resource"], "{drawn}");
    assert!(drawn["agentHints"]["reasoning"].as_str().unwrap().starts_with("asked"));
    let out = home.path("out");
    let called = home.did(&["call", "draw", "--param", "kind=both", "--out", out.to_str().unwrap()]);
    assert_eq!(called.code, 0, "{called:?}");
    assert_eq!(fs::read_to_string(out.join("t.csv")).unwrap(), "a,b");
    assert!(fs::read(out.join("2.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn promise_a_typescript_file_is_added_and_called_and_defaults_are_applied() {
    let home = TestHome::new();
    let file = home.file("shop.ts", SHOP_TS);
    let added = home.did(&["tools", "add", &file]);
    assert!(added.out.contains("added get-price ") && added.out.contains("added fail "), "{added:?}");
    let price = home.calls("get-price", json!({ "item": "tea" }));
    assert_eq!(price["data"], json!({ "price": 3.5, "size": "small" }), "{price}");
    assert!(price["agentHints"]["reasoning"].as_str().unwrap().starts_with("asked"));
    let null = home.calls("get-price", json!({ "item": "tea", "size": null }));
    assert_eq!(null["data"]["size"], "small", "{null}");
    assert_eq!(home.calls("get-price", json!({ "item": "rum" }))["error"]["code"], "not_found");
}

#[test]
fn promise_a_failing_tool_tells_its_caller_the_type_and_its_owner_the_traceback() {
    let home = TestHome::new();
    let file = home.file("shop.ts", SHOP_TS);
    assert_eq!(home.did(&["tools", "add", &file]).code, 0);
    let failed = home.calls("fail", json!({}));
    let told = failed["error"]["message"].as_str().unwrap();
    assert!(told.contains("RangeError") && !told.contains("too far"), "{failed}");
    let id = failed["metadata"]["executionId"].as_str().unwrap();
    assert!(told.contains(id), "{failed}");
    let at_once = home.did(&["call", "fail"]);
    assert!(
        at_once.code == 1 && at_once.err.contains("too far") && at_once.err.contains("shop.ts"),
        "{at_once:?}"
    );
    let shown = home.did(&["logs", "show", id]);
    assert!(
        shown.code == 0 && shown.out.contains("too far") && shown.out.contains("fail error"),
        "{shown:?}"
    );
}

#[test]
fn promise_an_effect_that_a_tool_declares_is_in_its_contract() {
    let home = TestHome::new();
    let python = "from toolroom import tool\n@tool(effect={'kind': 'send'})\ndef send_it(text: str) -> str:\n    \
                  \"\"\"Sends a text. Use it for tests. Returns it.\"\"\"\n    return text\n";
    let node = "import { defineTool } from 'toolroom';\nexport default defineTool({ name: 'send_it', description: \
                'Sends a text. Use it for tests. Returns it.', effect: { kind: 'send' }, handler: () => 'sent' });\n";
    for (name, text) in [("send_it.py", python), ("send_it.mjs", node)] {
        let file = home.file(name, text);
        let added = home.did(&["tools", "add", &file]);
        assert_eq!(added.code, 0, "{added:?}");
        assert_eq!(home.json(&["tools", "show", "send_it"])["effect"]["kind"], "send", "{name}");
        assert_eq!(home.did(&["tools", "remove", "send_it"]).code, 0);
    }
}

#[test]
fn promise_a_file_that_does_not_import_is_refused_at_add_with_file_line_and_message() {
    let home = TestHome::new();
    for (name, text, what) in [
        ("a.py", "from toolroom import tool\n\nimport nothing_like_it\n", ":3: ModuleNotFoundError"),
        (
            "b.py",
            "from toolroom import tool\n@tool\ndef f(*x):\n    \"\"\"Does.\"\"\"\n",
            ":2: DefinitionError",
        ),
        ("c.py", "from toolroom import tool\ndef f(:\n", ":2: SyntaxError"),
        ("d.ts", "import { defineTool } from 'toolroom';\nthrow new Error('no');\n", ":2: Error: no"),
    ] {
        let file = home.file(name, text);
        for verb in [&["tools", "add", &file][..], &["check", &file]] {
            let refused = home.did(verb);
            assert!(
                refused.code == 1 && refused.err.contains(&format!("{name}{what}")),
                "{name}: {refused:?}"
            );
        }
    }
    let tools = fs::read_to_string(home.home().join("tools/tools.json")).unwrap();
    assert!(!tools.contains("script_path"), "{tools}");
}

#[test]
fn promise_a_new_tool_of_each_language_is_sound_and_its_test_passes() {
    let home = TestHome::new();
    for (language, file) in
        [("python", "say_hello.py"), ("typescript", "say-hello.ts"), ("shell", "say-hello.sh")]
    {
        let folder = home.path(language);
        fs::create_dir(&folder).unwrap();
        let mut new = home.author(&["new", language, "say-hello"]);
        let made = Done::of({
            new.current_dir(&folder);
            new
        });
        assert_eq!(made.code, 0, "{made:?}");
        let file = folder.join(file);
        let added = home.did(&["tools", "add", file.to_str().unwrap()]);
        assert!(added.code == 0 && added.out.contains("added say-hello "), "{language}: {added:?}");
        let checked = home.did(&["check", file.to_str().unwrap()]);
        assert!(checked.code == 0 && !checked.out.contains("advice"), "{language}: {checked:?}");
        let call = home.calls("say-hello", json!({ "name": "Ann" }));
        match language {
            "shell" => {
                assert_eq!(home.calls("say-hello", json!({ "text": "tea" }))["data"], json!({ "letters": 3 }))
            }
            _ => assert_eq!(call["data"], json!({ "greeting": "Hello, Ann!" }), "{call}"),
        }
        assert_eq!(home.did(&["tools", "remove", "say-hello"]).code, 0);
        let tests = made.out.lines().find_map(|line| line.strip_prefix("test: ")).unwrap();
        let python = program("TOOLROOM_TEST_PYTHON");
        let node = program("TOOLROOM_TEST_NODE");
        let tests = tests.replace("python3", &python).replace("node ", &format!("{node} "));
        let mut shell = Command::new("sh");
        let tested = Done::of({
            shell.args(["-c", &tests]).current_dir(&folder);
            shell
        });
        assert_eq!(tested.code, 0, "{tests}: {tested:?}");
    }
    let refused = home.did(&["new", "python", "test-hello"]);
    assert!(refused.code != 0 && refused.err.contains("pytest"), "{refused:?}");
}

#[test]
fn promise_an_integer_over_64_bits_of_a_script_of_any_kind_is_refused_and_never_rounded() {
    let home = TestHome::new();
    let big = "1180591620717411303424";
    let header = |comment: &str| {
        format!(
            "{comment} name: tell-number\n{comment} category: query\n{comment} description: Tells a number. Use it for tests. Returns it.\n"
        )
    };
    let says = |text: &str| {
        [
            ("tell.sh", format!("{}cat > /dev/null; echo '{text}'\n", header("#"))),
            (
                "tell.py",
                format!(
                    "from toolroom import tool\n@tool(name='tell-number', category='query')\ndef tell():\n    \"\"\"Tells a number. Use it for tests. Returns it.\"\"\"\n    return {text}\n"
                ),
            ),
        ]
    };
    for (name, text) in says(&format!("{{\"a\": [1, {big}]}}")) {
        assert_eq!(home.did(&["tools", "add", &home.file(name, &text)]).code, 0, "{name}");
        let told = home.calls("tell-number", json!({}));
        assert_eq!(told["error"]["code"], "invalid_output", "{name}: {told}");
        let message = told["error"]["message"].as_str().unwrap();
        assert!(message.contains("the integer at /a/1 does not fit into 64 bits"), "{name}: {message}");
        assert_eq!(home.did(&["tools", "remove", "tell-number"]).code, 0);
    }
    for (name, text) in says("{\"a\": [-9223372036854775808, 18446744073709551615]}") {
        assert_eq!(home.did(&["tools", "add", &home.file(name, &text)]).code, 0, "{name}");
        let told = home.calls("tell-number", json!({}));
        assert_eq!(told["data"]["a"], json!([i64::MIN, u64::MAX]), "{name}: {told}");
        assert_eq!(home.did(&["tools", "remove", "tell-number"]).code, 0);
    }
}

#[test]
fn promise_a_question_of_a_tool_waits_for_the_person_and_its_answer_goes_to_the_tool() {
    let home = TestHome::new();
    let file = home.file("shop.py", SHOP);
    assert_eq!(home.did(&["tools", "add", &file]).code, 0);
    let asked = home.calls("choose", json!({ "drinks": ["tea", "water"] }));
    assert_eq!(asked["error"]["code"], "approval_required", "{asked}");
    let pending = &asked["pending"];
    assert_eq!(
        (&pending["kind"], &pending["prompt"]["message"]),
        (&json!("question"), &json!("Which?")),
        "{asked}"
    );
    let id = pending["id"].as_str().unwrap();
    let answered = home.did(&["approvals", "answer", id, "water"]);
    assert_eq!(answered.code, 0, "{answered:?}");
    let done = home.calls("choose", json!({ "drinks": ["tea", "water"] }));
    assert_eq!(done["data"], json!("water"), "{done}");
}

#[test]
fn promise_an_answer_of_a_person_fits_the_schema_that_the_tool_asked_with() {
    let home = TestHome::new();
    let text = "from toolroom import Context, tool\n@tool\ndef count_them(context: Context) -> int:\n    \
                \"\"\"Asks how many. Use it for tests. Returns it.\"\"\"\n    \
                schema = {'type': 'object', 'properties': {'n': {'type': 'integer'}}, 'required': ['n']}\n    \
                return context.ask('How many?', schema=schema)['n']\n";
    let file = home.file("count_them.py", text);
    assert_eq!(home.did(&["tools", "add", &file]).code, 0);
    let asked = home.calls("count_them", json!({}));
    let id = asked["pending"]["id"].as_str().unwrap();
    let refused = home.did(&["approvals", "answer", id, r#"{"n":"x"}"#]);
    assert!(refused.code == 1 && refused.err.contains("/n"), "{refused:?}");
    assert_eq!(home.did(&["approvals", "answer", id, r#"{"n": 2}"#]).code, 0);
    assert_eq!(home.calls("count_them", json!({}))["data"], json!(2));
}

#[test]
fn promise_a_secret_reaches_the_tool_that_names_it_and_is_shown_nowhere() {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Stdio;

    let home = TestHome::new();
    let text = "import os\nfrom toolroom import File, ToolError, tool\n\
                @tool(env={'KEY': 'secret:MY_KEY'})\ndef write_key():\n    \"\"\"Writes the key. Use it for tests. \
                Returns a file.\"\"\"\n    return File(('key=' + os.environ['KEY']).encode(), name='key.txt')\n@tool(env={'KEY': 'secret:MY_KEY', 'HOST': '${NO_SUCH:-here}'})\n\
                def tell_key(refuse: bool = False) -> str:\n    \"\"\"Tells a part of the key. Use it for tests. Returns it.\"\"\"\n    \
                print(os.environ['KEY'])\n    key = os.environ['KEY']\n    \
                if refuse:\n        raise ToolError('not_found', 'no ' + key, {'key': key})\n    \
                return key[:3] + os.environ['HOST'] + key\n";
    let file = home.file("tell_key.py", text);
    assert_eq!(home.did(&["tools", "add", &file]).code, 0);
    let refused = home.calls("tell_key", json!({}));
    assert_eq!(refused["error"]["code"], "not_configured", "{refused}");
    assert!(
        refused["error"]["message"].as_str().unwrap().contains("toolroom secrets set MY_KEY"),
        "{refused}"
    );
    let mut set = home.author(&["secrets", "set", "MY_KEY"]).stdin(Stdio::piped()).spawn().unwrap();
    set.stdin.take().unwrap().write_all(b"sup3r-s3cret\n").unwrap();
    assert!(set.wait().unwrap().success());
    assert_eq!(home.calls("tell_key", json!({}))["data"], json!("suphere[masked]"));
    let refused = home.calls("tell_key", json!({ "refuse": true }));
    assert_eq!(refused["error"]["message"], "no [masked]", "{refused}");
    assert!(!refused.to_string().contains("sup3r"), "{refused}");
    let written = home.path("written");
    assert_eq!(home.did(&["call", "write_key", "--out", written.to_str().unwrap()]).code, 0);
    assert_eq!(fs::read_to_string(written.join("key.txt")).unwrap(), "key=[masked]");
    let kept = fs::metadata(home.home().join("secrets.json")).unwrap();
    assert_eq!(kept.permissions().mode() & 0o777, 0o600);
    let listed = home.did(&["secrets", "list"]);
    assert_eq!(listed.out, "MY_KEY\n");
    let logged = home.did(&["logs", "--json", "--tool", "tell_key"]);
    assert!(logged.out.contains("[masked]") && !logged.out.contains("sup3r"), "{logged:?}");
    assert_eq!(home.did(&["secrets", "remove", "MY_KEY"]).code, 0);
    assert_eq!(home.calls("tell_key", json!({}))["error"]["code"], "not_configured");
}

#[test]
fn promise_a_draft_may_change_in_any_way_until_it_is_published() {
    let home = TestHome::new();
    let text = |kind: &str| {
        format!(
            "from toolroom import tool\n@tool\ndef half(x: {kind}) -> str:\n    \"\"\"Halves it. Use it for tests. Returns it.\"\"\"\n    return str(x)\n"
        )
    };
    let file = home.file("half.py", &text("int"));
    assert!(home.did(&["tools", "add", &file]).out.contains("added half 0.1.0"));
    home.file("half.py", &text("str"));
    assert_eq!(home.did(&["tools", "update", &file]).code, 0);
    let published = home.did(&["tools", "publish", "half"]);
    assert!(published.out.contains("published half 1.0.0"), "{published:?}");
    home.file("half.py", &text("int"));
    let refused = home.did(&["tools", "update", &file]);
    assert!(refused.code == 1 && refused.err.contains("half-v2"), "{refused:?}");
    assert_eq!(home.did(&["tools", "publish", "half"]).code, 1);
    assert_eq!(home.json(&["tools", "show", "half"])["version"], "1.0.0");
}

#[test]
fn the_tests_of_the_python_module_pass() {
    let mut tests = Command::new(program("TOOLROOM_TEST_PYTHON_AGENTS"));
    let tests = tests.args(["-m", "pytest", &python_script("authoring")]).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = tests.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn the_tests_of_the_node_module_pass() {
    for file in ["authoring/worker.test.mjs", "authoring/schemas.test.mjs"] {
        let output = Command::new(program("TOOLROOM_TEST_NODE"))
            .args(["--test", &node_script(file)])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn the_file_that_the_page_on_authoring_shows_works_as_printed() {
    let home = TestHome::new();
    let text = page("docs/authoring.md");
    let (_, rest) = text.split_once("```python\n").unwrap();
    let file = home.file("shop.py", rest.split_once("```").unwrap().0);
    for verb in [&["check", &file][..], &["tools", "add", &file]] {
        let done = home.did(verb);
        assert_eq!(done.code, 0, "{done:?}");
    }
    assert_eq!(home.calls("get_price", json!({ "item": "tea", "size": "large" }))["data"], json!(7.0));
}
