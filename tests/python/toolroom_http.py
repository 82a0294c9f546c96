"""A running Toolroom over HTTP: where it is and who is asking, both from the environment."""

import os

import httpx

BASE_URL = os.environ["TOOLROOM_URL"]
# One key per user of the tests, the first user's first.
KEYS = os.environ["TOOLROOM_KEYS"].split(",")
# The names behind the keys, in the same order.
USERS = os.environ["TOOLROOM_USERS"].split(",")


def http(user_id=1):
    """An HTTP client that speaks for the user of this number, counted from 1."""
    return httpx.Client(
        base_url=BASE_URL, headers={"X-API-Key": KEYS[user_id - 1]}, trust_env=False, timeout=30
    )


def functions(profile):
    """The functions of a profile, as OpenAI's `tools=` takes them."""
    with http() as client:
        answer = client.get(f"/api/v1/profiles/{profile}/functions")
    answer.raise_for_status()
    return answer.json()


def call_function(profile, name, arguments, user_id=1):
    """Calls a function of a profile: the arguments in, exactly the published answer out."""
    with http(user_id) as client:
        answer = client.post(f"/api/v1/profiles/{profile}/functions/{name}", json=arguments)
    answer.raise_for_status()
    return answer.json()


def titles():
    """The titles of the first user's tasks."""
    return [task["title"] for task in call_function("assistant", "list_tasks", {})["tasks"]]
