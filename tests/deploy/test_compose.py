"""deploy/compose: read by Docker Compose, and its entrypoint tried with the real program."""

import os
import subprocess
import tomllib

import pytest
import yaml
from servers import DEPLOY, ask, connect, ended, run, serve

FOLDER = DEPLOY / "compose"
SERVERS = ["toolroom-1", "toolroom-2", "toolroom-3"]


def compose(env_file):
    command = [os.environ["TOOLROOM_TEST_COMPOSE"], "--env-file", env_file, "--file", FOLDER / "compose.yaml", "config"]
    # What is set outside would win over the file.
    clean = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    return subprocess.run(command, env=clean, capture_output=True, text=True)


def read_services(folder, changes):
    """The services as Compose understands them, with lines of the example filled in."""
    env_file = folder / "env"
    text = (FOLDER / ".env.example").read_text()
    for before, after in changes.items():
        assert f"\n{before}\n" in text
        text = text.replace(f"\n{before}\n", f"\n{after}\n")
    env_file.write_text(text)
    read = compose(env_file)
    assert read.returncode == 0, read.stderr
    return yaml.safe_load(read.stdout)["services"]


SECRETS = {"POSTGRES_PASSWORD=": "POSTGRES_PASSWORD=5e5e", "TOOLROOM_SEAL_KEY=": "TOOLROOM_SEAL_KEY=5e5e"}
REDIS = {
    "#COMPOSE_PROFILES=redis": "COMPOSE_PROFILES=redis",
    "#TOOLROOM_REDIS=redis://:PASSWORD@redis:6379": "TOOLROOM_REDIS=redis://:5e5e@redis:6379",
    "REDIS_PASSWORD=": "REDIS_PASSWORD=5e5e",
}


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    return read_services(tmp_path_factory.mktemp("compose"), SECRETS)


@pytest.fixture(scope="module")
def services_with_redis(tmp_path_factory):
    return read_services(tmp_path_factory.mktemp("compose-redis"), SECRETS | REDIS)


def settings():
    return tomllib.loads((FOLDER / "toolroom.toml").read_text())


def test_redis_counts_where_it_is_wanted(services, services_with_redis):
    assert sorted(services) == ["haproxy", "postgres", "redis", *SERVERS]
    # Started with this profile alone.
    assert services["redis"]["profiles"] == ["redis"]
    for name in SERVERS:
        assert not services[name]["environment"]["TOOLROOM_REDIS"]
        assert services_with_redis[name]["environment"]["TOOLROOM_REDIS"] == "redis://:5e5e@redis:6379"
    assert services_with_redis["redis"]["environment"]["REDISCLI_AUTH"] == "5e5e"


def test_no_service_has_more_rights_than_it_needs(services):
    for name, service in services.items():
        assert service["user"].split(":")[0] not in ("", "0", "root"), name
        assert service["cap_drop"] == ["ALL"] and "no-new-privileges:true" in service["security_opt"], name
        assert "privileged" not in service and "cap_add" not in service, name
        assert service["healthcheck"]["test"] and service["restart"] == "unless-stopped", name
        assert name == "postgres" or service["read_only"], name
    published = [port for service in services.values() for port in service.get("ports", [])]
    assert len(published) == 1 and "127.0.0.1" in str(published[0]), published


def test_servers_share_settings_and_nothing_else(services):
    homes = [volume for name in SERVERS for volume in services[name]["volumes"] if "/data" in str(volume)]
    assert len({str(home) for home in homes}) == len(SERVERS), homes
    for name in SERVERS:
        service = services[name]
        assert "--shared" in service["command"]
        stops = settings()["server"]
        assert stops["stop_delay"] + stops["grace"] < int(service["stop_grace_period"].rstrip("s")), name
    address = services["haproxy"]["networks"]["default"]["ipv4_address"]
    assert settings()["server"]["trusted_proxies"] == [address]


def test_secrets_must_be_given():
    refused = compose(FOLDER / ".env.example")
    assert refused.returncode != 0 and "see .env.example" in refused.stderr, refused.stderr


def test_the_entrypoint_fills_a_home_makes_the_first_key_and_serves(services, tmp_path):
    shell, flags, script, name = services["toolroom-1"]["entrypoint"]
    # As Compose prints it, and with the folder where it is here.
    script = script.replace("$$", "$").replace("/config", str(FOLDER))
    start = [shell, flags, script, name]
    listen = ["0.0.0.0:0" if word == "0.0.0.0:7878" else word for word in services["toolroom-1"]["command"]]
    first, second = tmp_path / "first", tmp_path / "second"
    with pytest.raises(AssertionError, match="has no key yet"):
        serve([*start, *listen], first)
    key = run([*start, "keys", "create", "--user", "ada"], first)
    assert len(key.split()) == 1
    for home in (first, second):
        process, port = serve([*start, *listen], home)
        with ended(process):
            assert ask(connect(port), "GET", "/api/v1/me", key)[0] == 200
            assert ask(connect(port), "GET", "/api/v1/me")[0] == 401
        assert (home / "toolroom.toml").read_text() == (FOLDER / "toolroom.toml").read_text()
        assert home.stat().st_mode & 0o077 == 0
