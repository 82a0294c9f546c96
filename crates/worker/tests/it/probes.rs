//! The probe table: what hostile code tries and what ordinary code needs, as root and as an ordinary user, at
//! the full and at the partial level.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use toolroom_worker::{
    CodeOutput, CodeRequest, EndedBy, Language, Sandbox, SandboxLevel, ScriptError, Settings,
};

use crate::test_folder::TestFolder;

/// A user that is neither root nor anyone else.
const ORDINARY: u32 = 61_234;

fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

/// Another user cannot reach an interpreter below root's home.
pub(crate) fn folder() -> TestFolder {
    TestFolder::with(Settings { python: PathBuf::from("/usr/bin/python3"), ..Settings::from_environment() })
}

fn sandbox(folder: &TestFolder, level: SandboxLevel) -> Sandbox {
    Sandbox::new(folder.scripts.clone(), folder.path().join("code")).at_most(level)
}

pub(crate) async fn run(folder: &TestFolder, level: SandboxLevel, request: &CodeRequest) -> CodeOutput {
    let sandbox = sandbox(folder, level);
    let ended = tokio::time::timeout(Duration::from_secs(120), sandbox.run_code(request));
    let output = ended.await.unwrap().unwrap();
    assert_eq!(output.sandbox.level, level);
    output
}

async fn python(folder: &TestFolder, level: SandboxLevel, code: &str) -> CodeOutput {
    run(folder, level, &CodeRequest::new(Language::Python, code)).await
}

/// Runs the same test in this binary as an ordinary user; false if this is that run.
pub(crate) fn again_as_ordinary_user(test: &str) -> bool {
    if !is_root() {
        return false;
    }
    // Each run is a user of its own: the limit on processes counts all that a user has, other tests' too.
    let user = ORDINARY + std::process::id() % 4_000;
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let binary = folder.path().join("probes");
    std::fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    let ran = Command::new(&binary)
        .args(["--exact", test, "--nocapture"])
        .env("TMPDIR", folder.path())
        .env("HOME", folder.path())
        .current_dir("/")
        .uid(user)
        .gid(user)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "as an ordinary user:\n{said}");
    assert!(said.contains("1 passed"), "{said}");
    true
}

/// What differs at the partial level: names, sizes and processes of the host can be seen, a change of mode or
/// time is answered without being made, and there is no /dev/shm and no place to execute from.
fn expected_at_partial(number: u32, outcome: &str) -> bool {
    match number {
        7 | 8 => outcome == "DONE",
        13 | 15 | 17 | 23 => outcome == "DONE",
        30 | 103 => true,
        _ => false,
    }
}

async fn probe_table(level: SandboxLevel) {
    let folder = folder();
    let canary = folder.write("canary", "CANARY");
    std::fs::set_permissions(&canary, std::fs::Permissions::from_mode(0o644)).unwrap();
    let path_socket = folder.path().join("owner.sock");
    let listening = UnixListener::bind(&path_socket).unwrap();
    listening.set_nonblocking(true).unwrap();
    let name = format!("toolroom-probe-{}", std::process::id());
    let abstract_socket = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    abstract_socket.set_nonblocking(true).unwrap();
    let before = std::fs::metadata(&canary).unwrap();
    let home_before = std::fs::metadata(folder.path()).unwrap().mode();
    let stat = || std::fs::read_to_string("/proc/self/stat").unwrap();
    let nice = |stat: String| stat.rsplit_once(')').unwrap().1.split_whitespace().nth(16).unwrap().to_owned();
    let affinity = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        status.lines().find(|line| line.starts_with("Cpus_allowed:")).unwrap().to_owned()
    };
    let (nice_before, affinity_before) = (nice(stat()), affinity());
    let mut request = CodeRequest::new(Language::Python, include_str!("probes.py"));
    let arguments = [
        folder.path().display().to_string(),
        canary.display().to_string(),
        std::process::id().to_string(),
        path_socket.display().to_string(),
        name,
    ];
    request.files.push(("probe.args".to_owned(), arguments.join("\n").into_bytes()));
    let output = run(&folder, level, &request).await;
    assert!(output.stdout.ends_with("END\n"), "{output:?}");
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in output.stdout.lines().filter(|line| *line != "END") {
        count += 1;
        let number: u32 = line.split(' ').next().unwrap().parse().unwrap();
        let outcome = line.rsplit(' ').next().unwrap();
        let held = !line.contains("DONE") && !line.contains("BROKEN");
        let as_expected = level == SandboxLevel::Partial && expected_at_partial(number, outcome);
        if !held && !as_expected {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}\nstderr: {}", output.stderr);
    assert!(count >= 88, "only {count} probes ran");
    let after = std::fs::metadata(&canary).unwrap();
    assert_eq!(
        (after.mode(), after.uid(), after.mtime(), after.len(), after.nlink()),
        (before.mode(), before.uid(), before.mtime(), before.len(), before.nlink()),
        "the canary is as it was"
    );
    assert_eq!(std::fs::metadata(folder.path()).unwrap().mode(), home_before, "the home is as it was");
    assert_eq!((nice(stat()), affinity()), (nice_before, affinity_before), "the server is as it was");
    assert!(listening.accept().is_err() && abstract_socket.accept().is_err(), "nobody called");
}

