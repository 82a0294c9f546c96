//! Reading a file by running it, confined: what it defines, what is wrong with it, and files that mean harm.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use toolroom_worker::{Described, ReadError, ScriptFile};

use crate::test_folder::TestFolder;

const SHOP: &str = include_str!("../../../../tests/python/authoring/shop.py");

async fn read(folder: &TestFolder, name: &str, text: &str) -> Result<Vec<Described>, ReadError> {
    let home = folder.path().join("home");
    std::fs::create_dir_all(home.join("tools")).unwrap();
    std::fs::write(home.join("secret"), "s3cret").unwrap();
    let file = ScriptFile {
        name: name.to_owned(),
        text: text.to_owned(),
        home,
        packages: None,
        env: BTreeMap::new(),
    };
    let found = folder.scripts.describe(&file).await;
    assert!(folder.survivors().is_empty(), "{:?}", folder.survivors());
    found
}

#[tokio::test]
async fn a_python_file_tells_its_tools_in_order_and_one_without_any_tells_none() {
    let folder = TestFolder::authoring();
    let found = read(&folder, "shop.py", SHOP).await.unwrap();
    let names: Vec<_> = found.iter().map(|one| one.entry["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["get_price", "quote-item", "find_item", "draw", "empty", "choose"]);
    assert_eq!(found[0].entry["config"], json!({"env": {"SHOP": "x"}, "entrypoint": "get_price"}));
    assert!(found[0].line.is_some());
    let plain = "\"\"\"Does it.\"\"\"\nprint('imported')\ndef run(params, context):\n    return 1\n";
    assert_eq!(read(&folder, "plain.py", plain).await.unwrap(), []);
}

#[tokio::test]
async fn a_typescript_file_tells_its_tools() {
    let folder = TestFolder::authoring();
    let text = "import { defineTool } from 'toolroom';\nenum Bad { A }\n";
    let error = read(&folder, "bad.ts", text).await.unwrap_err();
    assert!(
        matches!(&error, ReadError::Raised { message, .. } if message.contains("erasableSyntaxOnly")),
        "{error:?}"
    );
    let text = "import { defineTool } from 'toolroom';\nconst word: string = 'Says hello.';\n\
                export default defineTool({ name: 'hello', description: word, handler: () => 'hi' });\n";
    let found = read(&folder, "hello.ts", text).await.unwrap();
    assert_eq!((found[0].line, &found[0].entry["name"]), (Some(3), &json!("hello")));
}

#[tokio::test]
async fn what_is_wrong_with_a_file_is_told_with_its_line() {
    let folder = TestFolder::authoring();
    for (name, text, kind, at) in [
        ("a.py", "x = 1\ndef f(:\n", "SyntaxError", 2),
        ("a.py", "\n\nimport nothing_like_it\n", "ModuleNotFoundError", 3),
        ("a.py", "import os\nos.environ['KEY']\n", "KeyError", 2),
        ("a.py", "import socket\nsocket.create_connection(('127.0.0.1', 1))\n", "", 2),
        ("a.py", "open('/etc/shadow-of-mine', 'w')\n", "", 1),
        ("a.mjs", "\nimport 'nothing-like-it';\n", "Error", 0),
        ("a.mjs", "const x = 1;\nthrow new RangeError('far');\n", "RangeError", 2),
    ] {
        let error = read(&folder, name, text).await.unwrap_err();
        let ReadError::Raised { kind: found, line, .. } = &error else { panic!("{text}: {error:?}") };
        assert!(kind.is_empty() || found == kind, "{text}: {error:?}");
        assert!(at == 0 || *line == Some(at), "{text}: {error:?}");
    }
}

#[tokio::test]
async fn a_file_reads_nothing_of_the_home_and_writes_nothing_outside() {
    let folder = TestFolder::authoring();
    let home = folder.path().join("home");
    for text in [
        format!("open({:?}).read()", home.join("secret").display().to_string()),
        format!("open({:?}, 'w')", home.join("made").display().to_string()),
        format!("open({:?}, 'w')", folder.path().join("made").display().to_string()),
    ] {
        let error = read(&folder, "a.py", &text).await.unwrap_err();
        assert!(matches!(error, ReadError::Raised { .. }), "{text}: {error:?}");
    }
    assert!(!home.join("made").exists() && !folder.path().join("made").exists());
}

/// Every one of them is refused within its limits, and leaves nothing.
#[tokio::test]
async fn promise_hostile_files_are_refused_within_their_limits_and_leave_nothing() {
    let folder = TestFolder::authoring();
    let frame = "import os, struct\nbody = b'[0,{\"definitions\":{\"tools\":[]}}]'\nfor fd in range(3, 30):\n    \
                 try:\n        os.write(fd, struct.pack('>I', len(body)) + body)\n    except OSError:\n        pass\n";
    for (name, text) in [
        ("fork.py", "import os\nwhile True:\n    os.fork()\n".to_owned()),
        ("frames.py", frame.to_owned()),
        ("garbage.py", frame.replace("struct.pack('>I', len(body)) + body", "b'x' * 50")),
        ("exit.py", "import os\nos._exit(0)\n".to_owned()),
        ("kill.py", "import os\nos.kill(os.getpid(), 9)\n".to_owned()),
        ("memory.py", "x = []\nwhile True:\n    x.append(bytearray(1 << 24))\n".to_owned()),
        ("flood.py", "while True:\n    print('x' * 8000)\n".to_owned()),
        ("busy.mjs", "for (;;);\n".to_owned()),
        ("exit.mjs", "process.exit(0);\n".to_owned()),
        ("memory.mjs", "const all = [];\nfor (;;) all.push(Buffer.alloc(1 << 24, 1));\n".to_owned()),
    ] {
        let error = tokio::time::timeout(Duration::from_secs(60), read(&folder, name, &text)).await;
        assert!(error.unwrap_or_else(|_| panic!("{name} was not ended")).is_err(), "{name}");
    }
    let error = read(&folder, "sleep.py", "import time\ntime.sleep(600)\n").await.unwrap_err();
    assert!(matches!(error, ReadError::Time), "{error:?}");
    let daemon = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\n";
    read(&folder, "daemon.py", daemon).await.unwrap();
    folder.nothing_is_left_within(Duration::from_secs(5));
}

#[tokio::test]
async fn the_modules_that_come_in_the_binary_are_the_whole_folders() {
    let folder = TestFolder::authoring();
    read(&folder, "shop.py", SHOP).await.unwrap();
    let mut unpacked = std::fs::read_dir(folder.path().join("cache")).unwrap().flatten();
    let unpacked = unpacked.find(|one| one.file_name().to_string_lossy().starts_with("modules-")).unwrap();
    let names = |folder: std::path::PathBuf| {
        let mut names: Vec<_> =
            std::fs::read_dir(folder).unwrap().flatten().map(|one| one.file_name()).collect();
        names.retain(|name| name != "__pycache__");
        names.sort();
        names
    };
    for which in ["python/toolroom", "node/toolroom"] {
        let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(which);
        assert_eq!(names(unpacked.path().join(which)), names(source), "{which}");
    }
    assert!(unpacked.path().join("python/toolroom/__pycache__").is_dir(), "compiled");
}
