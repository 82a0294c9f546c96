//! Tools in TypeScript and JavaScript: warm workers of Node, Bun and Deno.

use std::time::Duration;

use serde_json::json;
use toolroom_worker::{Block, Media, ScriptError, ScriptFile, Settings};

use crate::test_folder::{Recorder, TestFolder};
use crate::typed::openings;

const TOOLS: &str = r#"
import { Image, ToolError, defineTool, type ToolContext } from 'toolroom';
let calls = 0;
export default defineTool({
    name: 'count',
    description: 'Counts its calls.',
    handler: (params: { fail?: string }, context: ToolContext) => {
        console.log('called by', context.userId);
        if (params.fail === 'refuse') throw new ToolError('not_found', 'No such thing');
        if (params.fail === 'raise') throw new RangeError('too far');
        if (params.fail === 'exit') process.exit(3);
        if (params.fail === 'eat') for (const all: unknown[] = []; ; ) all.push(new Array(1e6).fill(1));
        return { calls: ++calls, pid: process.pid };
    },
});
export const draw = defineTool({
    name: 'draw',
    description: 'Draws.',
    handler: () => new Image(Buffer.concat([Buffer.from('\x89PNG', 'latin1'), Buffer.alloc(100_000)])),
});
"#;

fn folder() -> TestFolder {
    let folder = TestFolder::authoring();
    folder.write("tools.ts", TOOLS);
    folder
}

#[tokio::test]
async fn a_typescript_tool_is_kept_warm_and_its_lines_reach_the_caller() {
    let folder = folder();
    let spec = folder.node("tools.ts", "count");
    let recorder = Recorder::default();
    let first = folder.scripts.call(&spec, &json!({}), &json!({"userId": "ann"}), &recorder).await.unwrap();
    let second = folder.data(&spec, json!({})).await;
    assert_eq!((&first.data["calls"], &second["calls"]), (&json!(1), &json!(2)));
    assert_eq!(first.data["pid"], second["pid"]);
    assert_eq!(recorder.lines.lock().unwrap()[0].1, "called by ann");
    assert!(recorder.stderr.lock().unwrap().is_empty(), "{:?}", recorder.stderr);
}

#[tokio::test]
async fn a_typescript_file_is_freed_of_its_types_once_and_again_when_its_text_changes() {
    let folder = folder();
    let spec = folder.node("tools.ts", "count");
    assert_eq!(folder.data(&spec, json!({})).await["calls"], 1);
    let files = std::fs::read_dir(folder.path().join("cache/compiled-node")).unwrap();
    let kept: Vec<_> = files.map(|file| file.unwrap().path()).filter(|path| path.is_file()).collect();
    let [kept] = &kept[..] else { panic!("{kept:?}") };
    let both = std::fs::read_to_string(kept).unwrap();
    let (text, javascript) = both.split_at(TOOLS.len());
    assert_eq!(text, TOOLS);

    // What is kept is what runs.
    let marked = javascript.replace("calls: ++calls", "calls: 7+calls");
    std::fs::write(kept, [text, &marked].concat()).unwrap();
    folder.scripts.forget(&spec.name);
    assert_eq!(folder.data(&spec, json!({})).await["calls"], 7);

    folder.write("tools.ts", &TOOLS.replace("calls: ++calls", "calls: 8+calls"));
    folder.scripts.forget(&spec.name);
    assert_eq!(folder.data(&spec, json!({})).await["calls"], 8);
}

#[tokio::test]
async fn refusals_failures_and_crashes_of_a_node_tool_are_told_apart() {
    let folder = folder();
    let mut spec = folder.node("tools.ts", "count");
    let refused = folder.call(&spec, json!({"fail": "refuse"})).await.unwrap_err();
    assert!(matches!(&refused, ScriptError::Refused(one) if one.code == "not_found"), "{refused:?}");
    let raised = folder.call(&spec, json!({"fail": "raise"})).await.unwrap_err();
    let ScriptError::Raised { kind, traceback, .. } = raised else { panic!("{raised:?}") };
    assert!(kind == "RangeError" && traceback.contains("tools.ts"), "{traceback}");
    let ended = folder.call(&spec, json!({"fail": "exit"})).await.unwrap_err();
    assert!(matches!(&ended, ScriptError::Ended { how, .. } if how.contains('3')), "{ended:?}");
    spec.limits.memory = Some(256 << 20);
    let eaten = folder.call(&spec, json!({"fail": "eat"})).await.unwrap_err();
    assert!(matches!(eaten, ScriptError::Ended { .. }), "{eaten:?}");
    spec.limits.memory = None;
    spec.limits.cpu_seconds = Some(5);
    let first = folder.data(&spec, json!({})).await;
    assert_eq!((&first["calls"], folder.scripts.stats()[0].idle), (&json!(1), 0), "for one call");
    folder.nothing_is_left_within(Duration::from_secs(5));
}

