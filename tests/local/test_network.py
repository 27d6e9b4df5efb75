"""Pods, Services, nodes and this machine reach each other, and names are answered at once."""

import http.server
import json
import threading
import urllib.request
from collections.abc import Iterator

import pytest

from .clusters import Done, Local, is_ready, wait_for
from .objects import pod, pod_spec, service, workload
from .python_image import command

NODES = ("n0", "n1", "n2")
# Each is named after its node; a second one on n0 has a neighbour to talk to.
PODS = {"a-n0": "n0", "b-n0": "n0", "a-n1": "n1", "a-n2": "n2"}
HOST_PORT = 9099
AT_ONCE_S = 1


def fetch(address: str, port: int = 80, timeout_s: float = 5) -> str:
    """Return what a server answers to this machine."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(f"http://{address}:{port}", timeout=timeout_s) as answer:
        return answer.read().decode().strip()


def fetch_from(cluster: Local, name: str, *urls: str, check: bool = True) -> Done:
    """Fetch from servers in a pod; without `check`, up to the first that does not answer."""
    return cluster.kubectl("exec", name, "--", "/machine", "get", *urls, check=check)


@pytest.fixture(scope="module")
def mesh(shared_ns: Local) -> Local:
    """Give a pod on every node, a Service for each and one for all."""
    pods = [pod(name, node) for name, node in PODS.items()]
    for one in pods:
        one["metadata"]["labels"]["app"] = "mesh"
    # A pod knows itself by its own name without DNS, so the Services are named otherwise.
    services = [service(f"to-{name}", {"pod": name}) for name in PODS]
    shared_ns.apply(*pods, *services, service("mesh", {"app": "mesh"}, type="NodePort"))
    shared_ns.wait("condition=Ready", *(f"pod/{name}" for name in PODS))
    for name in (f"to-{name}" for name in PODS):
        wait_for(f"Service {name} to have its pod", lambda name=name: endpoints(shared_ns, name))
    return shared_ns


def endpoints(cluster: Local, name: str) -> list[str]:
    """Return the addresses behind a Service."""
    slices = cluster.get("endpointslices", f"--selector=kubernetes.io/service-name={name}")
    found = [e for s in slices for e in s["endpoints"] or [] if e["conditions"].get("ready")]
    return [address for endpoint in found for address in endpoint["addresses"]]


@pytest.fixture(scope="module")
def pod_ips(mesh: Local) -> dict[str, str]:
    return {p["metadata"]["name"]: p["status"]["podIP"] for p in mesh.get("pods")}


@pytest.fixture(scope="module")
def service_ips(mesh: Local) -> dict[str, str]:
    return {s["metadata"]["name"]: s["spec"]["clusterIP"] for s in mesh.get("services")}


@pytest.fixture(scope="module")
def node_ips(t3: Local) -> dict[str, str]:
    return {
        node["metadata"]["name"]: address["address"]
        for node in t3.get("nodes")
        for address in node["status"]["addresses"]
        if address["type"] == "InternalIP"
    }


def test_three_nodes_are_ready_each_with_an_address_and_pods_of_its_own(t3, node_ips):
    nodes = t3.get("nodes")
    assert {node["metadata"]["name"] for node in nodes} == set(NODES)
    assert all(is_ready(node) for node in nodes)
    assert len(set(node_ips.values())) == 3
    assert {node["status"]["nodeInfo"]["kubeletVersion"][:5] for node in nodes} == {"v1.34"}


@pytest.mark.parametrize("source", PODS)
def test_a_pod_reaches_the_pods_of_every_node_by_their_addresses(mesh, pod_ips, source):
    urls = [f"http://{pod_ips[name]}:8080" for name in PODS]
    assert fetch_from(mesh, source, *urls).out.split() == list(PODS)


@pytest.mark.parametrize("source", PODS)
def test_a_pod_reaches_every_node_its_own_node_and_itself_through_services(
    mesh, service_ips, source
):
    by_address = [f"http://{service_ips[f'to-{name}']}" for name in PODS]
    by_name = [f"http://to-{name}" for name in PODS]
    # A new Service reaches each node's rules a moment after the API server has it.
    wait_for(
        f"every Service to answer {source}",
        lambda: fetch_from(mesh, source, *by_address, *by_name, check=False),
        lambda done: done.out.split() == [*PODS, *PODS],
        timeout_s=20,
    )


def test_a_service_spreads_over_all_its_pods(mesh, service_ips):
    seen: set[str] = set()

    def look() -> set[str]:
        seen.add(fetch(service_ips["mesh"]))
        return seen

    wait_for("an answer from every pod", look, lambda names: names == set(PODS))


def test_this_machine_reaches_pods_services_and_node_ports(mesh, pod_ips, service_ips, node_ips):
    assert [fetch(pod_ips[name], 8080) for name in PODS] == list(PODS)
    assert [fetch(service_ips[f"to-{name}"]) for name in PODS] == list(PODS)
    port = mesh.get("service", "mesh")["spec"]["ports"][0]["nodePort"]
    assert {fetch(address, port) for address in node_ips.values()} <= set(PODS)


def test_a_pod_reaches_a_node_port_at_every_node(mesh, node_ips):
    port = mesh.get("service", "mesh")["spec"]["ports"][0]["nodePort"]
    urls = [f"http://{address}:{port}" for address in node_ips.values()]
    assert set(fetch_from(mesh, "a-n0", *urls).out.split()) <= set(PODS)


class Caller(http.server.BaseHTTPRequestHandler):
    """Answers with the address of who calls."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.client_address[0].encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def caller(t3: Local) -> Iterator[str]:
    """Give the address of a server on this machine, as the cluster reaches it."""
    with http.server.ThreadingHTTPServer((t3.host, 0), Caller) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"{t3.host}:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_pod_reaches_this_machine_and_is_seen_by_its_own_address(mesh, pod_ips, caller):
    assert fetch_from(mesh, "a-n1", f"http://{caller}").out == pod_ips["a-n1"]


