"""Whether every field that we said is still ours."""

import msgspec
import pytest

from shoal.kube.managed import Managed, all_ours, fields_of

SAID = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {
        "name": "w",
        "namespace": "ns",
        "labels": {"app": "w"},
        "finalizers": ["x/y"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "X", "name": "o", "uid": "u"}],
    },
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "w"}},
        "template": {
            "spec": {
                "containers": [
                    {
                        "name": "main",
                        "image": "x",
                        "args": ["a", "b"],
                        "env": [],
                        "ports": [{"containerPort": 80}],
                        "workingDir": None,
                    }
                ],
                "volumes": [{"name": "v", "emptyDir": {}}],
            }
        },
    },
}


def fields() -> dict:
    """Return the fields of SAID, as an API server tells them."""
    port = 'k:{"containerPort":80,"protocol":"TCP"}'
    main = {
        ".": {}, "f:name": {}, "f:image": {}, "f:args": {},
        "f:ports": {port: {".": {}, "f:containerPort": {}}},
    }  # fmt: skip
    owner = {".": {}, **{f"f:{name}": {} for name in ("apiVersion", "kind", "name", "uid")}}
    return {
        "f:metadata": {
            "f:labels": {"f:app": {}},
            "f:finalizers": {'v:"x/y"': {}},
            "f:ownerReferences": {'k:{"uid":"u"}': owner},
        },
        "f:spec": {
            "f:replicas": {},
            "f:selector": {},
            "f:template": {
                "f:spec": {
                    "f:containers": {'k:{"name":"main"}': main},
                    "f:volumes": {'k:{"name":"v"}': {".": {}, "f:name": {}, "f:emptyDir": {}}},
                }
            },
        },
    }


def without(*path: str) -> dict:
    """Return the fields but for one that somebody else took; above the last one nothing stays."""
    trees = [fields()]
    for name in path:
        trees.append(trees[-1][name])
    for tree, name in reversed([*zip(trees, path, strict=False)]):
        del tree[name]
        if tree:
            break
    return trees[0]


def ours(*trees: dict) -> bool:
    return all_ours([msgspec.json.encode(tree) for tree in trees], SAID)


def test_what_nobody_touched_is_ours():
    assert ours(fields())


CONTAINERS = ("f:spec", "f:template", "f:spec", "f:containers")
MAIN = (*CONTAINERS, 'k:{"name":"main"}')
VOLUMES = ("f:spec", "f:template", "f:spec", "f:volumes")


@pytest.mark.parametrize(
    "path",
    [
        ("f:spec",),
        ("f:spec", "f:replicas"),
        ("f:spec", "f:selector"),
        ("f:metadata", "f:labels", "f:app"),
        ("f:metadata", "f:finalizers", 'v:"x/y"'),
        ("f:metadata", "f:ownerReferences", 'k:{"uid":"u"}'),
        ("f:metadata", "f:ownerReferences", 'k:{"uid":"u"}', "f:name"),
        CONTAINERS,
        MAIN,
        (*MAIN, "f:image"),
        (*MAIN, "f:args"),
        (*MAIN, "f:ports", 'k:{"containerPort":80,"protocol":"TCP"}', "f:containerPort"),
        (*VOLUMES, 'k:{"name":"v"}', "f:emptyDir"),
    ],
)
def test_one_field_that_somebody_took_is_noticed(path):
    assert not ours(without(*path))


def test_fields_beyond_ours_do_not_matter():
    more = fields()
    more["f:spec"]["f:serviceName"] = {}
    more["f:spec"]["f:template"]["f:spec"]["f:containers"]['k:{"name":"theirs"}'] = {".": {}}
    assert ours(more)


def test_of_two_items_each_is_looked_for_by_its_own_keys():
    said = {"metadata": {}, "spec": {"ports": [{"port": 1, "name": "a"}, {"port": 2, "name": "b"}]}}
    one = {'k:{"port":1}': {".": {}, "f:port": {}, "f:name": {}}}
    two = {'k:{"port":2}': {".": {}, "f:port": {}}}
    tree = msgspec.json.encode({"f:spec": {"f:ports": {**one, **two}}})
    assert not all_ours([tree], said)
    del said["spec"]["ports"][1]["name"]
    assert all_ours([tree], said)


def test_of_a_set_each_value_counts():
    said = {"metadata": {"finalizers": ["a", "b"]}}
    assert not all_ours([b'{"f:metadata":{"f:finalizers":{"v:\\"a\\"":{}}}}'], said)
    both = b'{"f:metadata":{"f:finalizers":{"v:\\"a\\"":{},"v:\\"b\\"":{}}}}'
    assert all_ours([both], said)


def test_to_own_a_list_is_not_to_own_its_items():
    said = {"metadata": {"finalizers": ["a"]}}
    assert not all_ours([b'{"f:metadata":{"f:finalizers":{".":{},"v:\\"b\\"":{}}}}'], said)


def test_a_single_value_where_there_were_many_fields_is_not_ours():
    assert not all_ours([b'{"f:spec":{"f:x":{"f:y":{}}}}'], {"metadata": {}, "spec": {"x": 1}})
    assert all_ours([b'{"f:spec":{"f:x":{}}}'], {"metadata": {}, "spec": {"x": 1}})


def test_what_was_posted_and_what_was_applied_are_ours_together():
    spec, meta = fields(), fields()
    del spec["f:metadata"]
    del meta["f:spec"]
    assert not ours(spec)
    assert not ours(meta)
    assert ours(spec, meta)


def test_without_any_field_of_ours_nothing_is_ours():
    assert not ours()
    assert not all_ours([], {"metadata": {"name": "a", "labels": {"a": "b"}}})


def test_only_our_fields_of_the_object_itself_are_looked_at():
    managers = [
        {"manager": "shoal", "operation": "Apply", "fieldsV1": {"f:spec": {}}},
        {"manager": "shoal", "operation": "Update", "fieldsV1": {"f:data": {}}},
        {"manager": "shoal", "subresource": "status", "fieldsV1": {"f:status": {}}},
        {"manager": "other", "fieldsV1": {"f:theirs": {}}},
    ]
    raw = msgspec.json.encode({"metadata": {"name": "a", "managedFields": managers}})
    found = fields_of(msgspec.json.decode(raw, type=Managed), "shoal")
    assert found == (b'{"f:spec":{}}', b'{"f:data":{}}')
