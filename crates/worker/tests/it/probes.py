# What hostile code tries, and what ordinary code needs. Each line of output: the number in the table, the name,
# and what came of it: an errno's name, "ABSENT", "DONE", "WORKS", "KILLED" or "BROKEN ...".
import ctypes, errno, fcntl, os, platform, resource, signal, socket, stat, subprocess, sys, tempfile, threading, time
HOME, CANARY, SERVER, SOCKET, ABSTRACT = sys.argv[1:6] if len(sys.argv) > 5 else open("probe.args").read().split("\n")[:5]
SERVER = int(SERVER)
libc = ctypes.CDLL(None, use_errno=True)
X86 = platform.machine() == "x86_64"

def call(number, *args):
    ctypes.set_errno(0)
    answer = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    if answer == -1:
        raise OSError(ctypes.get_errno(), "syscall")
    return answer

def bad(number, name, what):
    try:
        what()
        print(number, name, "DONE", flush=True)
    except FileNotFoundError:
        print(number, name, "ABSENT", flush=True)
    except ProcessLookupError:
        print(number, name, "ABSENT", flush=True)
    except OSError as error:
        print(number, name, errno.errorcode.get(error.errno, error.errno), flush=True)
    except (ImportError, AttributeError) as error:
        print(number, name, "BROKEN", error, flush=True)

def good(number, name, what):
    try:
        what()
        print(number, name, "WORKS", flush=True)
    except BaseException as error:
        print(number, name, "BROKEN", repr(error), flush=True)

def child(what):
    pid = os.fork()
    if pid == 0:
        try:
            what()
        except OSError:
            os._exit(77)
        os._exit(0)
    return os.waitpid(pid, 0)[1]

read = lambda path: open(path, "rb").read(1)
C = CANARY.encode()
bad(1, "read shadow", lambda: read("/etc/shadow"))
bad(2, "list home", lambda: os.listdir(HOME))
bad(3, "read canary", lambda: read(CANARY))
bad(4, "environ of the server", lambda: read(f"/proc/{SERVER}/environ"))
bad(5, "sys", lambda: os.listdir("/sys"))
bad(6, "var", lambda: os.listdir("/var"))
bad(7, "stat canary", lambda: os.stat(CANARY))
bad(8, "server in proc", lambda: os.stat(f"/proc/{SERVER}"))
bad(9, "memory of 1", lambda: read("/proc/1/mem"))
bad(10, "root of 1", lambda: os.listdir("/proc/1/root"))
bad(11, "proc sys", lambda: read("/proc/sys/kernel/hostname"))
bad(12, "kcore", lambda: read("/proc/kcore"))
bad(13, "chmod canary", lambda: os.chmod(CANARY, 0o6777))
bad(14, "chown canary", lambda: os.chown(CANARY, os.getuid(), os.getgid()))
bad(15, "utime canary", lambda: os.utime(CANARY, (1, 1)))
bad(16, "setxattr canary", lambda: os.setxattr(CANARY, "user.x", b"x"))
bad(17, "chmod home", lambda: os.chmod(HOME, 0))
bad(18, "append", lambda: open(CANARY, "ab").write(b"x"))
bad(19, "truncate", lambda: os.truncate(CANARY, 0))
bad(20, "unlink", lambda: os.unlink(CANARY))
bad(21, "rename", lambda: os.rename(CANARY, CANARY + "2"))
bad(22, "hard link", lambda: os.link(CANARY, "linked"))
system = os.open("/usr/bin/env", os.O_RDONLY)
bad(23, "fchmod system file", lambda: os.fchmod(system, 0o777))
bad(24, "setflags", lambda: fcntl.ioctl(system, 0x40086602, b"\0" * 8))
bad(25, "write root", lambda: open("/new", "w"))
bad(26, "write usr", lambda: open("/usr/new", "w"))
bad(27, "write dev", lambda: open("/dev/new", "w"))
bad(28, "mknod char", lambda: os.mknod("char", stat.S_IFCHR | 0o666, os.makedev(1, 1)))
bad(29, "mknod block", lambda: os.mknod("block", stat.S_IFBLK | 0o666, os.makedev(8, 0)))
bad(31, "link to shadow", lambda: (os.symlink("/etc/shadow", "link"), read("link")))
bad(32, "root link with ..", lambda: read("/proc/self/root/../etc/shadow"))
fds = [fd for fd in range(3, 1024) if fd != system and os.path.exists(f"/proc/self/fd/{fd}")]
inherited = []
for fd in range(3, 256):
    try:
        if fd != system:
            os.fstat(fd); inherited.append(fd)
    except OSError:
        pass