def test_a_host_network_pod_on_every_node_uses_the_same_port(ns, node_ips):
    serve = ["/machine", "serve", f":{HOST_PORT}"]
    ns.apply(workload("DaemonSet", "own-port", pod_spec(command=serve, hostNetwork=True)))
    ns.kubectl("rollout", "status", "daemonset/own-port", "--timeout=120s")
    # Its host name is the node's, so the answer says which node it came from.
    assert {fetch(address, HOST_PORT) for address in node_ips.values()} == set(NODES)


RESOLVE = """
import json, socket, sys, time
def ask(name):
    began = time.monotonic()
    try:
        found = socket.gethostbyaddr(name)[0] if name[0].isdigit() else socket.gethostbyname(name)
    except OSError:
        found = None
    return found, time.monotonic() - began
print(json.dumps({name: ask(name) for name in sys.argv[1:]}))
"""


@pytest.fixture(scope="module")
def resolver(shared_ns: Local, python: str) -> Local:
    """Give a pod that resolves names: `named`, with a headless Service that knows it."""
    wait = command("import time; time.sleep(3600)")
    named = pod("named", "n1", image=python, command=wait, hostname="named", subdomain="family")
    shared_ns.apply(named, service("family", {"pod": "named"}, clusterIP="None"))
    shared_ns.wait("condition=Ready", "pod/named")
    wait_for("the headless Service to have its pod", lambda: endpoints(shared_ns, "family"))
    return shared_ns


def resolve(cluster: Local, *names: str) -> dict[str, tuple[str | None, float]]:
    """Return what each name or address resolves to in a pod, and after how many seconds."""
    done = cluster.kubectl("exec", "named", "--", *command(RESOLVE, *names))
    return {name: (found, seconds) for name, (found, seconds) in json.loads(done.out).items()}


def test_a_service_name_resolves_in_a_pod_within_a_second(mesh, resolver, service_ips):
    full = f"mesh.{mesh.namespace}.svc.cluster.local"
    for found, seconds in resolve(resolver, "mesh", full).values():
        assert found == service_ips["mesh"]
        assert seconds < AT_ONCE_S


def test_a_new_service_resolves_without_a_wait_for_an_old_no(resolver):
    assert resolve(resolver, "later")["later"][0] is None
    resolver.apply(service("later", {"pod": "named"}))
    wait_for("the new name", lambda: resolve(resolver, "later")["later"][0], timeout_s=20)


def test_a_name_outside_the_cluster_is_refused_within_a_second(resolver):
    for found, seconds in resolve(resolver, "example.com", "ctl", "8.8.8.8").values():
        assert found is None
        assert seconds < AT_ONCE_S


def test_a_pod_of_a_headless_service_has_a_name_both_ways(resolver):
    full = f"named.family.{resolver.namespace}.svc.cluster.local"
    address = resolver.get("pod", "named")["status"]["podIP"]
    other = wait_for(
        "the pod's name", lambda: resolve(resolver, full, "named.family"), lambda s: s[full][0]
    )
    assert other[full][0] == other["named.family"][0] == address
    assert resolve(resolver, address)[address][0] in {full, "named"}
