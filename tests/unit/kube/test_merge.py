import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kube.merge import (
    inherited,
    merge_container,
    merge_objects,
    merge_pod_spec,
    merge_pod_template,
)

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

OURS = {
    "name": "slurmd",
    "image": "slurmd:1",
    "args": ["-Z"],
    "command": ["slurmd"],
    "env": [{"name": "A", "value": "1"}, {"name": "POD", "valueFrom": {"fieldRef": {}}}],
    "ports": [{"name": "slurmd", "containerPort": 6818}],
    "livenessProbe": {"httpGet": {"path": "/livez", "port": 6818}, "periodSeconds": 10},
    "lifecycle": {"preStop": {"exec": {"command": ["a"]}}},
    "securityContext": {"privileged": True, "capabilities": {"add": ["BPF"]}},
    "volumeMounts": [{"name": "etc", "mountPath": "/etc/slurm", "readOnly": True}],
}


def expression(key, *values):
    return {"key": key, "operator": "In", "values": list(values)}


# -- containers


@pytest.mark.parametrize(
    ("theirs", "path", "expected"),
    [
        ({"securityContext": {"privileged": False}}, ("securityContext", "privileged"), False),
        ({"livenessProbe": {"periodSeconds": 0}}, ("livenessProbe", "periodSeconds"), 0),
        ({"image": ""}, ("image",), ""),
        ({"tty": False}, ("tty",), False),
    ],
    ids=["false", "zero", "empty", "new"],
)
def test_what_a_user_says_is_kept_even_if_it_says_no(theirs, path, expected):
    """Upstream loses it: SlinkyProject/slurm-operator#252."""
    found = merge_container(OURS, theirs)
    for key in path:
        found = found[key]
    assert found == expected
    assert type(found) is type(expected)


def test_arguments_follow_ours_and_a_command_takes_the_place_of_ours():
    made = merge_container(OURS, {"args": ["-v"], "command": ["mine", "-x"]})
    assert made["args"] == ["-Z", "-v"]
    assert made["command"] == ["mine", "-x"]


def test_a_handler_of_a_probe_takes_the_place_of_ours_and_the_rest_is_merged():
    made = merge_container(OURS, {"livenessProbe": {"tcpSocket": {"port": 1}, "timeoutSeconds": 3}})
    assert made["livenessProbe"] == {
        "tcpSocket": {"port": 1},
        "periodSeconds": 10,
        "timeoutSeconds": 3,
    }


def test_a_handler_of_the_same_sort_is_not_mixed_with_ours():
    made = merge_container(OURS, {"livenessProbe": {"httpGet": {"port": 80}}})
    assert made["livenessProbe"]["httpGet"] == {"port": 80}


def test_a_probe_without_a_handler_keeps_ours():
    made = merge_container(OURS, {"livenessProbe": {"periodSeconds": 5}})
    assert made["livenessProbe"] == {
        "httpGet": {"path": "/livez", "port": 6818},
        "periodSeconds": 5,
    }


def test_a_hook_of_a_lifecycle_takes_the_place_of_ours():
    made = merge_container(OURS, {"lifecycle": {"preStop": {"sleep": {"seconds": 3}}}})
    assert made["lifecycle"] == {"preStop": {"sleep": {"seconds": 3}}}


def test_variables_are_merged_by_name_and_have_one_source_each():
    theirs = [{"name": "POD", "value": "x"}, {"name": "B", "value": "2"}]
    assert merge_container(OURS, {"env": theirs})["env"] == [
        {"name": "A", "value": "1"},
        {"name": "POD", "value": "x"},
        {"name": "B", "value": "2"},
    ]


def test_mounts_are_merged_by_path():
    theirs = [{"mountPath": "/etc/slurm", "name": "mine"}, {"mountPath": "/data", "name": "data"}]
    assert merge_container(OURS, {"volumeMounts": theirs})["volumeMounts"] == [
        {"name": "mine", "mountPath": "/etc/slurm", "readOnly": True},
        {"name": "data", "mountPath": "/data"},
    ]


