//! Ways to hide memory and CPU time from the one that watches the totals, as root and as an ordinary user.

use std::time::{Duration, Instant};

use toolroom_worker::{CodeRequest, EndedBy, Language, SandboxLevel};

use crate::probes::{again_as_ordinary_user, folder, run};

/// Holds more than may be held, in two processes so that no limit of one process is met.
const HOLD: &str = "def hold():\n    x = b'x' * (750 << 20)\n    time.sleep(20)\n    print('DONE', len(x))\n";

const NAME_OF_NO_TEXT: &str = "\
os.fork()
ctypes.CDLL(None).prctl(15, b'\\xff\\xfe) Z', 0, 0, 0)
hold()
";

/// The first thread ends by itself: 60 is that call on x86-64, 93 on aarch64.
const FIRST_THREAD_ENDS: &str = "\
import platform, threading
parent = os.fork()
threading.Thread(target=hold).start()
if parent:
    threading.Event().wait()
ctypes.CDLL(None).syscall(60 if platform.machine() == 'x86_64' else 93, 0)
";

const CHILDREN_NOBODY_WAITS_FOR: &str = "\
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(40):
    child = os.fork()
    if child == 0:
        while time.process_time() < 0.2:
            pass
        os._exit(0)
    try:
        os.waitpid(child, 0)
    except ChildProcessError:
        pass
print('DONE')
";

const CHILDREN_THAT_ARE_WAITED_FOR: &str = "\
import os, time
for _ in range(8):
    child = os.fork()
    if child == 0:
        while time.process_time() < 0.2:
            pass
        os._exit(0)
    os.waitpid(child, 0)
print('WORKS')
";

async fn memory(level: SandboxLevel) {
    let folder = folder();
    for code in [NAME_OF_NO_TEXT, FIRST_THREAD_ENDS] {
        let code = format!("import ctypes, os, time\n{HOLD}{code}");
        let started = Instant::now();
        let output = run(&folder, level, &CodeRequest::new(Language::Python, &*code)).await;
        assert_eq!(output.ended_by, Some(EndedBy::Memory), "{code}: {output:?}");
        assert!(started.elapsed() < Duration::from_secs(18), "{code} took {:?}", started.elapsed());
        folder.nothing_is_left_within(Duration::from_secs(1));
    }
}

async fn cpu(level: SandboxLevel) {
    let folder = folder();
    let mut request = CodeRequest::new(Language::Python, CHILDREN_NOBODY_WAITS_FOR);
    request.limits.cpu_seconds = Some(2);
    let output = run(&folder, level, &request).await;
    assert_eq!(output.ended_by, Some(EndedBy::Cpu), "{output:?}");
    let mut request = CodeRequest::new(Language::Python, CHILDREN_THAT_ARE_WAITED_FOR);
    request.limits.cpu_seconds = Some(3);
    let output = run(&folder, level, &request).await;
    assert_eq!((output.stdout.as_str(), output.ended_by), ("WORKS\n", None), "counted once: {output:?}");
}

#[tokio::test]
async fn promise_memory_cannot_be_hidden_by_a_name_or_behind_an_ended_thread() {
    again_as_ordinary_user("totals::promise_memory_cannot_be_hidden_by_a_name_or_behind_an_ended_thread");
    memory(SandboxLevel::Full).await;
    memory(SandboxLevel::Partial).await;
}

#[tokio::test]
async fn promise_cpu_time_of_children_that_nobody_waits_for_counts() {
    again_as_ordinary_user("totals::promise_cpu_time_of_children_that_nobody_waits_for_counts");
    cpu(SandboxLevel::Full).await;
    cpu(SandboxLevel::Partial).await;
}

#[tokio::test]
async fn promise_the_root_of_a_full_sandbox_can_be_listed() {
    again_as_ordinary_user("totals::promise_the_root_of_a_full_sandbox_can_be_listed");
    let request = CodeRequest::new(Language::Shell, "ls /");
    let output = run(&folder(), SandboxLevel::Full, &request).await;
    assert!(output.exit_code == 0 && output.stdout.lines().any(|name| name == "box"), "{output:?}");
}
