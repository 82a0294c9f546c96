"""Three servers behind HAProxy, with the configuration and the settings of deploy/compose."""

import contextlib
import os
import socket
import subprocess
import threading
import urllib.request

import pytest
from servers import DEPLOY, ask, connect, ended, run, serve, until

FOLDER = DEPLOY / "compose"
ROUNDS = 10 if "TOOLROOM_SOAK" in os.environ else 1


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Balancer:
    """HAProxy with the file of the deployment; only the addresses are others."""

    def __init__(self, folder, ports):
        self.port, self.status = free_ports(2)
        text = (FOLDER / "haproxy.cfg").read_text()
        places = {"bind :8080": f"bind 127.0.0.1:{self.port}", "bind :8404": f"bind 127.0.0.1:{self.status}"}
        for number, port in enumerate(ports, 1):
            places[f"toolroom-{number}:7878"] = f"127.0.0.1:{port}"
        for before, after in places.items():
            assert text.count(before) == 1, before
            text = text.replace(before, after)
        file = folder / "haproxy.cfg"
        file.write_text(text)
        program = os.environ["TOOLROOM_TEST_HAPROXY"]
        # Warnings are errors.
        checked = subprocess.run([program, "-c", "-dW", "-f", file], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr
        with (folder / "haproxy.log").open("w") as log:
            self.process = subprocess.Popen([program, "-db", "-f", file], stdout=log, stderr=log)

    def is_up(self, number):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.status}/stats;csv", timeout=10) as answer:
                rows = [line.split(",") for line in answer.read().decode().splitlines()]
        except OSError:
            return False
        return any(row[:2] == ["toolroom", f"toolroom-{number + 1}"] and row[17].startswith("UP") for row in rows)


class Room:
    """The servers and the balancer in front of them."""

    def __init__(self, folder, stack):
        self.homes, self.ports = [folder / f"home-{number}" for number in range(3)], free_ports(3)
        settings = (FOLDER / "toolroom.toml").read_text().replace("172.30.78.2", "127.0.0.1")
        for home in self.homes:
            run(["toolroom", "init"], home)
            (home / "toolroom.toml").write_text(settings)
        self.key = run(["toolroom", "keys", "create", "--user", "ada", "--grant", "*"], self.homes[0])
        self.servers = []
        stack.callback(lambda: [server.kill() for server in self.servers])
        for number in range(3):
            self.servers.append(self.start(number))
        self.balancer = Balancer(folder, self.ports)
        stack.enter_context(ended(self.balancer.process))
        for number in range(3):
            self.wait_for(number)

    def start(self, number):
        listen = f"127.0.0.1:{self.ports[number]}"
        return serve(["toolroom", "serve", "--shared", "--listen", listen], self.homes[number])[0]

    def wait_for(self, number):
        until(f"HAProxy sees server {number}", lambda: self.balancer.is_up(number))

    def restart(self, number):
        self.servers[number].terminate()
        assert self.servers[number].wait(timeout=60) == 0
        self.servers[number] = self.start(number)
        self.wait_for(number)


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    with contextlib.ExitStack() as stack:
        yield Room(tmp_path_factory.mktemp("room"), stack)


def test_a_session_of_an_older_mcp_client_is_served_by_any_server(room):
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}

    def send(method, number, params, session=None):
        connection = connect(room.balancer.port)
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        more = {"Mcp-Session-Id": session} if session else {}
        status, answer = ask(connection, "POST", "/mcp", room.key, body, headers | more)
        assert status == 200, answer
        return connection.last_headers["Mcp-Session-Id"]

    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    for _ in range(3):
        session = send("initialize", 1, client)
        assert session
        for number in range(2, 8):
            send("tools/list", number, {}, session)


class Load:
    """One client that keeps its connection, and calls in a loop."""

    def __init__(self, room, calls):
        self.connection, self.key, self.calls = connect(room.balancer.port), room.key, calls
        self.answered, self.failed, self.over = 0, [], threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.over.is_set():
            call, params = self.calls[self.answered % len(self.calls)]
            try:
                status, body = ask(self.connection, "POST", f"/api/v1/tools/{call}", self.key, {"params": params})
            except OSError as error:
                status, body = None, repr(error)
                self.connection.close()
            if status in (200, 202):
                self.answered += 1
            else:
                self.failed.append((call, status, body))

    def stop(self):
        self.over.set()
        self.thread.join()


def test_a_rolling_restart_of_all_servers_fails_no_request(room):
    titled = {"title": "Water the plants"}
    quick = [("create-task/call", titled), ("list-tasks/call", {}), ("find-tasks/call", {"query": "plants"})]
    # Waits for a person who never comes: it is under way whenever a server stops.
    long = [("delete-task/call?wait=4", {"taskId": 1})]
    with contextlib.ExitStack() as stack:
        loads = []
        for calls in [quick, quick, quick, long]:
            loads.append(Load(room, calls))
            stack.callback(loads[-1].stop)
        for _ in range(ROUNDS):
            for number in range(3):
                before = sum(load.answered for load in loads)
                room.restart(number)
                assert sum(load.answered for load in loads) > before, "the others served meanwhile"
    failed = [failure for load in loads for failure in load.failed]
    answered = [load.answered for load in loads]
    assert not failed, f"{len(failed)} failed beside {answered}: {failed[:3]}"
    assert min(answered) > 0, answered
    print(f"{sum(answered)} answered, none failed")
