"""The chart grants what the code declares, where it is needed."""

import pytest

from shoal.controllers import rights

NAMESPACED = {"operator": {"namespaces": "a, b"}}
WITHOUT_WEBHOOKS = {**NAMESPACED, "webhook": {"enabled": False}}
CLUSTER_WIDE = ("ClusterRole", "ClusterRoleBinding", "ValidatingWebhookConfiguration")


# What belongs to no namespace is seen wherever Slurm clusters are, if anything of it is.
SEEN = [("", "slurm-operator-everywhere")] if rights.everywhere() else []


def written(part):
    return [rule.write() for rule in rights.PARTS[part]()]


def granted(release):
    """Return (namespace, role) of each role that the operator's account is bound to."""
    bound = []
    for binding in (*release.every("RoleBinding"), *release.every("ClusterRoleBinding")):
        assert binding["subjects"] == [
            {"kind": "ServiceAccount", "name": "slurm-operator", "namespace": "slinky"}
        ]
        bound.append((binding["metadata"].get("namespace", ""), binding["roleRef"]["name"]))
    return sorted(bound)


def test_by_default_it_looks_after_all_namespaces(helm):
    release = helm.render()
    assert granted(release) == [
        *SEEN,
        ("", "slurm-operator-watched"),
        ("", "slurm-operator-webhooks"),
        ("slinky", "slurm-operator-home"),
    ]


@pytest.mark.parametrize(
    ("kind", "part"), [("ClusterRole", "watched"), ("ClusterRole", "webhooks"), ("Role", "home")]
)
def test_a_role_has_the_rules_that_the_code_declares(helm, kind, part):
    role = helm.render().one(kind, f"slurm-operator-{part}")
    assert role["rules"] == written(part)


def test_with_namespaces_it_has_rights_there_and_at_home_and_nowhere_else(helm):
    release = helm.render(NAMESPACED)
    assert granted(release) == [
        *SEEN,
        ("", "slurm-operator-webhooks"),
        ("a", "slurm-operator-watched"),
        ("b", "slurm-operator-watched"),
        ("slinky", "slurm-operator-home"),
    ]
    for role in release.every("Role"):
        if role["metadata"]["namespace"] in "ab":
            assert role["rules"] == written("watched")


def test_with_namespaces_and_without_webhooks_nothing_is_cluster_wide_but_to_see_nodes(helm):
    release = helm.render(WITHOUT_WEBHOOKS)
    assert [row for row in granted(release) if not row[0]] == SEEN
    for role in release.every("ClusterRole"):
        assert role["rules"] == written("everywhere")
        assert {verb for rule in role["rules"] for verb in rule["verbs"]} == set(rights.SEE)
    assert len(release.every("Role")) == 3


def test_somebody_else_may_let_it_see_nodes_and_then_nothing_is_cluster_wide(helm):
    values = {**WITHOUT_WEBHOOKS, "operator": {"namespaces": "a", "clusterRole": False}}
    release = helm.render(values)
    assert not [kind for kind in CLUSTER_WIDE if release.every(kind)]


def test_a_star_means_all_namespaces(helm):
    release = helm.render({"operator": {"namespaces": "*"}})
    assert ("", "slurm-operator-watched") in granted(release)
    assert not [word for word in release.container["args"] if word.startswith("--namespaces")]


def resources(release):
    role = release.one("Role", "slurm-operator-home")
    return {resource for rule in role["rules"] for resource in rule["resources"]}


def test_at_home_it_gets_only_what_it_uses(helm):
    assert resources(helm.render()) == {"leases", "secrets"}
    assert resources(helm.render({"certManager": {"enabled": True}})) == {"leases"}
    assert resources(helm.render({"webhook": {"enabled": False}})) == {"leases"}
    assert resources(helm.render({"operator": {"leaderElection": False}})) == {"secrets"}


def test_the_secret_of_the_certificate_is_the_one_that_the_operator_is_told(helm):
    release = helm.render({"certManager": {"secretName": "mine"}})
    role = release.one("Role", "slurm-operator-home")
    named = [
        r["resourceNames"]
        for r in role["rules"]
        if "secrets" in r["resources"] and "get" in r["verbs"]
    ]
    assert named == [["mine"]]
    assert "--webhook-secret=mine" in release.container["args"]


def test_nodes_are_seen_only_by_those_who_tell_workers_their_place(helm):
    assert ("ClusterRole", "slurm-operator-binding") not in helm.render().names
    release = helm.render({"webhook": {"podsBinding": True}})
    assert release.one("ClusterRole", "slurm-operator-binding")["rules"] == written("binding")
    assert ("", "slurm-operator-binding") in granted(release)


def test_whoever_guards_the_numbers_may_ask_who_wants_them(helm):
    release = helm.render({"operator": {"metricsSecure": True}})
    assert release.one("ClusterRole", "slurm-operator-metrics")["rules"] == written("metrics")
    reader = release.one("ClusterRole", "slurm-operator-metrics-reader")
    assert reader["rules"] == [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]
    # To whom that one is given is for the cluster's owner to say.
    assert ("", "slurm-operator-metrics-reader") not in granted(release)


def test_an_account_that_somebody_else_makes_is_the_one_that_is_bound(helm):
    account = {"create": False, "name": "slurm-operator"}
    release = helm.render({"operator": {"serviceAccount": account}})
    assert not release.every("ServiceAccount")
    assert len(granted(release)) == 3 + len(SEEN)


def test_releases_of_two_namespaces_do_not_meet_in_the_names_of_cluster_wide_roles(helm):
    one, two = (
        {obj["metadata"]["name"] for obj in helm.render(NAMESPACED, name=name).every("ClusterRole")}
        for name in ("one", "two")
    )
    assert one
    assert not one & two