def test_ports_are_merged_by_number_and_protocol_and_tcp_is_meant_when_nothing_is_said():
    theirs = [
        {"containerPort": 6818, "protocol": "TCP", "hostPort": 1},
        {"containerPort": 6818, "protocol": "UDP", "name": "other"},
    ]
    assert merge_container(OURS, {"ports": theirs})["ports"] == [
        {"name": "slurmd", "containerPort": 6818, "protocol": "TCP", "hostPort": 1},
        {"containerPort": 6818, "protocol": "UDP", "name": "other"},
    ]


def test_a_container_keeps_its_name():
    assert merge_container(OURS, {"name": "mine", "image": "x"})["name"] == "slurmd"


# -- null and directives


def test_null_deletes_a_key_and_leaves_no_null_behind():
    made = merge_container(OURS, {"livenessProbe": None, "startupProbe": None, "a": {"b": None}})
    assert "livenessProbe" not in made
    assert "startupProbe" not in made
    assert made["a"] == {}


def test_a_map_is_replaced_or_deleted_by_a_directive():
    made = merge_container(
        OURS,
        {
            "securityContext": {"$patch": "replace", "runAsUser": 0},
            "lifecycle": {"$patch": "delete"},
        },
    )
    assert made["securityContext"] == {"runAsUser": 0}
    assert "lifecycle" not in made


def test_an_item_is_deleted_by_a_directive():
    made = merge_container(OURS, {"env": [{"name": "A", "$patch": "delete"}]})
    assert [variable["name"] for variable in made["env"]] == ["POD"]


def test_an_item_is_replaced_by_a_directive():
    theirs = {"volumeMounts": [{"mountPath": "/etc/slurm", "name": "mine", "$patch": "replace"}]}
    assert merge_container(OURS, theirs)["volumeMounts"] == [
        {"mountPath": "/etc/slurm", "name": "mine"}
    ]


@pytest.mark.parametrize("field", ["env", "ports", "volumeMounts"])
def test_a_list_is_replaced_by_a_directive(field):
    theirs = {
        field: [{"$patch": "replace"}, {"name": "only", "containerPort": 1, "mountPath": "/"}]
    }
    assert merge_container(OURS, theirs)[field] == [
        {"name": "only", "containerPort": 1, "mountPath": "/"}
    ]


def test_tolerations_are_replaced_only_when_a_directive_says_so():
    ours = {"tolerations": [{"key": "worker"}]}
    theirs = [{"$patch": "replace"}, {"key": "mine"}]
    assert merge_pod_spec(ours, {"tolerations": theirs}) == {"tolerations": [{"key": "mine"}]}


# -- pods


def test_a_container_with_the_name_of_ours_is_merged_into_ours_and_others_are_added():
    """Upstream makes a second one of that name, which no API server takes."""
    made = merge_pod_spec(
        {"containers": [OURS], "initContainers": [{"name": "logfile", "image": "a"}]},
        {
            "containers": [{"name": "slurmd", "args": ["-v"]}, {"name": "side", "image": "s"}],
            "initContainers": [{"name": "logfile", "tty": True}],
        },
    )
    assert [container["name"] for container in made["containers"]] == ["slurmd", "side"]
    assert made["containers"][0]["args"] == ["-Z", "-v"]
    assert made["initContainers"] == [{"name": "logfile", "image": "a", "tty": True}]


def test_a_volume_of_another_source_takes_the_place_of_ours():
    ours = {"volumes": [{"name": "run", "emptyDir": {"medium": "Memory"}}]}
    theirs = {"volumes": [{"name": "run", "hostPath": {"path": "/x"}}]}
    assert merge_pod_spec(ours, theirs) == theirs


def test_a_volume_of_the_same_source_is_merged_into_ours():
    ours = {"volumes": [{"name": "run", "emptyDir": {"medium": "Memory"}}]}
    theirs = {"volumes": [{"name": "run", "emptyDir": {"sizeLimit": "1Gi"}}]}
    assert merge_pod_spec(ours, theirs)["volumes"] == [
        {"name": "run", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}
    ]


def test_tolerations_of_ours_stay():
    """Upstream drops the worker's own when a user has any."""
    ours, theirs = {"key": "worker", "effect": "NoExecute"}, {"key": "gpu", "operator": "Exists"}
    made = merge_pod_spec({"tolerations": [ours]}, {"tolerations": [theirs, ours]})
    assert made["tolerations"] == [ours, theirs]


