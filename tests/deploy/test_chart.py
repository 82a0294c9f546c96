"""deploy/helm: rendered by Helm, checked against the schemas of Kubernetes, and its home tried with the real program."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from servers import DEPLOY, ask, connect, ended, run, serve

CHART = DEPLOY / "helm/toolroom"
HELM = Path(sys.executable).with_name("helm")
VERSIONS = ["1.27", "1.36"]

SECRETS = {"database": {"existingSecret": "database"}, "sealKey": {"existingSecret": "seal"}}
EVERYTHING = SECRETS | {
    "redis": {"existingSecret": "redis"},
    "homeImage": "busybox:1.36",
    "pullSecrets": [{"name": "registry"}],
    "server": {"allowedHosts": ["tools.example.com"], "trustedProxies": ["10.0.0.0/8"], "stopDelay": 20, "grace": 100},
    "settings": "[chat]\nturns = 5\n",
    "env": [{"name": "TOOLROOM_LOG", "value": "debug"}],
    "persistence": {"enabled": False},
    "autoscaling": {"enabled": True, "queueDepth": 4},
    "serviceMonitor": {"enabled": True, "existingSecret": "metrics"},
    "networkPolicy": {"enabled": True, "from": [{"podSelector": {}}], "egress": [{"to": [{"namespaceSelector": {}}]}]},
    "podAnnotations": {"example.com/a": "b"},
    "podLabels": {"team": "tools"},
    "nodeSelector": {"disk": "fast"},
    "tolerations": [{"key": "tools", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "volumes": [{"name": "ca", "configMap": {"name": "ca"}}],
    "volumeMounts": [{"name": "ca", "mountPath": "/etc/ssl/db"}],
}


def helm(values, tmp_path):
    file = tmp_path / "values.json"
    file.write_text(json.dumps(values))
    command = [HELM, "template", "room", CHART, "--namespace", "tools", "--values", file]
    return subprocess.run(command, capture_output=True, text=True)


def render(values, tmp_path):
    """What Helm makes of the chart, by kind and name."""
    rendered = helm(values, tmp_path)
    assert rendered.returncode == 0, rendered.stderr
    documents = [document for document in yaml.safe_load_all(rendered.stdout) if document]
    return {(document["kind"], document["metadata"]["name"]): document for document in documents}


def pods(documents):
    templates = [document["spec"]["template"] for document in documents.values() if "template" in document.get("spec", {})]
    return [template["spec"] for template in templates]


def test_the_chart_is_of_the_release_of_the_program(tmp_path):
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    printed = run(["toolroom", "--version"], tmp_path).split()[1]
    assert (chart["version"], chart["appVersion"]) == (printed, printed)


@pytest.mark.parametrize("values", [SECRETS, EVERYTHING], ids=["defaults", "everything"])
def test_kubernetes_takes_what_is_rendered_and_pods_are_restricted(values, tmp_path):
    documents = render(values, tmp_path)
    for (kind, _), document in documents.items():
        # Not of Kubernetes itself: there is no schema here.
        if kind != "ServiceMonitor":
            for version in VERSIONS:
                kubernetes_validate.validate(document, version, strict=True)
    kinds = sorted(kind for kind, _ in documents)
    usual = ["ConfigMap", "Job", "PodDisruptionBudget", "Service", "Service", "StatefulSet"]
    more = ["HorizontalPodAutoscaler", "NetworkPolicy", "ServiceMonitor"] if values is EVERYTHING else []
    assert kinds == sorted(usual + more)
    assert len(pods(documents)) == 2
    for pod in pods(documents):
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
        for container in pod["containers"] + pod.get("initContainers", []):
            limits = container["securityContext"]
            assert limits["readOnlyRootFilesystem"] and not limits["allowPrivilegeEscalation"], container["name"]
            assert limits["capabilities"] == {"drop": ["ALL"]}, container["name"]
            mounted = {mount["name"] for mount in container["volumeMounts"]}
            claims = documents["StatefulSet", "room-toolroom"]["spec"].get("volumeClaimTemplates", [])
            there = {volume["name"] for volume in pod["volumes"]} | {claim["metadata"]["name"] for claim in claims}
            assert mounted <= there, container["name"]


@pytest.mark.parametrize("values", [SECRETS, EVERYTHING], ids=["defaults", "everything"])
def test_a_pod_may_take_as_long_to_stop_as_its_server(values, tmp_path):
    documents = render(values, tmp_path)
    settings = tomllib.loads(documents["ConfigMap", "room-toolroom"]["data"]["toolroom.toml"])
    pod = documents["StatefulSet", "room-toolroom"]["spec"]["template"]["spec"]
    server = settings["server"]
    assert pod["terminationGracePeriodSeconds"] > server["stop_delay"] + server["grace"]
    probes = {name: pod["containers"][0][f"{name}Probe"]["httpGet"]["path"] for name in ("liveness", "readiness", "startup")}
    assert probes == {"liveness": "/healthz", "readiness": "/readyz", "startup": "/healthz"}
    if values is EVERYTHING:
        assert settings["chat"]["turns"] == 5
        metrics = documents["HorizontalPodAutoscaler", "room-toolroom"]["spec"]["metrics"]
        assert [metric["type"] for metric in metrics] == ["Resource", "Pods"]


@pytest.mark.parametrize(("values", "named"), [(SECRETS, []), (EVERYTHING, ["redis"])], ids=["defaults", "everything"])
def test_servers_are_told_of_redis_where_there_is_one(values, named, tmp_path):
    pod = render(values, tmp_path)["StatefulSet", "room-toolroom"]["spec"]["template"]["spec"]
    variables = [variable for variable in pod["containers"][0]["env"] if variable["name"] == "TOOLROOM_REDIS"]
    assert [variable["valueFrom"]["secretKeyRef"]["name"] for variable in variables] == named


def test_one_more_server_restarts_none_of_the_others(tmp_path):
    def template(more):
        return render(SECRETS | more, tmp_path)["StatefulSet", "room-toolroom"]["spec"]["template"]

    monitored = {"serviceMonitor": {"enabled": True, "existingSecret": "metrics"}}
    assert template(monitored) == template(monitored | {"replicas": 4})
    assert template({}) == template({"replicas": 4})
    assert template({}) != template({"server": {"idle": 80}}), "new settings do"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"database": {"existingSecret": ""}}, "database.existingSecret"),
        ({"sealKey": {"existingSecret": ""}}, "sealKey.existingSecret"),
        ({"settings": "[chat]\nturns = 1\n[server]\n"}, "settings"),
        ({"replica": 3}, "replica"),
        ({"server": {"stopDelay": "5s"}}, "server.stopDelay"),
        ({"autoscaling": {"enabled": True, "cpu": 0}}, "autoscaling.queueDepth"),
        ({"serviceMonitor": {"enabled": True}}, "serviceMonitor.existingSecret"),
    ],
)
def test_values_that_cannot_be_meant_are_refused(wrong, named, tmp_path):
    refused = helm(SECRETS | wrong, tmp_path)
    assert refused.returncode != 0 and named in refused.stderr, refused.stderr


def test_the_home_that_a_pod_makes_is_served(tmp_path):
    documents = render(EVERYTHING, tmp_path)
    pod = documents["StatefulSet", "room-toolroom"]["spec"]["template"]["spec"]
    data, config = tmp_path / "data", tmp_path / "config"
    data.mkdir()
    # As a volume is for an ordinary user: others may write to it.
    data.chmod(0o2775)
    config.mkdir()
    for name, text in documents["ConfigMap", "room-toolroom"]["data"].items():
        (config / name).write_text(text)
    shell, flags, script = pod["initContainers"][0]["command"]
    make_home = [shell, flags, script.replace("/data", str(data)).replace("/config", str(config))]
    home = data / "home"
    # Again at every start.
    run(make_home, home)
    run(make_home, home)

    job = documents["Job", "room-toolroom-first-key"]["spec"]["template"]["spec"]["containers"][0]
    run(["toolroom", *job["args"]], tmp_path / "job")
    process, port = serve(["toolroom", *pod["containers"][0]["args"], "--listen", "0.0.0.0:0"], home)
    with ended(process):
        key = run(["toolroom", "keys", "create", "--user", "ada"], home)
        called = ask(connect(port), "POST", "/api/v1/tools/create-task/call", key, {"params": {"title": "Milk"}})
        assert called[0] == 200 and called[1]["data"]["task"]["title"] == "Milk", called

        # As Prometheus asks, by the name that the ServiceMonitor makes of the Pod's.
        monitor = documents["ServiceMonitor", "room-toolroom"]["spec"]["endpoints"][0]
        host = monitor["relabelings"][0]["replacement"].replace("$1", "room-toolroom-2")
        reads = run(["toolroom", "keys", "create", "--user", "monitoring", "--grant", "executions:read"], home)
        scrape = {"Authorization": f"Bearer {reads}", "Accept": "text/plain"}
        status, text = ask(connect(port), "GET", monitor["path"], headers=scrape | {"Host": host})
        assert status == 200, text
        metric = documents["HorizontalPodAutoscaler", "room-toolroom"]["spec"]["metrics"][1]["pods"]["metric"]["name"]
        assert f"# TYPE {metric} gauge" in text, text
        assert ask(connect(port), "GET", monitor["path"], headers=scrape | {"Host": "10.0.0.7:7878"})[0] == 403