#[tokio::test]
async fn promise_no_probe_reaches_out_of_a_full_sandbox_as_root_and_as_an_ordinary_user() {
    let name = "probes::promise_no_probe_reaches_out_of_a_full_sandbox_as_root_and_as_an_ordinary_user";
    again_as_ordinary_user(name);
    probe_table(SandboxLevel::Full).await;
}

#[tokio::test]
async fn promise_no_probe_changes_or_reads_from_a_partial_sandbox_as_root_and_as_an_ordinary_user() {
    let name =
        "probes::promise_no_probe_changes_or_reads_from_a_partial_sandbox_as_root_and_as_an_ordinary_user";
    again_as_ordinary_user(name);
    probe_table(SandboxLevel::Partial).await;
}

/// What takes too much, and by what it is ended; `None` if it goes on to print WORKS.
const TOO_MUCH: [(&str, Option<EndedBy>, &str); 7] = [
    (
        "5 x 700 MB",
        Some(EndedBy::Memory),
        "import os, time\nfor _ in range(5):\n    if os.fork() == 0:\n        x = b'x' * (700 << 20)\n        time.sleep(20)\ntime.sleep(20)",
    ),
    (
        "ten that share 300 MB",
        None,
        "import os, time\nx = b'x' * (300 << 20)\nfor _ in range(10):\n    if os.fork() == 0:\n        time.sleep(0.5)\n        os._exit(0)\nfor _ in range(10):\n    os.wait()\nprint('WORKS')",
    ),
    (
        "CPU of eight",
        Some(EndedBy::Cpu),
        "import os\nfor _ in range(7):\n    if os.fork() == 0:\n        break\nwhile True:\n    pass",
    ),
    (
        "orphans",
        None,
        "import os\nfor _ in range(2000):\n    pid = os.fork()\n    if pid == 0:\n        if os.fork() == 0:\n            os._exit(0)\n        os._exit(0)\n    os.waitpid(pid, 0)\nprint('WORKS')",
    ),
    (
        "a fork bomb",
        None,
        "import os, time\nfirst = os.getpid()\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        break\nif os.getpid() != first:\n    time.sleep(300)\nprint('WORKS')",
    ),
    (
        "forks in a signal handler",
        None,
        "import os, signal, time\nfirst, refused = os.getpid(), []\ndef again(*_):\n    try:\n        os.fork()\n    except OSError:\n        refused.append(1)\nsignal.signal(signal.SIGALRM, again)\nsignal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\nwhile not refused:\n    time.sleep(0.01)\n    if os.getpid() != first:\n        time.sleep(300)\nsignal.setitimer(signal.ITIMER_REAL, 0)\nprint('WORKS')",
    ),
    (
        "a daemon that ignores signals",
        None,
        "import os, signal, time\nif os.fork() == 0:\n    os.setsid()\n    for n in range(1, 32):\n        try:\n            signal.signal(n, signal.SIG_IGN)\n        except OSError:\n            pass\n    time.sleep(300)\nprint('WORKS')",
    ),
];

async fn totals(level: SandboxLevel) {
    let folder = folder();
    for (name, by, code) in TOO_MUCH {
        let mut request = CodeRequest::new(Language::Python, code);
        request.limits.cpu_seconds = Some(3);
        if name != "CPU of eight" {
            request.limits.cpu_seconds = Some(60);
        }
        let started = Instant::now();
        let output = run(&folder, level, &request).await;
        assert_eq!(output.ended_by, by, "{name}: {output:?}");
        assert!(started.elapsed() < Duration::from_secs(20), "{name} took {:?}", started.elapsed());
        if by.is_none() {
            assert_eq!(output.stdout, "WORKS\n", "{name}: {output:?}");
        }
        folder.nothing_is_left_within(Duration::from_secs(1));
    }
    let many = "import os\nfor i in range(1000000):\n    open(f'f{i}', 'w').close()\nprint('DONE')";
    let output = python(&folder, level, many).await;
    assert!(
        output.exit_code != 0 && !output.stdout.contains("DONE") && output.truncated,
        "files: {output:?}"
    );
    let large = "for n in range(48):\n    with open(f'big{n}', 'wb') as f:\n        for _ in range(63):\n            f.write(bytes(1 << 20))\nprint('DONE')";
    let output = python(&folder, level, large).await;
    assert!(output.exit_code != 0 && !output.stdout.contains("DONE"), "bytes: {output:?}");
}

/// What sockets hold counts in no process.
const SOCKETS: &str = "import os, socket, time\nfor _ in range(40):\n    if os.fork() == 0:\n        break\nkept = []\nfor _ in range(100):\n    a, b = socket.socketpair()\n    a.setblocking(False)\n    kept += [a, b]\n    try:\n        while True:\n            a.send(bytes(65536))\n    except OSError:\n        pass\ntime.sleep(30)\nprint('DONE')";

