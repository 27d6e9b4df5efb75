"""Keys by release: what the binaries of 24.11.5 and 26.05.5 and Slurm's CHANGELOG say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.slurm.conf import parse
from shoal.slurm.keys import (
    RELEASES,
    TABLE,
    V24_11,
    V25_05,
    V25_11,
    V26_05,
    Standing,
    Support,
    Version,
    known,
    remarks,
)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("24.11", "24.11"),
        ("24.11.5", "24.11"),
        ("26.05", "26.05"),
        ("26.05.0-rc1", "26.05"),
        ("slurm 25.11.2", "25.11"),
        ("slurm-wlm 24.11.5", "24.11"),
        ("26.05-ubuntu26.04", "26.05"),
        ("25.11-rockylinux9", "25.11"),
        ("registry.example:5000/slurm/slurmctld:25.05.3-ubuntu24.04", "25.05"),
        ("10.24.0.1:5000/slurmd:v25.05", "25.05"),
        ("ubuntu24.04-25.11", "25.11"),
        ("23.02.7", "23.02"),
    ],
)
def test_a_release_is_found_in_versions_and_image_tags(text, version):
    assert str(Version.parse(text)) == version


@pytest.mark.parametrize("text", ["", "latest", "24", "v1.2.3", "ubuntu24.04", "124.11", "24.110"])
def test_what_names_no_release_is_an_error_that_shows_one(text):
    with pytest.raises(ValueError, match=r"names no release of Slurm; write one such as 25\.11"):
        Version.parse(text)


def test_releases_are_ordered_by_year_and_month():
    assert list(RELEASES) == sorted(RELEASES) == [V24_11, V25_05, V25_11, V26_05]
    assert Version(24, 11) < Version(25, 5) < Version(25, 11)


@given(st.integers(10, 99), st.sampled_from([2, 5, 8, 11]))
def test_a_release_is_written_as_it_is_read(major, minor):
    version = Version(major, minor)
    assert Version.parse(str(version)) == version


def standings(key: str, file: str = "slurm.conf") -> list[str]:
    return [known(key, version, file).standing.name for version in RELEASES]


K, N, D, G, U, X = "KNOWN", "TOO_NEW", "DEFUNCT", "GONE", "UNKNOWN", "NO_KEY"


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("ClusterName", [K, K, K, K]),
        ("clustername", [K, K, K, K]),
        ("HashPlugin", [K, K, K, K]),
        ("TLSType", [K, K, K, K]),
        ("TLSType=tls/s2n", [N, K, K, K]),
        ("MetricsType", [N, N, K, K]),
        ("MetricsAuthUsers", [N, N, N, K]),
        ("PrologTimeout", [N, K, K, K]),
        ("PowerAction", [N, N, N, K]),
        ("HealthCheckTimeout", [N, U, U, K]),
        ("AccountingStorageUser", [K, K, D, D]),
        ("PowerPlugin", [D, D, D, D]),
        ("SallocDefaultCommand", [G, G, G, G]),
        ("NodeName.Topology", [N, K, K, K]),
        ("NodeName.SuspendTime", [N, N, N, K]),
        ("NodeName.CPUs", [K, K, K, K]),
        ("NodeName.AutoResume", [X, U, U, X]),
        ("NodeSet.Gres", [X, U, U, X]),
        ("NodeSet.Feature", [K, K, K, K]),
        ("PartitionName.Exclusive", [N, N, N, K]),
        ("SlurmctldParameters=enable_configless", [K, K, K, K]),
        ("SlurmctldParameters=reconfig_on_restart", [N, N, K, K]),
        ("SlurmctldParameters=cloud_reg_addrs", [D, D, D, D]),
        ("SlurmctldParameters=no_such_option", [U, U, U, U]),
        ("SchedulerParameters=enable_job_state_cache", [K, K, K, G]),
        ("NoSuchKey", [X, U, U, X]),
    ],
)
def test_a_key_of_slurm_conf_stands_as_in_each_release(key, expected):
    assert standings(key) == expected


@pytest.mark.parametrize(
    ("file", "key", "expected"),
    [
        ("cgroup.conf", "CgroupPlugin=disabled", [K, K, K, K]),
        ("cgroup.conf", "IgnoreSystemd", [K, K, K, K]),
        ("cgroup.conf", "EnableExtraControllers", [N, K, K, K]),
        ("cgroup.conf", "CgroupSlice", [N, N, K, K]),
        ("cgroup.conf", "NoSuchKey", [U, U, U, U]),
        ("slurmdbd.conf", "StoragePassScript", [N, N, K, K]),
        ("slurmdbd.conf", "DisableRollups", [N, N, N, K]),
        ("slurmdbd.conf", "StoragePass", [K, K, K, K]),
        ("gres.conf", "AutoDetect", [K, K, K, K]),
        ("gres.conf", "NoSuchKey", [X, U, U, X]),
        ("files", "topology.yaml", [N, K, K, K]),
        ("files", "topology.conf", [K, K, K, K]),
        ("http", "/livez", [N, N, K, K]),
        ("http", "/readyz", [N, N, K, K]),
        ("no.conf", "Key", [U, U, U, U]),
    ],
)
def test_other_files_and_paths_stand_as_in_each_release(file, key, expected):
    assert standings(key, file) == expected


def test_a_refusal_says_what_would_help():
    assert known("metricstype", V24_11) == Support(
        Standing.TOO_NEW, "Slurm 24.11 has no MetricsType; it needs 25.11", fatal=True
    )
    assert known("AccountingStoreJobComment", V26_05).why == (
        "Slurm 26.05 has AccountingStoreJobComment no more; write AccountingStoreFlags=job_comment"
    )
    assert known("SlurmctldParameters=cloud_reg_addrs", V25_05) == Support(
        Standing.DEFUNCT, "Slurm 25.05 ignores SlurmctldParameters=cloud_reg_addrs; remove it"
    )
    assert known("Foo", V26_05) == Support(
        Standing.NO_KEY, "Slurm 26.05 has no Foo in slurm.conf; remove it", fatal=True
    )


@pytest.mark.parametrize("version", [None, Version(23, 11), Version(26, 11)])
@pytest.mark.parametrize("key", ["ClusterName", "MetricsType", "NoSuchKey"])
def test_of_a_release_that_was_not_looked_at_nothing_is_said(key, version):
    assert known(key, version) == Support(Standing.UNKNOWN)


@pytest.mark.parametrize("file", TABLE)
def test_every_row_says_one_thing_after_another(file):
    for key, span in TABLE[file].items():
        seen = [known(key, version, file).standing for version in RELEASES]
        order = [
            Standing.TOO_NEW,
            Standing.UNKNOWN,
            Standing.KNOWN,
            Standing.DEFUNCT,
            Standing.GONE,
        ]
        assert [order.index(standing) for standing in seen] == sorted(map(order.index, seen)), key
        assert span.lacking is None or span.lacking < span.since, key


@pytest.mark.parametrize("version", RELEASES)
def test_nothing_is_fatal_but_a_key_that_is_missing(version):
    for file, rows in TABLE.items():
        for key in rows:
            support = known(key, version, file)
            missing = support.standing in {Standing.TOO_NEW, Standing.GONE}
            assert support.fatal == (missing and "=" not in key and file.endswith(".conf"))
            assert bool(support.why) == (missing or support.standing is Standing.DEFUNCT)


def test_what_a_release_would_not_take_is_found_in_a_file_with_its_line():
    lines = parse(
        "ClusterName=lab\n"
        "SlurmctldParameters=enable_configless,cloud_reg_addrs,reconfig_on_restart,x=1\n"
        "MetricsType=metrics/openmetrics\n"
        "NodeName=n[0-1] CPUs=2 AutoResume=Off\n"
        "include more.conf\n",
        source="spec.extraConf",
    )
    found = [
        (line.place.line, support.standing.name, support.fatal)
        for line, support in remarks(lines, V24_11)
    ]
    assert found == [
        (2, "DEFUNCT", False),
        (2, "TOO_NEW", False),
        (3, "TOO_NEW", True),
        (3, "TOO_NEW", False),
        (4, "NO_KEY", True),
    ]
    assert list(remarks(lines, None)) == []