#[tokio::test]
async fn a_confined_node_tool_answers_with_content() {
    let folder = folder();
    let mut draw = folder.node("tools.ts", "draw");
    draw.sandbox = Some(openings(&folder));
    let large = folder.call(&draw, json!({})).await.unwrap();
    let [Block::Media { kind: Media::Image, mime_type, data, .. }] = &large.content[..] else {
        panic!("{large:?}")
    };
    assert_eq!((mime_type.as_str(), data.len()), ("image/png", 100_004usize.div_ceil(3) * 4));
}

const PACKAGED: &str = "import { greet } from 'greet';\nimport { defineTool } from 'toolroom';\n
    export default defineTool({ name: 'hello', description: 'Greets.', handler: () => ({ text: greet() }) });";

async fn runs_in(runtime: &str) {
    let folder = TestFolder::with_only(runtime);
    folder.write("tools.ts", TOOLS);
    let recorder = Recorder::default();
    let mut spec = folder.node("tools.ts", "count");
    let first = folder.scripts.call(&spec, &json!({}), &json!({"userId": "ann"}), &recorder).await.unwrap();
    let second = folder.data(&spec, json!({})).await;
    assert_eq!((&first.data["calls"], &second["calls"]), (&json!(1), &json!(2)));
    assert_eq!(first.data["pid"], second["pid"]);
    assert_eq!(recorder.lines.lock().unwrap()[0].1, "called by ann");
    let refused = folder.call(&spec, json!({"fail": "refuse"})).await.unwrap_err();
    assert!(matches!(&refused, ScriptError::Refused(one) if one.code == "not_found"), "{refused:?}");
    let raised = folder.call(&spec, json!({"fail": "raise"})).await.unwrap_err();
    assert!(matches!(&raised, ScriptError::Raised { kind, .. } if kind == "RangeError"), "{raised:?}");
    spec.limits.memory = Some(256 << 20);
    folder.call(&spec, json!({"fail": "eat"})).await.expect_err("more memory than it may have");

    let package = folder.path().join("node_modules/greet");
    std::fs::create_dir_all(&package).unwrap();
    std::fs::write(package.join("package.json"), r#"{"type": "module", "exports": "./greet.js"}"#).unwrap();
    std::fs::write(package.join("greet.js"), "export const greet = () => 'hello';").unwrap();
    folder.write("packaged.ts", PACKAGED);
    assert_eq!(folder.data(&folder.node("packaged.ts", "hello"), json!({})).await, json!({"text": "hello"}));

    let mut draw = folder.node("tools.ts", "draw");
    draw.sandbox = Some(openings(&folder));
    let drawn = folder.call(&draw, json!({})).await.unwrap();
    assert!(matches!(&drawn.content[..], [Block::Media { kind: Media::Image, .. }]), "{drawn:?}");
    let file = ScriptFile {
        name: "tools.ts".to_owned(),
        text: TOOLS.to_owned(),
        home: folder.path(),
        packages: None,
        env: Default::default(),
    };
    let described = folder.scripts.describe(&file).await.unwrap();
    assert_eq!((described.len(), described[0].line), (2, Some(4)), "{described:?}");
    folder.scripts.shutdown().await;
    folder.nothing_is_left_within(Duration::from_secs(5));
}

#[tokio::test]
async fn promise_without_node_a_tool_runs_in_bun() {
    runs_in("bun").await;
}

#[tokio::test]
async fn promise_without_node_a_tool_runs_in_deno() {
    runs_in("deno").await;
}

#[tokio::test]
async fn a_node_that_is_too_old_is_named_with_what_is_needed() {
    let tools = TestFolder::new();
    let node = tools.write("node", "#!/bin/sh\necho v20.20.2\n");
    let mut settings = Settings::from_environment();
    settings.environment.insert("PATH".to_owned(), tools.path().display().to_string());
    let settings = Settings { node, cache: Some(tools.path().join("cache")), ..settings };
    let scripts = TestFolder::with(settings);
    scripts.write("tools.ts", TOOLS);
    let error = scripts.call(&scripts.node("tools.ts", "count"), json!({})).await.unwrap_err();
    let ScriptError::Interpreter { program } = error else { panic!("{error:?}") };
    assert_eq!(program, "Node.js 22.18 or later, Bun or Deno (found: Node.js 20.20.2)");
}
