"""A client that `openapi-python-client` generates from the OpenAPI document, which calls with it."""

import importlib
import subprocess
import sys

import pytest

from toolroom_http import BASE_URL, KEYS

# Fails on every warning: one means that something of the document is left out.
GENERATE = ["generate", "--fail-on-warning", "--meta", "none", "--url", f"{BASE_URL}/openapi.json"]
# Metrics are text to this program, which does not know their media type; formatting the code needs another program.
CONFIG = '{"content_type_overrides": {"application/openmetrics-text": "text/plain"}, "post_hooks": []}'


@pytest.fixture(scope="module")
def toolroom(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generated")
    (folder / "config.json").write_text(CONFIG)
    package = ["--config", folder / "config.json", "--output-path", folder / "toolroom_client"]
    done = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", *GENERATE, *package], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, str(folder))
    yield lambda module: importlib.import_module(f"toolroom_client.{module}")
    sys.path.remove(str(folder))


@pytest.fixture
def client(toolroom):
    return toolroom("client").AuthenticatedClient(
        base_url=BASE_URL, token=KEYS[0], httpx_args={"trust_env": False}
    )


def test_it_has_every_operation(toolroom, client):
    document = toolroom("api.server.get_openapi").sync(client=client).to_dict()
    ids = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]
    assert len(ids) > 80 and len(set(ids)) == len(ids)
    for path in document["paths"].values():
        for operation in path.values():
            module = "".join("_" + one.lower() if one.isupper() else one for one in operation["operationId"])
            assert toolroom(f"api.{operation['tags'][0]}.{module}").sync_detailed


def test_it_lists_and_calls_tools_and_reads_the_log(toolroom, client):
    models = toolroom("models")
    found = toolroom("api.tools.list_tools").sync(client=client, q="create a task")
    assert found.tools[0].name == "create-task"

    call = toolroom("api.tools.call_tool").sync_detailed
    body = models.CallRequest.from_dict({"params": {"title": "Buy milk"}})
    done = call("create-task", client=client, body=body, idempotency_key="milk")
    assert done.status_code == 200 and isinstance(done.parsed, models.ToolResult)
    assert done.parsed.data["task"]["title"] == "Buy milk" and done.parsed.agent_hints.confidence > 0

    refused = call("create-task", client=client, body=models.CallRequest.from_dict({"params": {}}))
    assert refused.status_code == 400
    assert refused.parsed.error.code == models.ErrorCode.INVALID_INPUT

    log = toolroom("api.executions.list_executions").sync(
        client=client, tool="create-task", status=models.ExecutionStatus.OK
    )
    assert [row.tool for row in log.executions] == ["create-task"]


def test_an_error_is_a_problem(toolroom, client):
    missing = toolroom("api.executions.get_execution").sync_detailed("none", client=client)
    assert (missing.status_code, missing.parsed.code) == (404, "not_found")
