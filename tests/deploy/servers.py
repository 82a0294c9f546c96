"""Commands and servers of the real program, on the database that the environment names, and plain HTTP to them."""

import contextlib
import http.client
import json
import os
import subprocess
import time
from pathlib import Path

DEPLOY = Path(__file__).parents[2] / "deploy"
PROGRAM = Path(os.environ["TOOLROOM_PROGRAM"])
PATIENCE = 60

ENVIRONMENT = {
    # The scripts of the deployments call `toolroom`.
    "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}",
    "TOOLROOM_DATABASE": os.environ["TOOLROOM_TEST_DATABASE"],
    "TOOLROOM_SEAL_KEY": "5e" * 32,
}


def run(command, home, **more):
    """What a command prints; it must succeed."""
    done = subprocess.run(command, env=ENVIRONMENT | {"TOOLROOM_HOME": str(home)}, capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


@contextlib.contextmanager
def ended(process):
    """Ends the process with the block."""
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def serve(command, home):
    """A server, and the port on which it listens."""
    log = Path(f"{home}.log")
    with log.open("a") as writer:
        environment = ENVIRONMENT | {"TOOLROOM_HOME": str(home)}
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=writer, text=True)
    line = process.stdout.readline()
    assert line.startswith("listening on http://"), f"it said {line!r}: {log.read_text()}"
    return process, int(line.rsplit(":", 1)[1])


def ask(connection, method, path, key=None, body=None, headers=None):
    """The status and the JSON or text of an answer; its headers are left with the connection."""
    headers = {"Content-Type": "application/json"} | ({"X-API-Key": key} if key else {}) | (headers or {})
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    connection.last_headers = answer.headers
    text = answer.read().decode()
    with contextlib.suppress(ValueError):
        return answer.status, json.loads(text)
    return answer.status, text


def connect(port):
    return http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)


def until(what, look):
    """Looks until it is so."""
    began = time.monotonic()
    while not (found := look()):
        assert time.monotonic() - began < PATIENCE, f"never: {what}"
        time.sleep(0.05)
    return found
