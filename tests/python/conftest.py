"""Every test starts with empty lists, as with a database of its own."""

import httpx
import pytest

from assistant_client import delete_task, list_tasks
from toolroom_http import BASE_URL, KEYS


@pytest.fixture(autouse=True)
def empty_lists():
    for user_id in range(1, len(KEYS) + 1):
        for task in list_tasks(user_id)["tasks"]:
            delete_task(user_id, task_id=task["id"])


@pytest.fixture
def client():
    """The official OpenAI package, as the first user."""
    from openai import OpenAI

    with httpx.Client(trust_env=False) as plain:
        yield OpenAI(base_url=f"{BASE_URL}/v1", api_key=KEYS[0], max_retries=0, http_client=plain)