@pytest.mark.parametrize("sort", ["podAffinity", "podAntiAffinity"])
@pytest.mark.parametrize("when", [REQUIRED, PREFERRED])
def test_terms_of_pod_affinity_are_added_to_ours(sort, when):
    ours, theirs = {"topologyKey": "host"}, {"topologyKey": "zone"}
    made = merge_pod_spec(
        {"affinity": {sort: {when: [ours]}}}, {"affinity": {sort: {when: [theirs]}}}
    )
    assert made["affinity"][sort][when] == [ours, theirs]


def required(*terms):
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}}


def terms_of(spec):
    return spec["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]


def test_a_pod_goes_only_to_nodes_that_both_of_us_want():
    a, b, c = (expression(key, "x") for key in "abc")
    made = merge_pod_spec(
        required({"matchExpressions": [a]}),
        required({"matchExpressions": [b]}, {"matchFields": [c]}),
    )
    assert terms_of(made) == [
        {"matchExpressions": [a, b]},
        {"matchExpressions": [a], "matchFields": [c]},
    ]


def test_a_term_that_matches_no_node_matches_none_after_the_merge():
    made = merge_pod_spec(required({"matchExpressions": [expression("a", "x")]}), required({}))
    assert terms_of(made) == [{}]


KEYS = st.sampled_from("ab")
TERMS = st.lists(
    st.builds(
        lambda key, values: {"matchExpressions": [expression(key, *values)]},
        KEYS,
        st.lists(st.sampled_from("xyz"), min_size=1, max_size=2, unique=True),
    )
    | st.just({}),
    min_size=1,
    max_size=3,
)


def fits(node, terms):
    """Say what the scheduler says: one term whose expressions all hold; an empty one never does."""
    return any(
        term and all(node[e["key"]] in e["values"] for e in term["matchExpressions"])
        for term in terms
    )


@given(TERMS, TERMS, st.fixed_dictionaries({key: st.sampled_from("xyz") for key in "ab"}))
def test_a_node_fits_after_the_merge_exactly_if_it_fits_ours_and_theirs(ours, theirs, node):
    made = terms_of(merge_pod_spec(required(*ours), required(*theirs)))
    assert fits(node, made) == (fits(node, ours) and fits(node, theirs))


def test_search_domains_are_added_to_ours():
    made = merge_pod_spec(
        {"dnsConfig": {"searches": ["workers"]}},
        {"dnsConfig": {"searches": ["mine", "workers"], "options": [{"name": "ndots"}]}},
    )
    assert made["dnsConfig"] == {"searches": ["workers", "mine"], "options": [{"name": "ndots"}]}


@pytest.mark.parametrize(
    ("field", "key"),
    [("imagePullSecrets", "name"), ("hostAliases", "ip"), ("schedulingGates", "name")],
)
def test_lists_with_a_key_are_merged_by_it(field, key):
    made = merge_pod_spec({field: [{key: "a", "x": 1}]}, {field: [{key: "a", "y": 2}, {key: "b"}]})
    assert made[field] == [{key: "a", "x": 1, "y": 2}, {key: "b"}]


def test_spreads_over_one_key_are_told_apart_by_what_happens_if_they_cannot_be_met():
    hard = {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}
    soft = {"topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 2}
    field = "topologySpreadConstraints"
    made = merge_pod_spec({field: [hard]}, {field: [soft, {**hard, "maxSkew": 3}]})
    assert made[field] == [{**hard, "maxSkew": 3}, soft]


def test_a_list_without_a_key_is_replaced():
    made = merge_pod_spec({"readinessGates": [1]}, {"readinessGates": [2]})
    assert made == {"readinessGates": [2]}


def test_a_pod_template_is_merged_with_its_labels():
    made = merge_pod_template(
        {"metadata": {"labels": {"a": "1"}}, "spec": {"tolerations": [{"key": "a"}]}},
        {"metadata": {"labels": {"b": "2"}}, "spec": {"tolerations": [{"key": "b"}]}},
    )
    assert made["metadata"]["labels"] == {"a": "1", "b": "2"}
    assert made["spec"]["tolerations"] == [{"key": "a"}, {"key": "b"}]


@pytest.mark.parametrize("junk", ["text", 7, True, [1], [[1]], [None], [{"no": "key"}]])
@pytest.mark.parametrize("field", ["containers", "affinity", "tolerations", "dnsConfig", "volumes"])
def test_what_is_no_pod_spec_is_passed_on_for_the_api_server_to_refuse(field, junk):
    assert field in merge_pod_spec({"containers": [OURS], "affinity": {}}, {field: junk})


def test_what_kubectl_notes_is_not_inherited():
    """Upstream restarts pods at every `kubectl apply` because of it."""
    noted = "kubectl.kubernetes.io/last-applied-configuration"
    assert inherited({noted: "{}", "a": "b", "c": "d"}, "c") == {"a": "b"}


# -- properties

NAMES = st.sampled_from(["slurmd", "side", "extra"])
SCALARS = st.sampled_from(["", "x", 0, 1, False, True])
SECTIONS = st.dictionaries(st.sampled_from("abc"), SCALARS | st.none(), max_size=2)
CONTAINERS = st.fixed_dictionaries(
    {"name": NAMES},
    optional={
        "image": SCALARS,
        "env": st.lists(
            st.builds(lambda n, v: {"name": n, "value": v}, NAMES, SCALARS),
            max_size=3,
            unique_by=lambda variable: variable["name"],
        ),
        "ports": st.lists(st.builds(lambda p: {"containerPort": p}, st.integers(1, 3)), max_size=2),
        "securityContext": SECTIONS,
        "livenessProbe": st.dictionaries(
            st.sampled_from(["exec", "httpGet", "periodSeconds"]), SECTIONS, max_size=2
        ),
    },
)
PODS = st.fixed_dictionaries(
    {},
    optional={
        "containers": st.lists(CONTAINERS, max_size=3, unique_by=lambda c: c["name"]),
        "tolerations": st.lists(st.builds(lambda n: {"key": n}, NAMES), max_size=2, unique_by=repr),
        "volumes": st.lists(
            st.builds(lambda n, s: {"name": n, **s}, NAMES, SECTIONS),
            max_size=2,
            unique_by=lambda v: v["name"],
        ),
        "nodeSelector": SECTIONS | st.none(),
        "affinity": st.builds(lambda t: required(*t)["affinity"], TERMS),
        "dnsConfig": st.fixed_dictionaries({"searches": st.lists(NAMES, max_size=2, unique=True)}),
    },
)


def without_nulls(value):
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value


@given(PODS)
def test_laying_nothing_over_a_pod_changes_nothing(pod):
    assert merge_pod_spec(pod, {}) == pod


@given(PODS)
def test_a_pod_over_nothing_is_itself(pod):
    assert merge_pod_spec({}, pod) == without_nulls(pod)


@given(PODS, PODS)
def test_a_merge_leaves_its_inputs_as_they_were(ours, theirs):
    before = copy.deepcopy((ours, theirs))
    made = merge_pod_spec(ours, theirs)
    made.setdefault("containers", []).append("changed")
    for container in made["containers"][:-1]:
        container.setdefault("env", []).append("changed")
    assert (ours, theirs) == before


@given(PODS, PODS)
def test_laying_the_same_over_a_pod_twice_is_laying_it_over_once(ours, theirs):
    once = merge_pod_spec(without_nulls(ours), theirs)
    twice = merge_pod_spec(once, theirs)
    # Of alternatives, combinations may repeat what they say already, in more terms.
    for pod in (once, twice):
        pod.pop("affinity", None)
    assert twice == once


@given(PODS, PODS)
def test_no_two_containers_share_a_name(ours, theirs):
    names = [c["name"] for c in merge_pod_spec(ours, theirs).get("containers", [])]
    assert len(names) == len(set(names))


@given(PODS, PODS)
def test_no_null_and_no_directive_of_theirs_is_left(ours, theirs):
    made = merge_objects({}, {"pod": theirs, "$patch": "merge", "list": [{"$patch": "delete"}]})
    assert made == {"pod": without_nulls(theirs), "list": []}
