//! Code that nobody vouches for.

use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use toolroom_worker::{
    CodeOutput, CodeRequest, Confiner, Language, Sandbox, SandboxLevel, ScriptError, Scripts,
};

use crate::test_folder::TestFolder;

async fn python(folder: &TestFolder, code: &str) -> CodeOutput {
    run(folder, CodeRequest::new(Language::Python, code)).await
}

async fn run(folder: &TestFolder, request: CodeRequest) -> CodeOutput {
    let sandbox = Sandbox::new(folder.scripts.clone(), folder.path().join("code"));
    tokio::time::timeout(Duration::from_secs(20), sandbox.run_code(&request)).await.unwrap().unwrap()
}

#[tokio::test]
async fn code_in_both_languages_runs_with_files_in_and_out() {
    let folder = TestFolder::new();
    let mut request = CodeRequest::new(
        Language::Python,
        "import sys, json, math, threading, subprocess\nprint(open('in/a.csv').read().upper())\n\
         open('out.txt', 'w').write('made')\nprint('note', file=sys.stderr)\nsys.exit(4)",
    );
    request.files.push(("in/a.csv".to_owned(), b"x,y".to_vec()));
    let output = run(&folder, request).await;
    assert_eq!((output.stdout.as_str(), output.stderr.as_str(), output.exit_code), ("X,Y\n", "note\n", 4));
    let files: Vec<_> =
        output.files.iter().map(|f| (f.name.as_str(), f.size, f.content.as_deref())).collect();
    assert_eq!(files, [("out.txt", 4, Some(&b"made"[..]))]);
    assert!(!output.truncated);

    let output =
        run(&folder, CodeRequest::new(Language::Shell, "echo hi | tr a-z A-Z; mktemp >/dev/null; exit 0"))
            .await;
    assert_eq!((output.stdout.as_str(), output.stderr.as_str(), output.exit_code), ("HI\n", "", 0));
    folder.nothing_is_left_within(Duration::from_secs(1));
    assert!(!folder.path().join("code").exists(), "nothing is put on the disk");
}

#[tokio::test]
async fn code_whose_time_is_up_is_ended_and_what_it_wrote_comes_back() {
    let folder = TestFolder::new();
    let mut request = CodeRequest::new(
        Language::Python,
        "import time\nopen('part', 'w').write('half')\nprint('so far')\ntime.sleep(300)",
    );
    request.timeout = Some(Duration::from_secs(1));
    let output = run(&folder, request).await;
    assert!(output.timed_out && !output.truncated, "{output:?}");
    assert_eq!((output.stdout.as_str(), output.exit_code), ("so far\n", 137));
    assert_eq!(output.files[0].content.as_deref(), Some(&b"half"[..]));
    folder.nothing_is_left_within(Duration::from_secs(1));
}

#[tokio::test]
async fn file_names_that_lead_outside_are_refused() {
    let folder = TestFolder::new();
    for name in ["../x", "/tmp/x", "", "a/../../x", "."] {
        let mut request = CodeRequest::new(Language::Shell, "true");
        request.files.push((name.to_owned(), Vec::new()));
        let sandbox = Sandbox::new(folder.scripts.clone(), folder.path().join("code"));
        let refused = sandbox.run_code(&request).await;
        assert!(matches!(refused, Err(ScriptError::BadFileName { .. })), "{name:?}");
    }
}

#[tokio::test]
async fn promise_files_outside_the_folder_cannot_be_read_or_written() {
    let folder = TestFolder::new();
    let secret = folder.write("secret.db", "CANARY");
    let outside = folder.path().join("outside");
    let code = format!(
        "import os\n\
         def attempt(what, f):\n    try:\n        f()\n        print('DONE', what)\n    except OSError as e:\n        print('refused', what)\n\
         attempt('shadow', lambda: open('/etc/shadow').read())\n\
         attempt('database', lambda: open({secret:?}).read())\n\
         attempt('environ', lambda: open('/proc/%d/environ' % os.getppid()).read())\n\
         attempt('write', lambda: open({outside:?}, 'w'))\n\
         attempt('link', lambda: (os.symlink({secret:?}, 'link'), open('link').read()))\n\
         attempt('signal', lambda: os.kill(os.getppid(), 0))\n\
         attempt('descriptors', lambda: os.read(3, 1))"
    );
    let output = python(&folder, &code).await;
    assert_eq!(output.sandbox.level, SandboxLevel::Full);
    assert!(!output.stdout.contains("DONE"), "{output:?}");
    assert_eq!(output.stdout.matches("refused").count(), 7, "{output:?}");
    assert!(!outside.exists() && output.files.is_empty());
}

