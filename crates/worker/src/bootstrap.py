"""Runs inside a warm worker: imports one script, then answers framed requests until the pipe ends.

A frame is a length of four bytes (big-endian) and that many bytes of JSON. Requests are
[id, params, context]; answers are [id, {kind: body}]. The id 0 belongs to no call. A frame `ask` is
answered in mid-call by [id, {"answer": value}].

Arguments: the script, its function, the largest answer, seconds of CPU time per call, and if tools may be
typed the folder that holds the `toolroom` module; then `describe`, if only the definitions are wanted.
"""

import json
import os
import sys
from _thread import _count, allocate_lock, get_ident

CAMEL = {
    "user_id": "userId",
    "session_id": "sessionId",
    "correlation_id": "correlationId",
    "trace_id": "traceId",
    "agent_id": "agentId",
    "agent_version": "agentVersion",
    "idempotency_key": "idempotencyKey",
    "approval_id": "approvalId",
    "dry_run": "dryRun",
}
FIELDS = set(CAMEL.values()) | {"timestamp", "timezone", "metadata"}
LINE_LIMIT = 8192
# The end of a traceback is what helps. With every character escaped it still fits into a frame.
TRACEBACK_LIMIT = 32768
CUT = "[the beginning was cut]\n..."
# What starts a process, as the interpreter tells its audit hooks.
STARTS = frozenset(("os.fork", "os.forkpty", "os.posix_spawn", "os.system", "subprocess.Popen"))

# Only a number as long as this can be too large for 64 bits. Looking for it in this way costs little.
MANY_DIGITS = b"0" * 19
ZEROS = bytes.maketrans(b"123456789", b"000000000")

# Made once: json.dumps builds an encoder for each call that is not plain.
render = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
parse = json.JSONDecoder().decode


class Channel:
    """The two pipes to the parent. The script never sees them: its own 0 and 1 lead elsewhere."""

    def __init__(self, limit):
        self.limit = limit
        self.lock = allocate_lock()
        self.call = 0
        self.main = get_ident()
        # The threads that were there before the call began.
        self.before = frozenset()
        self.started = False
        # Python makes both close-on-exec, so that no program started by the script inherits them.
        self.source = os.dup(0)
        self.drain = os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)

    def forget(self):
        """In a forked child: the frames belong to the parent alone."""
        for name in ("source", "drain"):
            descriptor = getattr(self, name)
            if descriptor >= 0:
                os.close(descriptor)
                setattr(self, name, -1)
        self.lock = allocate_lock()

    def begin(self, call):
        self.call = call
        self.before = self.threads()

    def threads(self):
        """The threads beside the main one."""
        return frozenset(sys._current_frames()) - {self.main} if _count() else frozenset()

    def speaker(self):
        """The call that the running thread works for. One that was there before the call may still have
        something to say of another's: it speaks for no call."""
        return 0 if self.before and get_ident() in self.before else self.call

    def watch(self, event, _):
        if event in STARTS:
            self.started = True

    def tell_leftovers(self):
        """Says what of the call goes on behind its answer, so that it cannot speak in the next one."""
        if _count() and self.threads() - self.before:
            self.send("left", "threads")
        elif self.started or has_children():
            self.send("left", "processes")
        self.started = False
        disarm_timers()

    def read(self):
        """The next request; None at the end. The parent sends one only when the last was answered."""
        frame = self.some(65536)
        while 0 < len(frame) < 4:
            frame = self.joined(frame, 4 - len(frame))
        if not frame:
            return None
        due = 4 + int.from_bytes(frame[:4], "big") - len(frame)
        if due > 0:
            frame = self.joined(frame, due)
        return parse(frame[4:].decode("utf-8")) if frame else None

    def joined(self, start, due):
        """What was read with what is due; nothing if the pipe ends before."""
        parts = [start]
        while due > 0:
            # Asking for much costs a large allocation, so that is done only when much is due.
            part = self.some(min(due, 1 << 20))
            if not part:
                return b""
            parts.append(part)
            due -= len(part)
        return b"".join(parts)

    def some(self, size):
        return os.read(self.source, size) if self.source >= 0 else b""

    def answer(self, kind, body, typed):
        try:
            try:
                self.send(kind, body)
            except TypeError:
                if not typed:
                    raise
                # Dataclasses, dates, models: looked at only if the plain encoder could not.
                from toolroom.output import to_plain

                self.send(kind, to_plain(body))
        except Inexact as error:
            self.send("unreadable", clean(str(error))[:LINE_LIMIT])
        except (TypeError, ValueError, RecursionError) as error:
            self.send("badOutput", clean(str(error))[:LINE_LIMIT])

    def send(self, kind, body, call=None):
        call = self.call if call is None else call
        data = encode(call, kind, body)
        if kind in ("result", "content"):
            if len(data) > self.limit:
                data = encode(call, "tooLarge", len(data))
            elif MANY_DIGITS in data.translate(ZEROS):
                refuse_large_integers(parse(data.decode("utf-8"))[1][kind])
        data = len(data).to_bytes(4, "big") + data
        with self.lock:
            if self.drain < 0:
                return
            view = memoryview(data)
            while view:
                view = view[os.write(self.drain, view) :]


