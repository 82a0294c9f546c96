"""Drives a warm worker as the server does: frames over two pipes."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
BOOTSTRAP = (ROOT / "crates/worker/src/bootstrap.py").read_text()
MODULE = ROOT / "crates/worker/python"
ENDINGS = {"result", "error", "badOutput", "unreadable", "tooLarge", "refusal", "invalid", "content", "definitions"}


class Worker:
    """One worker of a script; every frame of the last call is kept in `frames`."""

    def __init__(self, path, entrypoint="run", *, folder=MODULE, limit=1 << 20, extra=(), cwd=None):
        arguments = [str(path), entrypoint, str(limit), "0", str(folder), *extra]
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-u", "-c", BOOTSTRAP, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=cwd or os.path.dirname(path),
            bufsize=0,
        )
        self.id = 0
        self.frames = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(10) == 0

    def call(self, params=None, context=None, answers=()):
        """The kind and body of the frame that ended the call."""
        self.id += 1
        self.send([self.id, params or {}, context or {}])
        self.frames, answers = [], list(answers)
        while True:
            call, message = self.read()
            ((kind, body),) = message.items()
            self.frames.append((call, kind, body))
            if kind == "ask":
                self.send([self.id, {"answer": answers.pop(0)}])
            if kind in ENDINGS:
                assert call == self.id
                return kind, body

    def send(self, value):
        data = json.dumps(value).encode()
        self.process.stdin.write(len(data).to_bytes(4, "big") + data)

    def read(self):
        size = int.from_bytes(self.exactly(4), "big")
        return json.loads(self.exactly(size))

    def exactly(self, size):
        data = b""
        while len(data) < size:
            part = self.process.stdout.read(size - len(data))
            if not part:
                raise EOFError("the worker ended")
            data += part
        return data


def describe(path, folder=MODULE):
    """What reading a file reports: the kind and body of its one frame."""
    worker = Worker(path, "", folder=folder, extra=["describe"])
    with worker:
        found = []
        while True:
            try:
                found.append(worker.read())
            except EOFError:
                break
    ends = [next(iter(message.items())) for _, message in found if next(iter(message)) in ENDINGS]
    assert len(ends) == 1, found
    return ends[0]
