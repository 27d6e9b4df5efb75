from shoal.model.part import KeyRef
from shoal.render import volumes


def test_a_key_is_one_file_of_its_secret_or_its_config_map():
    secret = volumes.key_file(KeyRef("s", "k"), "slurm.key")
    assert secret == {"secret": {"name": "s", "items": [{"key": "k", "path": "slurm.key"}]}}
    public = volumes.key_file(KeyRef("m", "k", kind="ConfigMap"), "jwks.json")
    assert public["configMap"]["name"] == "m"


def test_a_volume_without_sources_is_empty():
    """The keys of an external slurmctld may be unknown to us."""
    assert volumes.projected("x", 0o600, [volumes.key_file(None, "slurm.key")]) == {
        "name": "x",
        "emptyDir": {"medium": "Memory"},
    }