print(33, "inherited descriptors", "NONE" if not inherited else f"DONE {inherited}", flush=True)
def own_descriptors():
    shown = []
    for fd in os.listdir("/proc/self/fd"):
        try:
            shown.append((int(fd), os.readlink("/proc/self/fd/" + fd)))
        except OSError:
            pass
    # The listing itself has one open.
    more = [one for one in shown if one[0] > 2 and one[0] != system and not one[1].startswith("/proc/")]
    if not more:
        raise FileNotFoundError
    print(more, file=sys.stderr)
bad(34, "descriptors in proc", own_descriptors)
MOUNT = {"mount": 165, "umount": 166, "pivot": 155} if X86 else {"mount": 40, "umount": 39, "pivot": 41}
bad(35, "mount", lambda: call(MOUNT["mount"], b"none", b"/tmp", b"tmpfs", 0, None))
bad(36, "umount", lambda: call(MOUNT["umount"], b"/", 2))
bad(37, "remount", lambda: call(MOUNT["mount"], b"none", b"/", b"", 32, None))
bad(38, "mount_setattr", lambda: call(442, -100, b"/", 0, b"\0" * 32, 32))
bad(39, "pivot_root", lambda: call(MOUNT["pivot"], b".", b"."))
bad(40, "fsopen", lambda: call(430, b"tmpfs", 0))
UNSHARE, CLONE, SETNS = (272, 56, 308) if X86 else (97, 220, 268)
bad(41, "unshare user", lambda: call(UNSHARE, 0x10000000))
bad(42, "unshare mount", lambda: call(UNSHARE, 0x20000))
bad(43, "unshare net", lambda: call(UNSHARE, 0x40000000))
bad(44, "clone user", lambda: call(CLONE, 0x10000000 | 17, 0, 0, 0, 0) or os._exit(0))
bad(45, "setns", lambda: call(SETNS, system, 0))
bad(46, "clone3", lambda: call(435, b"\0" * 64, 64))
bad(47, "kill server", lambda: os.kill(SERVER, 0))
bad(48, "pidfd of server", lambda: call(424, call(434, SERVER, 0), 0, None, 0))
bad(49, "ptrace server", lambda: call(101 if X86 else 117, 16, SERVER, 0, 0))
bad(50, "nice of server", lambda: os.setpriority(os.PRIO_PROCESS, SERVER, 19))
bad(51, "affinity of server", lambda: os.sched_setaffinity(SERVER, {0}))
bad(52, "policy of server", lambda: os.sched_setscheduler(SERVER, os.SCHED_IDLE, os.sched_param(0)))
bad(53, "ioprio of server", lambda: call(251 if X86 else 30, 1, SERVER, 3 << 13))
bad(54, "rlimit of server", lambda: resource.prlimit(SERVER, resource.RLIMIT_NOFILE, (64, 64)))
bad(55, "lower oom_score_adj", lambda: open("/proc/self/oom_score_adj", "w").write("0"))
for number, name, family in [(56, "inet", 2), (57, "unix", 1), (58, "netlink", 16), (59, "vsock", 40), (60, "alg", 38)]:
    bad(number, "socket " + name, lambda: socket.socket(family, socket.SOCK_STREAM if family != 38 else 5).close())
bad(61, "abstract socket of the server", lambda: socket.socket(1).connect("\0" + ABSTRACT))
bad(62, "path socket of the server", lambda: socket.socket(1).connect(SOCKET))
def pass_descriptor():
    a, b = socket.socketpair()
    socket.send_fds(a, [b"x"], [system])
    got = socket.recv_fds(b, 1, 1)[1]
    os.fstat(got[0])
