from dataclasses import replace

import pytest

from shoal.model.settings import (
    Cgroup,
    CustomPlugin,
    NcclDebug,
    NcclInspector,
    Plugins,
    Pyxis,
    Settings,
)
from shoal.render.jailed import files
from shoal.slurm import conf, plugstack
from shoal.slurm.conf import ConfError

from .worlds import WORLDS, make_cluster, make_jail, make_nodeset, make_workers

GRAMMARS = {"slurm_rest.conf": conf.SLURM, "custom_slurm.conf": conf.SLURM, **conf.GRAMMARS}


def jail(**settings):
    return make_jail(settings=Settings(**settings))


@pytest.mark.parametrize("case", WORLDS)
def test_every_file_is_one_that_slurm_reads_as_it_was_written(case):
    made = WORLDS[case]().cluster
    for name, text in files.files(made, made.jail).items():
        if name == "plugstack.conf":
            assert plugstack.write(plugstack.parse(text)) == text
        else:
            assert conf.parse(text, GRAMMARS[name]) is not None


def test_topology_is_a_file_only_where_it_is_known():
    made = make_cluster()
    assert "topology.conf" not in files.files(made, made.jail)
    known = jail(topology="SwitchName=root Nodes=a\n")
    assert files.files(made, known)["topology.conf"] == "SwitchName=root Nodes=a\n"


def test_slurmrestd_reads_the_same_and_wants_tokens():
    assert files.rest_conf() == "include /etc/slurm/slurm.conf\nAuthType=auth/jwt\n"


# -- cgroup.conf


@pytest.mark.parametrize(
    ("version", "plugin", "swap"),
    [(Cgroup.V1, "cgroup/v1", "yes"), (Cgroup.V2, "cgroup/v2", "no")],
)
def test_the_version_of_cgroups_is_the_nodes(version, plugin, swap):
    text = files.cgroup_conf(jail(cgroup=version))
    assert f"CgroupPlugin={plugin}\n" in text
    assert f"ConstrainSwapSpace={swap}\n" in text
    assert ("IgnoreSystemd=yes" in text) is (version is Cgroup.V2)


def test_a_key_of_cgroups_that_the_user_sets_is_not_set_twice():
    text = files.cgroup_conf(jail(cgroup_extra="constraincores = no\n\n# mine\nAllowedRAMSpace=90"))
    assert "ConstrainCores=yes" not in text
    tail = "###\n# Custom config\n###\nconstraincores = no\n# mine\nAllowedRAMSpace=90\n"
    assert text.endswith(tail)


def test_blank_text_for_cgroups_adds_nothing():
    assert files.cgroup_conf(jail(cgroup_extra=" \n\t")) == files.cgroup_conf(jail())


# -- gres.conf


def test_gpus_are_found_by_themselves():
    made = make_cluster()
    assert "AutoDetect=nvidia\n" in files.gres_conf(made, make_jail(gpu=True))
    assert files.gres_conf(made, make_jail()) == "#Gres config\n"


def test_gres_of_a_node_set_is_that_of_its_nodes():
    nodeset = make_nodeset("g", jailed=make_workers(listed=4, gres=("Name=gpu Count=8",)))
    made = make_cluster(nodesets=(nodeset,))
    assert "NodeName=g-[0-3] Name=gpu Count=8\n" in files.gres_conf(made, made.jail)


def test_no_second_line_gets_into_gres():
    nodeset = make_nodeset("g", jailed=make_workers(gres=("Name=gpu\nNodeName=other Name=gpu",)))
    made = make_cluster(nodesets=(nodeset,))
    with pytest.raises(ConfError, match=r"gresConfig.*remove the line end"):
        files.gres_conf(made, made.jail)


# -- mpi.conf


def test_mpi_has_the_users_variables():
    assert files.mpi_conf(jail(mpi_env="A=b")) == "#PMIx config\nPMIxEnv=A=b\n"
    assert files.mpi_conf(jail(mpi_env="")) == "#PMIx config\n"


# -- plugstack.conf


def lines(**plugins):
    return files.plugstack_conf(jail(plugins=Plugins(**plugins))).splitlines()


def test_a_step_is_in_the_jail_before_any_other_plugin_runs_and_never_without():
    assert lines()[0] == "required chroot.so /mnt/jail"


def test_pyxis_saves_images_or_has_them_imported():
    fixed = "runtime_path=/run/pyxis execute_entrypoint=0 container_scope=global sbatch_support=1"
    saves = "container_image_save=/var/cache/enroot-container-images/"
    assert lines()[1] == f"required spank_pyxis.so {fixed} {saves}"
    imports = Pyxis(required=False, importer="/opt/i.sh", squashfuse=True)
    expected = f"optional spank_pyxis.so {fixed} importer=/opt/i.sh use_squashfuse=1"
    assert lines(pyxis=imports)[1] == expected


def test_what_nccl_logs_goes_where_the_user_wants():
    asked = NcclDebug(required=True, enabled=True, level="WARN", to_file=False, folder="/logs")
    words = "enabled=1 log-level=WARN out-file=0 out-dir=/logs out-stdout=0"
    assert lines(nccl_debug=asked)[2] == f"required spanknccldebug.so {words}"


def test_the_inspector_is_loaded_only_where_it_is_asked_for():
    assert len(lines()) == 3
    assert lines(nccl_inspector=NcclInspector())[3].startswith("optional spank_nccl_inspector")


def test_arguments_of_plugins_are_always_in_the_same_order():
    one, other = ({"b": "2", "a": "1"}, {"a": "1", "b": "2"})
    made = [lines(custom=(CustomPlugin("/x.so", arguments=a),)) for a in (one, other)]
    assert made[0] == made[1]
    assert made[0][-1] == "optional /x.so a=1 b=2"


def test_no_word_of_the_users_becomes_a_line_of_plugstack():
    bad = CustomPlugin("/x.so", arguments={"a": "b\nrequired /evil.so"})
    with pytest.raises(ConfError, match="customPlugins"):
        lines(custom=(bad,))


def test_scaling_changes_no_file():
    made = make_cluster()
    grown = replace(made, nodesets=tuple(replace(n, replicas=9) for n in made.nodesets))
    assert files.files(made, made.jail) == files.files(grown, grown.jail)