def encode(call, kind, body):
    return render([call, {kind: body}]).encode("utf-8")


class Inexact(Exception):
    """An answer that would not arrive as it is; its words are meant for the caller."""


def refuse_large_integers(value, place=""):
    """Readers of JSON take them for floats, and their digits would be lost without a word."""
    if type(value) is int and not -(1 << 63) <= value < 1 << 64:
        where = "at " + place if place else "that is the answer"
        raise Inexact("the integer %s does not fit into 64 bits and would lose digits" % where)
    items = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    for name, item in items:
        refuse_large_integers(item, "%s/%s" % (place, name))


class Lines:
    """Stands in for sys.stdout and sys.stderr: each line becomes a log message."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, channel, kind, descriptor):
        self.channel = channel
        self.kind = kind
        self.descriptor = descriptor
        # What has no line end yet, by call.
        self.rests = {}

    def write(self, text):
        if self.channel.drain < 0:
            os.write(self.descriptor, text.encode("utf-8", "replace"))
            return len(text)
        call = self.channel.speaker()
        lines = (self.rests.pop(call, "") + text).split("\n")
        rest = lines.pop()[-LINE_LIMIT:]
        if rest:
            self.rests[call] = rest
        for line in lines:
            self.say(call, line)
        return len(text)

    def say(self, call, line):
        text = clean(line[:LINE_LIMIT])
        self.channel.send(self.kind, {"level": "info", "text": text} if self.kind == "log" else text, call)

    def flush(self):
        pass

    def finish(self):
        rest = self.rests.pop(self.channel.call, "")
        if rest:
            self.say(self.channel.call, rest)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def fileno(self):
        return self.descriptor

    def isatty(self):
        return False

    def writable(self):
        return True


class Context(dict):
    """The call's context: a dict, with its fields as attributes too, and ways to report and to ask."""

    channel = None
    # Its own, so that a thread that outlives the call cannot speak in another's.
    call = 0

    def __getattr__(self, name):
        key = CAMEL.get(name, name)
        if key in self:
            return self[key]
        if key in FIELDS:
            return None
        raise AttributeError(name)

    def progress(self, progress, total=None, message=None):
        note = None if message is None else clean(str(message))[:LINE_LIMIT]
        done, total = float(progress), None if total is None else float(total)
        self.channel.send("progress", {"progress": done, "total": total, "message": note}, self.call)

    def log(self, text, level="info"):
        self.channel.send("log", {"level": str(level), "text": clean(str(text))[:LINE_LIMIT]}, self.call)

    def ask(self, question, choices=None, schema=None):
        """Asks the person, and waits: their answer, or None if they would not give one."""
        if self.call != self.channel.call:
            raise RuntimeError("the call is over: nobody can be asked")
        # The person chooses among texts, and the tool gets what it gave.
        given = {clean(str(choice)): choice for choice in choices or ()}
        asked = {"question": clean(str(question))[:LINE_LIMIT], "choices": list(given) or None, "schema": schema}
        self.channel.send("ask", asked, self.call)
        answer = self.channel.read()
        if answer is None:
            os._exit(0)
        answer = answer[1].get("answer")
        return given.get(answer, answer) if isinstance(answer, str) else answer


