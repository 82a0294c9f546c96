"""Every test starts with empty lists, as with a database of its own."""

import pytest

from assistant_client import delete_task, list_tasks
from toolroom_http import KEYS


@pytest.fixture(autouse=True)
def empty_lists():
    for user_id in range(1, len(KEYS) + 1):
        for task in list_tasks(user_id)["tasks"]:
            delete_task(user_id, task_id=task["id"])