#[tokio::test]
async fn promise_no_socket_of_any_kind_can_be_reached() {
    let folder = TestFolder::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    let unix = UnixListener::bind(folder.path().join("owner.sock")).unwrap();
    unix.set_nonblocking(true).unwrap();
    let code = format!(
        "import socket\n\
         def attempt(what, f):\n    try:\n        f()\n        print('DONE', what)\n    except OSError as e:\n        print('refused', what)\n\
         attempt('tcp', lambda: socket.create_connection(('127.0.0.1', {}), 1))\n\
         attempt('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 53)))\n\
         attempt('unix', lambda: socket.socket(socket.AF_UNIX).connect({:?}))",
        tcp.local_addr().unwrap().port(),
        folder.path().join("owner.sock"),
    );
    let output = python(&folder, &code).await;
    assert_eq!(output.stdout, "refused tcp\nrefused udp\nrefused unix\n", "{output:?}");
    assert!(tcp.accept().is_err() && unix.accept().is_err(), "nobody called");
}

#[tokio::test]
async fn promise_memory_disk_processes_and_output_are_bounded() {
    let folder = TestFolder::new();
    let output = python(&folder, "x = bytearray(8 << 30)").await;
    assert!(output.exit_code != 0 && output.stderr.contains("MemoryError"), "{output:?}");

    let output = python(
        &folder,
        "f = open('big', 'wb')\nchunk = bytes(1 << 20)\nfor _ in range(10 << 10):\n    f.write(chunk)\nprint('DONE')",
    )
    .await;
    assert!(output.exit_code != 0 && !output.stdout.contains("DONE"), "{output:?}");
    assert!(output.files.iter().all(|file| file.size <= 64 << 20) && output.truncated);

    let output = python(
        &folder,
        "import os, time\nfor i in range(1000):\n    try:\n        if os.fork() == 0:\n            time.sleep(300)\n    \
         except OSError:\n        print('refused at', i)\n        break\nelse:\n    print('DONE')",
    )
    .await;
    assert!(output.stdout.contains("refused at"), "{output:?}");
    folder.nothing_is_left_within(Duration::from_secs(1));

    let started = Instant::now();
    let output = run(&folder, CodeRequest::new(Language::Shell, "yes")).await;
    assert!(
        output.truncated && output.stdout.len() == 256 << 10 && started.elapsed() < Duration::from_secs(5)
    );
}

#[tokio::test]
async fn a_fork_bomb_is_gone_when_its_caller_gives_up() {
    let folder = TestFolder::new();
    let sandbox = Sandbox::new(folder.scripts.clone(), folder.path().join("code"));
    sandbox.probe().await.unwrap();
    let request = CodeRequest::new(Language::Shell, "b() { b | b & }\nb\nsleep 300");
    let ended = tokio::time::timeout(Duration::from_millis(500), sandbox.run_code(&request)).await;
    assert!(ended.is_err());
    folder.nothing_is_left_within(Duration::from_secs(1));
}

/// An interpreter in a folder with a home in it, however one gets there, and a home among the system's programs.
#[tokio::test]
async fn promise_no_box_shows_the_home_or_its_database_wherever_links_lead() {
    let folder = TestFolder::new();
    let project = folder.path().join("project");
    let mut venv = std::process::Command::new("python3");
    assert!(venv.args(["-m", "venv", "--without-pip"]).arg(&project).status().unwrap().success());
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&project, &link).unwrap();
    let inside = [project.join(".toolroom"), link.join(".toolroom"), project.join("data/tasks.db")];
    let places = inside.map(|place| (place, [Language::Python].as_slice()));
    let system = std::path::PathBuf::from("/usr/share/toolroom-home");
    let everything = [Language::Python, Language::Shell];
    for (private, languages) in places.into_iter().chain([(system, everything.as_slice())]) {
        let mut settings = folder.scripts.settings().clone();
        settings.python = link.join("bin/python3");
        settings.confiner = Confiner::default().hiding([private.clone()]);
        let scripts = Scripts::new(settings);
        let sandbox = Sandbox::new(scripts.clone(), folder.path().join("code"));
        for language in languages {
            let refused = sandbox.run_code(&CodeRequest::new(*language, "")).await;
            assert!(
                matches!(refused, Err(ScriptError::Unconfined { .. })),
                "{language:?} {}: {refused:?}",
                private.display()
            );
        }
        scripts.shutdown().await;
    }
}
