"""The commands that people use every day: kubectl's, and those of `shoal local`."""

import re
import subprocess
import urllib.request
from pathlib import Path

import pytest

from .clusters import Local, alive, run, wait_for
from .objects import pod, pod_spec, workload
from .python_image import command

SHOUT = "import sys; print(sys.stdin.read().upper(), end=''); sys.exit(7)"


@pytest.fixture(scope="module")
def served(shared_ns: Local) -> Local:
    """Give a namespace with the server `web`."""
    shared_ns.apply(pod("web", "n1"))
    shared_ns.wait("condition=Ready", "pod/web")
    return shared_ns


def test_kubectl_logs_shows_what_a_container_said_and_what_it_said_before(ns, python):
    count = "import time; print('one'); print('two'); time.sleep(3600)"
    ns.apply(pod("talker", image=python, command=command(count)))
    ns.wait("condition=Ready", "pod/talker")
    wait_for("its words", lambda: ns.kubectl("logs", "talker").out, lambda said: "two" in said)
    assert ns.kubectl("logs", "talker", "--tail=1").out == "two\n"


def test_kubectl_exec_carries_input_output_and_exit_code(ns, python):
    ns.apply(pod("shouter", image=python, command=command("import time; time.sleep(3600)")))
    ns.wait("condition=Ready", "pod/shouter")
    done = ns.kubectl(
        "exec", "--stdin", "shouter", "--", *command(SHOUT), stdin="quiet\n", check=False
    )
    assert done.out == "QUIET\n"
    assert done.code == 7


def test_kubectl_port_forward_reaches_a_pod(served):
    with subprocess.Popen(
        ["kubectl", f"--namespace={served.namespace}", "port-forward", "pod/web", ":8080"],
        env=served.shell,
        stdout=subprocess.PIPE,
        text=True,
    ) as forward:
        try:
            # It prints the port once it listens.
            port = re.search(r"127\.0\.0\.1:(\d+)", forward.stdout.readline())[1]
            direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with direct.open(f"http://127.0.0.1:{port}", timeout=10) as answer:
                assert answer.read() == b"web\n"
        finally:
            forward.terminate()


def test_env_makes_kubectl_and_helm_work_in_a_shell(t3):
    script = f'eval "$({" ".join(t3.words("env"))})"; kubectl get nodes --output=name; helm version'
    said = run("bash", "-euc", script, env=t3.environment).out
    assert said.startswith("node/n0\nnode/n1\nnode/n2\n")
    assert 'Version:"v3.' in said


def test_kubeconfig_is_enough_to_reach_the_cluster_from_elsewhere(t3, tmp_path):
    config = tmp_path / "config"
    config.write_text(t3.shoal("kubeconfig").out)
    bare = {**t3.shell, "KUBECONFIG": "", "HOME": str(tmp_path)}
    nodes = run("kubectl", f"--kubeconfig={config}", "get", "nodes", "--output=name", env=bare)
    assert nodes.out.split() == ["node/n0", "node/n1", "node/n2"]


def test_status_shows_every_machine_and_program(t3):
    status = t3.shoal("status")
    assert "NOT" not in status.out
    programs = t3.programs()
    assert {machine for machine, _ in programs} == {"cp", "n0", "n1", "n2"}
    assert {name for machine, name in programs if machine == "n2"} == {
        "containerd",
        "kubelet",
        "kube-proxy",
    }
    assert ("cp", "kube-apiserver") in programs
    assert all(alive(pid) for pid in programs.values())


def test_exec_runs_inside_the_machine_and_hands_on_the_exit_code(t3):
    assert t3.shoal("exec", "n1", "hostname").out == "n1\n"
    assert t3.shoal("exec", "cp", "hostname").out == "t3-cp\n"
    assert t3.shoal("exec", "n1", "--", "sh", "-c", "exit 9", check=False).code == 9


def test_a_file_that_a_node_writes_is_seen_on_that_node_alone(t3):
    paths = ["/usr/local/written", "/etc/written", "/root/written", "/tmp/written"]
    t3.shoal("exec", "n1", "touch", *paths)
    assert sorted(t3.shoal("exec", "n1", "ls", *paths).out.split()) == sorted(paths)
    assert t3.shoal("exec", "n2", "ls", *paths, check=False).out == ""
    assert not [path for path in paths if Path(path).exists()]
    t3.shoal("exec", "n1", "rm", *paths)


def test_logs_show_one_program_one_machine_or_all(t3):
    assert len(t3.shoal("logs", "--lines=3", "n0", "kubelet").out.splitlines()) == 3
    headings = re.findall(r"^==> .*/(\S+)/log/(\S+)\.log <==$", t3.shoal("logs").out, re.MULTILINE)
    assert {("control-plane", "etcd"), ("n0", "kubelet"), ("n2", "containerd")} <= set(headings)
    one = t3.shoal("logs", "--lines=1", "n1").out
    assert "/n1/" in one
    assert "/n2/" not in one


def test_logs_follow_as_they_grow(t3, tmp_path):
    heard, log = tmp_path / "heard", t3.folder / "nodes/n0/log/kubelet.log"

    def say_and_hear() -> str:
        with log.open("a") as file:
            file.write("a new line\n")
        return heard.read_text()

    words = t3.words("logs", "--follow", "--lines=0", "n0", "kubelet")
    with (
        heard.open("w") as ear,
        subprocess.Popen(words, env=t3.environment, stdout=ear) as follow,
    ):
        try:
            # It may be a moment before it listens, so the line is said until it is heard.
            wait_for("the new line", say_and_hear, lambda said: "a new line" in said)
        finally:
            follow.terminate()


def test_a_loaded_archive_runs_on_every_node(ns, python):
    wait = command("import time; time.sleep(3600)")
    ns.apply(workload("DaemonSet", "loaded", pod_spec(image=python, command=wait)))
    ns.kubectl("rollout", "status", "daemonset/loaded", "--timeout=120s")
    assert {p["spec"]["nodeName"] for p in ns.get("pods")} == {"n0", "n1", "n2"}
