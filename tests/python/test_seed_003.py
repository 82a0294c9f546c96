"""The contract tests that the contract of the profile `assistant` publishes, as they stand there.

Only the imports of the tools are added. `ValidationError` is pydantic's; see assistant_client for how a
refusal by the server becomes one.
"""

import pytest
from pydantic import ValidationError

from assistant_client import add_task, create_task, delete_task, find_task, get_task, list_tasks


def test_add_task_contract_valid():
    """add_task accepts valid inputs"""
    result = add_task(title="Buy milk", priority="high")
    assert result["success"] == True
    assert result["task"]["title"] == "Buy milk"

def test_add_task_contract_invalid_title():
    """add_task rejects empty title"""
    with pytest.raises(ValidationError):
        add_task(title="", priority="high")

def test_add_task_contract_invalid_priority():
    """add_task rejects invalid priority"""
    with pytest.raises(ValidationError):
        add_task(title="Buy milk", priority="urgent")

def test_list_tasks_returns_only_user_tasks():
    """list_tasks enforces user isolation"""
    # Create tasks for two users
    create_task(user_id=1, title="User 1 task")
    create_task(user_id=2, title="User 2 task")

    # Request as user 1
    result = list_tasks(user_id=1)
    assert result["count"] == 1
    assert result["tasks"][0]["title"] == "User 1 task"

def test_find_task_fuzzy_matching():
    """find_task returns tasks above confidence threshold"""
    create_task(user_id=1, title="Buy milk from store")

    # Exact match
    result = find_task(query="Buy milk from store")
    assert result["confidence"] == 1.0

    # Partial match
    result = find_task(query="milk")
    assert result["confidence"] >= 0.7
    assert result["task"]["title"] == "Buy milk from store"

    # Typo tolerance
    result = find_task(query="mlik")  # typo
    assert result["confidence"] >= 0.6

def test_delete_task_requires_ownership():
    """delete_task rejects deletion of other user's task"""
    task = create_task(user_id=1, title="User 1 task")

    # Try to delete as user 2
    result = delete_task(task_id=task.id, user_id=2)
    assert result["success"] == False
    assert result["code"] == "NOT_FOUND"

    # Verify task still exists
    task = get_task(task_id=task.id, user_id=1)
    assert task is not None