good(63, "descriptor in an own pair", pass_descriptor)
IPC = (29, 68, 240) if X86 else (194, 186, 180)
bad(64, "shmget", lambda: call(IPC[0], 0, 4096, 0o1600))
bad(65, "msgget", lambda: call(IPC[1], 0, 0o1600))
bad(66, "mq_open", lambda: call(IPC[2], b"q", 0o102, 0o600, None))
bad(67, "io_uring", lambda: call(425, 8, b"\0" * 120))
bad(68, "bpf", lambda: call(321 if X86 else 280, 0, b"\0" * 64, 64))
bad(69, "perf", lambda: call(298 if X86 else 241, b"\0" * 112, 0, -1, -1, 0))
bad(70, "userfaultfd", lambda: call(323 if X86 else 282, 0))
bad(71, "keyctl", lambda: call(250 if X86 else 219, 0, -3, 0))
bad(72, "kexec", lambda: call(246 if X86 else 104, 0, 0, None, 0))
bad(73, "memfd", lambda: os.memfd_create("x"))
bad(74, "inotify", lambda: call(294 if X86 else 26, 0))
bad(75, "fanotify", lambda: call(300 if X86 else 262, 0, 0))
if X86:
    status = child(lambda: call(0x40000000 | 39))
    print(76, "x32", "KILLED" if os.WIFSIGNALED(status) else "DONE", flush=True)
    def old_numbering():
        import mmap
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        # mov eax, 20; int 0x80; ret
        page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
        ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
    status = child(old_numbering)
    print(77, "int 0x80", "KILLED" if os.WIFSIGNALED(status) else "DONE", flush=True)
bad(78, "unknown call", lambda: call(470))
bad(79, "setuid 0", lambda: os.setresuid(0, 0, 0))
def become_root():
    shown = subprocess.run(["/bin/su", "-c", "id -u"], stdin=subprocess.DEVNULL, capture_output=True)
    if shown.stdout.strip() != b"0":
        raise PermissionError(errno.EPERM, "su")
bad(80, "su", become_root)
bad(81, "ambient capability", lambda: libc.prctl(47, 2, 21, 0, 0) == 0 or (_ for _ in ()).throw(PermissionError(errno.EPERM, "")))
def timers():
    made = 0
    for _ in range(5000):
        timer = ctypes.c_int()
        if libc.syscall(222 if X86 else 107, 0, None, ctypes.byref(timer)) != 0:
            break
        made += 1
    print(82, "timers", f"LIMIT" if made < 4000 else "DONE", flush=True)
timers()
def timer_descriptors():
    made = []
    for _ in range(5000):
        fd = libc.syscall(283 if X86 else 85, 1, 0)
        if fd < 0:
            break
        made.append(fd)
    for fd in made:
        os.close(fd)
    print(83, "timer descriptors", "LIMIT" if len(made) < 4000 else "DONE", flush=True)
timer_descriptors()
def queue_signals():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
    for _ in range(5000):
        if libc.sigqueue(os.getpid(), int(signal.SIGRTMIN), None) != 0:
            raise OSError(ctypes.get_errno(), "sigqueue")
print(84, "queued signals", "LIMIT" if os.waitstatus_to_exitcode(child(queue_signals)) == 77 else "DONE", flush=True)
def setuid_copy():
    import shutil
    shutil.copy("/bin/sh", "sh"); os.chmod("sh", 0o6755)
    shown = subprocess.run(["./sh", "-c", "id -u"], capture_output=True).stdout.strip()
    assert shown == str(os.getuid()).encode(), shown
good(30, "setuid copy has the own user", setuid_copy)
good(101, "tempfile", lambda: tempfile.TemporaryFile().write(b"x"))
def run_asyncio():
    import asyncio
    async def main():
        made = await asyncio.create_subprocess_exec("/bin/echo", "hi", stdout=asyncio.subprocess.PIPE)
        assert (await made.communicate())[0] == b"hi\n"
    asyncio.run(main())
good(102, "asyncio with a subprocess", run_asyncio)
def pool():
    from multiprocessing import get_context
    with get_context("fork").Pool(3) as made:
        assert made.map(abs, range(-5, 5))[0] == 5
good(103, "Pool", pool)
def threads():
    done = []
    all_ = [threading.Thread(target=lambda: done.append(1)) for _ in range(8)]
    [one.start() for one in all_]; [one.join() for one in all_]
    assert len(done) == 8
good(104, "threads", threads)
def sqlite():
    import sqlite3
    base = sqlite3.connect("base.db"); base.execute("create table t(x)"); base.commit()
good(105, "sqlite", sqlite)
good(106, "shell", lambda: subprocess.run("echo hi | tr a-z A-Z > shell.out", shell=True, check=True))
def zone():
    import zoneinfo
    zoneinfo.ZoneInfo("UTC")
good(107, "zoneinfo", zone)
def copying():
    import shutil
    open("from", "w").write("x"); shutil.copy("from", "to"); shutil.copy2("from", "to2"); os.rename("to", os.path.join(tempfile.gettempdir(), "moved"))
good(108, "copy and move", copying)
print("END", flush=True)