def load(path):
    import importlib.util

    sys.dont_write_bytecode = True
    # Last: a tool named like a module of Python's, or like an installed one, must not stand in for it in other tools.
    sys.path.append(os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("toolroom_script", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["toolroom_script"] = module
    spec.loader.exec_module(module)
    return module


def prepare(module, entrypoint, folder):
    """What takes parameters and context, and what makes a frame of the result."""
    function = getattr(module, entrypoint, None)
    if not callable(function):
        raise AttributeError("the script has no function %r" % entrypoint)
    if not folder or is_plain(function):
        return function, None
    from toolroom.calling import Caller

    caller = Caller(function)
    return caller, caller.frame


def is_plain(function):
    """Whether it takes what was sent as it is: `run(params, context)`, not marked, not typed."""
    while hasattr(function, "__wrapped__") and "__toolroom__" not in function.__dict__:
        function = function.__wrapped__
    if "__toolroom__" in getattr(function, "__dict__", ()):
        return False
    code = getattr(function, "__code__", None)
    # An object that can be called, or one that takes whatever comes.
    if code is None or code.co_flags & 0x0C:
        return True
    names = code.co_varnames[: code.co_argcount]
    hinted = any(name in function.__annotations__ for name in names)
    return names[:1] == ("params",) or (len(names) == 2 and not hinted and not code.co_kwonlyargcount)


def describe(channel, path):
    """Tells what tools the script has, or why that cannot be told, with the line."""
    try:
        module = load(path)
        from toolroom.describe import definitions

        channel.send("definitions", definitions(module, is_plain), 0)
    except BaseException as error:
        body = failure(error, True)
        body["line"] = line_in(path, error)
        channel.send("error", body, 0)


def line_in(path, error):
    """The last line of the script that had to do with it."""
    if getattr(error, "file", getattr(error, "filename", None)) == path:
        return getattr(error, "line", None) or getattr(error, "lineno", None)
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def failure(error, fatal):
    import traceback

    try:
        trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    except BaseException:
        trace = ""
    return {
        "type": clean(type(error).__name__)[:200],
        "message": clean(text_of(error)[:LINE_LIMIT]),
        "traceback": clean(trace if len(trace) <= TRACEBACK_LIMIT else CUT + trace[-TRACEBACK_LIMIT:]),
        "fatal": fatal or isinstance(error, MemoryError),
    }


def refusal(error):
    """The frame of what the author raised on purpose; None for any other exception."""
    if "toolroom.errors" not in sys.modules:
        return None
    from toolroom.calling import refusal as of

    try:
        kind, body = of(error) or (None, None)
        return render(body) and (kind, body) if kind else None
    except Exception:
        # Its details cannot be written down; then it is told like any other.
        return None


def text_of(error):
    """What an exception says. Its own code may fail at that."""
    try:
        return str(error)
    except BaseException:
        return ""


def has_children():
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def disarm_timers():
    """A timer of one call must not ring in the next."""
    if "signal" in sys.modules:
        import _signal

        for timer in (_signal.ITIMER_REAL, _signal.ITIMER_VIRTUAL, _signal.ITIMER_PROF):
            _signal.setitimer(timer, 0)


def clean(text):
    """Lone surrogates cannot be written as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def limit_cpu(seconds):
    """Each call has the whole allowance: the limit moves on from what the worker has used."""
    import resource

    def apply():
        usage = resource.getrusage(resource.RUSAGE_SELF)
        used = usage.ru_utime + usage.ru_stime
        resource.setrlimit(resource.RLIMIT_CPU, (int(used) + 1 + seconds, resource.RLIM_INFINITY))

    return apply


class Loop:
    """The one event loop of the worker. Making one for each call would take five times as long as a call."""

    def __init__(self):
        self.loop = None

    def run(self, result):
        """The result, awaited if it must be. What a call leaves behind in the loop is ended."""
        if not hasattr(result, "__await__"):
            return result
        import asyncio

        if self.loop is None:
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)

        try:
            return self.loop.run_until_complete(result)
        finally:
            left = asyncio.all_tasks(self.loop)
            if left:
                for task in left:
                    task.cancel()
                self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            if getattr(self.loop, "_default_executor", None) is not None:
                # Its threads would outlive the call, and a loop without them is of no further use.
                self.loop.run_until_complete(self.loop.shutdown_default_executor())
                self.loop.close()
                self.loop = None


def main():
    path, entrypoint, limit, cpu = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    folder, describing = sys.argv[5] if len(sys.argv) > 5 else "", sys.argv[6:] == ["describe"]
    sys.argv = [path]
    channel = Channel(limit)
    Context.channel = channel
    os.register_at_fork(after_in_child=channel.forget)
    sys.addaudithook(channel.watch)
    out, err = Lines(channel, "log", 1), Lines(channel, "stderr", 2)
    sys.stdout, sys.stderr = out, err
    allow = limit_cpu(cpu) if cpu else None
    function, frame, broken, loop = None, None, None, Loop()
    if folder:
        # First: the worker's own, whatever else is installed under its name.
        sys.path.insert(0, folder)
    if allow:
        allow()
    if describing:
        describe(channel, path)
        os._exit(0)
    try:
        function, frame = prepare(load(path), entrypoint, folder)
    except BaseException as error:
        broken = error
    while True:
        request = channel.read()
        if request is None:
            break
        call, params, context = request
        channel.begin(call)
        if broken is not None:
            channel.send("error", failure(broken, True))
            break
        if allow:
            allow()
        owner = os.getpid()
        try:
            context = Context(context)
            context.call = call
            result = loop.run(function(params, context))
            if os.getpid() != owner:
                os._exit(0)
            out.finish()
            err.finish()
            kind, body = frame(result) if frame else ("result", result)
            channel.tell_leftovers()
            channel.answer(kind, body, folder)
        except BaseException as error:
            if os.getpid() != owner:
                os._exit(1)
            out.finish()
            err.finish()
            channel.tell_leftovers()
            channel.send(*(refusal(error) or ("error", failure(error, False))))
    os._exit(0)


main()