#[tokio::test]
async fn promise_totals_of_a_full_sandbox_hold_as_root_and_as_an_ordinary_user() {
    again_as_ordinary_user("probes::promise_totals_of_a_full_sandbox_hold_as_root_and_as_an_ordinary_user");
    totals(SandboxLevel::Full).await;
    let folder = folder();
    let output = python(&folder, SandboxLevel::Full, SOCKETS).await;
    assert_eq!(output.ended_by, Some(EndedBy::Memory), "sockets: {output:?}");
}

#[tokio::test]
async fn promise_totals_of_a_partial_sandbox_hold_as_root_and_as_an_ordinary_user() {
    again_as_ordinary_user(
        "probes::promise_totals_of_a_partial_sandbox_hold_as_root_and_as_an_ordinary_user",
    );
    totals(SandboxLevel::Partial).await;
}

/// From the inside out: what is done at a depth takes the kernel a step for each folder above, and the processor time
/// of code is limited.
const NESTED: &str = "import os\nos.mkdir('d')\nfor _ in range(17999):\n    os.mkdir('n')\n    os.rename('d', 'n/d')\n    os.rename('n', 'd')\nprint('WORKS')";

#[tokio::test]
async fn promise_folders_nested_without_end_neither_crash_the_server_nor_hold_up_the_end_of_others() {
    let folder = folder();
    let unconfined = sandbox(&folder, SandboxLevel::None).allow_unconfined(true);
    for sandbox in [sandbox(&folder, SandboxLevel::Full), unconfined] {
        let mut request = CodeRequest::new(Language::Python, NESTED);
        request.disk.1 = 20_000;
        let output = sandbox.run_code(&request).await.unwrap();
        assert_eq!(output.stdout, "WORKS\n", "{output:?}");
        assert!(output.truncated && output.files.is_empty());
        // The folder is being removed; another tool's process ends anyway.
        let spec = folder.shell("evil", "sleep 300");
        let call = tokio::time::timeout(Duration::from_millis(50), folder.call(&spec, serde_json::json!({})));
        assert!(call.await.is_err());
        // The removal takes 6 s and more.
        folder.is_empty_within(Duration::from_secs(4), "evil");
    }
    let code = folder.path().join("code");
    crate::test_folder::until(Duration::from_secs(60), "the folder is gone", || {
        std::fs::read_dir(&code).is_ok_and(|entries| entries.count() == 0)
    });
}

#[tokio::test]
async fn promise_no_folder_stays_among_the_temporary_files_after_a_partial_sandbox() {
    let folder = folder();
    let output = python(&folder, SandboxLevel::Partial, "import os\nprint(os.getcwd())").await;
    let work = PathBuf::from(output.stdout.trim());
    let base = work.parent().and_then(|place| place.parent()).unwrap();
    assert!(base.file_name().unwrap().to_str().unwrap().starts_with("toolroom-code-"), "{base:?}");
    crate::test_folder::until(Duration::from_secs(5), "the folder is gone", || !base.exists());
}

#[tokio::test]
async fn promise_what_an_earlier_server_left_of_code_is_swept_at_the_start() {
    let folder = folder();
    let left = folder.path().join("code/code-left/deep");
    std::fs::create_dir_all(&left).unwrap();
    let _sandbox = sandbox(&folder, SandboxLevel::Full);
    crate::test_folder::until(Duration::from_secs(5), "leftovers are gone", || {
        std::fs::read_dir(folder.path().join("code")).unwrap().count() == 0
    });
}

#[tokio::test]
async fn promise_a_step_of_the_set_up_that_fails_is_named_and_nothing_runs() {
    const STEPS: [&str; 22] = [
        "unshare",
        "host name",
        "end with the server",
        "pipe",
        "fork",
        "end with the helper",
        "mount private",
        "mount proc",
        "mount work",
        "mount root",
        "lay out root",
        "place proc",
        "pivot root",
        "read-only root",
        "work folder",
        "landlock rules",
        "session",
        "limits",
        "user",
        "no new privileges",
        "landlock",
        "filter",
    ];
    let folder = folder();
    let whole = sandbox(&folder, SandboxLevel::Full);
    whole.probe().await.unwrap();
    for step in STEPS {
        let broken = whole.clone().failing_at(step);
        let refused = broken.run_code(&CodeRequest::new(Language::Shell, "echo RAN")).await;
        match refused {
            Err(ScriptError::Sandbox(failed)) => assert_eq!(failed.step, step),
            other => panic!("{step}: {other:?}"),
        }
    }
    folder.nothing_is_left_within(Duration::from_secs(1));
}

#[tokio::test]
async fn promise_output_of_links_fifos_and_sparse_files_is_bounded_to_regular_files() {
    let code = "import os\nos.symlink('/etc/passwd', 'link')\nos.mkfifo('fifo')\n\
                open('sparse', 'w').truncate(50 << 20)\nopen('shut', 'w').write('x')\nos.chmod('shut', 0)\n\
                open('good', 'w').write('good')";
    let folder = folder();
    let output = python(&folder, SandboxLevel::Full, code).await;
    let names: Vec<&str> = output.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["good", "shut", "sparse"], "{output:?}");
    assert_eq!((output.files[2].size, &output.files[2].content), (50 << 20, &None));
    assert!(output.truncated);
}
