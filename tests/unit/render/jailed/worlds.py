"""Clusters with a shared root, with the names that the nebius dialect gives."""

from dataclasses import dataclass, replace

from shoal.decide.revisions import hashed_as
from shoal.dialects.nebius import naming
from shoal.model.accounting import AccountingNames, Database, ManagedAccounting
from shoal.model.cluster import SLURMCTLD_PORT, Cluster
from shoal.model.config import Config
from shoal.model.controller import (
    ClaimTemplate,
    ControllerNames,
    ExistingClaim,
    Keys,
    ManagedController,
)
from shoal.model.database import ExternalDatabase, OperatorDatabase, OwnDatabase
from shoal.model.exporter import Exporter, PodMonitor
from shoal.model.jail import (
    Claimed,
    Fittings,
    Given,
    Jail,
    JailNames,
    Mount,
    Populate,
    Ssh,
)
from shoal.model.jailed import Gate, GateNames, JailedWorkers, Registration, feature_name
from shoal.model.maintenance import Mode
from shoal.model.nodeset import NodeSet, Retention, Update
from shoal.model.part import Files, KeyRef, Marks, Part, PodWishes, ServiceWishes
from shoal.model.rest import RestApi
from shoal.model.security import app_armor
from shoal.model.settings import (
    Cgroup,
    CustomPartitions,
    CustomPlugin,
    Feature,
    HealthCheck,
    NcclDebug,
    NcclInspector,
    Plugins,
    Pyxis,
    Settings,
    SharedPartition,
    StructuredPartitions,
)
from shoal.render import nodeset as workers
from shoal.render import revisions, trial
from shoal.render.jailed import accounting, cluster, controller, exporter, login, populate, rest
from shoal.slurm.keys import Version

NAMESPACE = "research"
NAME = "one"
NAMES = naming.Names(NAME)
DATABASE = "mariadb"  # a component of its own, or slurmdbd's Service would lead to it too
NEWEST = Version(26, 5)
OLDEST = Version(24, 11)
MUNGE_KEY = KeyRef(NAMES.munge, "munge.key", "d1")
JWT_KEY = KeyRef(NAMES.jwt, "rest_jwt.key", "d2")
KEYS = Keys(None, JWT_KEY, munge=MUNGE_KEY)
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "4Gi"}}}
JAIL = Given({"persistentVolumeClaim": {"claimName": "jail"}})
SLURM = (
    ("DefMemPerNode", 1048576),
    ("DefCpuPerGPU", 4),
    ("CompleteWait", 5),
    ("Epilog", ""),
    ("Prolog", ""),
    ("TaskPluginParam", ""),
    ("MaxJobCount", 20000),
    ("MinJobAge", 28800),
    ("MessageTimeout", 60),
    ("TopologyPlugin", "topology/tree"),
    ("TopologyParam", "SwitchAsNodeRank"),
)
ACCOUNTING = (
    ("AccountingStorageTRES", "CPU,Mem,Node,VMem,Gres/gpu"),
    ("AccountingStoreFlags", ""),
    ("JobAcctGatherType", "jobacct_gather/cgroup"),
    ("JobAcctGatherFrequency", 0),
)
SLURMDBD = (
    ("ArchiveEvents", "yes"),
    ("ArchiveSteps", "no"),
    ("DebugLevel", "info"),
    ("TCPTimeout", 2),
    ("PurgeEventAfter", "1month"),
    ("PrivateData", ""),
)


def image(program, memory="1Gi", cpu="100m", **more):
    """Return what the user asks of a container."""
    asked = {"resources": {"requests": {"cpu": cpu, "memory": memory}}} if memory else {}
    security = {"securityContext": app_armor("unconfined")}
    return {"image": f"shoal/{program}:26.05", **asked, **security, **more}


def make_part(component, name="", *, nodeset="", spec=None, **containers):
    """Return a part; containers by our names with _ for -."""
    asked = {key.replace("_", "-"): wish for key, wish in containers.items()}
    return Part(
        name or component,
        NAMESPACE,
        naming.selector(NAME, component, nodeset),
        naming.labels(NAME, component, nodeset),
        PodWishes(spec=spec or {}, containers=asked),
    )


def make_fittings(component="", **changes):
    named = NAMES.security_limits(component) if component else ""
    return replace(Fittings(JAIL, limits=named), **changes)


def make_jail(**changes):
    part = make_part(naming.POPULATE_JAIL, populate_jail=image("populate_jail", memory=""), spec={})
    made = Jail(
        part=make_part(naming.COMMON),
        populate=Populate(part, NAMES.populate, JAIL),
        ssh=Ssh(NAMES.sshd_keys, NAMES.root_keys, "d6", ("ssh-ed25519 AAAA alice",)),
        names=JailNames(NAMES.sysctl, NAMES.worker_ssh_configs, NAMES.supervisord),
        settings=Settings(slurm=SLURM, accounting=ACCOUNTING),
        subdomains=(NAMES.service(naming.WORKERS), NAMES.login_headless),
    )
    return replace(made, **changes)


def make_controller(**changes):
    part = changes.pop("part", None) or make_part(
        naming.CONTROLLER, slurmctld=image("slurmctld"), munge=image("munge", "64Mi")
    )
    service = NAMES.service(naming.CONTROLLER)
    made = ManagedController(
        part,
        ControllerNames(NAMES.workload(naming.CONTROLLER), service, service, NAMES.slurm_configs),
        ServiceWishes(SLURMCTLD_PORT),
        ExistingClaim("controller-spool"),
        in_place=True,
        fittings=make_fittings(naming.CONTROLLER),
        placeholder=NAMES.placeholder,
    )
    return replace(made, **changes)


def make_workers(**changes):
    fittings = make_fittings(naming.WORKERS)
    made = JailedWorkers(fittings, Given({"emptyDir": {}}), listed=2)
    return replace(made, **changes)


def make_nodeset(name="worker", **changes):
    """Return the workers of slurmNodes.worker, or with another name those of a NodeSet."""
    alone = name == "worker"
    component, service = (
        (naming.WORKERS, NAMES.service(naming.WORKERS))
        if alone
        else (naming.NODE_SET, NAMES.workers_service)
    )
    part = changes.pop("part", None) or make_part(
        component,
        name,
        nodeset="" if alone else name,
        slurmd=image("slurmd", "2Gi", "2"),
        munge=image("munge", "64Mi"),
    )
    limits = NAMES.security_limits(component, "" if alone else name)
    given = changes.pop("jailed", None) or make_workers(fittings=make_fittings(limits=limits))
    made = NodeSet(
        part=part,
        slurm_name=feature_name(name),
        hostname_prefix=f"{name}-",
        service=service,
        budget=NAMES.budget,
        replicas=2,
        update=Update(max_unavailable="20%"),
        oversubscribe=True,
        cluster=NAME,
        alike={naming.WORKER: "true"},
        jailed=given,
        claims=given.claims,
    )
    return replace(made, **changes)


def make_cluster(extra="", **changes):
    made = Cluster(
        name=NAME,
        namespace=NAMESPACE,
        slurm_name=NAME,
        naming=naming.NAMING,
        controller=make_controller(),
        keys=KEYS,
        config=Config(extra=extra),
        nodesets=(make_nodeset(),),
        version=NEWEST,
        workers=NAMES.service(naming.WORKERS),
        jail=make_jail(),
        slurm_user="root",
    )
    return replace(made, **changes)


def make_own(**changes):
    part = make_part(DATABASE, mariadb=image("mariadb", "2Gi"))
    root = KeyRef(NAMES.database_root, "password", "d7")
    return replace(OwnDatabase(part, NAMES.database, root, CLAIM), **changes)


def make_operated(**changes):
    spec = {"nodeSelector": {"disk": "fast"}}
    part = make_part(DATABASE, mariadb=image("mariadb", "2Gi"), spec=spec)
    root = KeyRef(NAMES.database_root, "password", "d7")
    more = {"replicas": 3, "storage": {"size": "10Gi"}, "metrics": {"enabled": True}}
    return replace(OperatorDatabase(part, NAMES.database, root, more), **changes)


def make_accounting(**changes):
    part = make_part(naming.ACCOUNTING, accounting=image("slurmdbd"), munge=image("munge", "64Mi"))
    password = KeyRef(NAMES.database_password, "password", "d8")
    made = ManagedAccounting(
        part=part,
        naming=naming.NAMING,
        name=NAMES.workload(naming.ACCOUNTING),
        service=ServiceWishes(6819),
        keys=KEYS,
        database=Database(NAMES.database, 3306, "slurm_acct_db", "slurm", password),
        names=AccountingNames(
            NAMES.workload(naming.ACCOUNTING), NAMES.service(naming.ACCOUNTING), NAMES.slurmdbd
        ),
        store=make_own(),
        options=SLURMDBD,
        config=NAMES.slurm_configs,
    )
    return replace(made, **changes)


def make_gate(**changes):
    part = changes.pop("part", None) or make_part(
        naming.LOGIN, sshd=image("sshd"), munge=image("munge", "64Mi")
    )
    names = GateNames(
        NAMES.workload(naming.LOGIN),
        NAMES.service(naming.LOGIN),
        NAMES.login_headless,
        NAMES.ssh_configs,
    )
    wishes = ServiceWishes(22, spec={"type": "LoadBalancer"})
    return replace(Gate(part, names, wishes, make_fittings(naming.LOGIN)), **changes)


def make_rest(**changes):
    part = make_part(naming.REST, rest=image("slurmrestd"))
    made = RestApi(
        part,
        NAMES.service(naming.REST),
        ServiceWishes(6820),
        threads=3,
        connections=10,
        jail=JAIL,
        workload=NAMES.workload(naming.REST),
    )
    return replace(made, **changes)


def make_exporter(**changes):
    part = make_part(
        naming.EXPORTER,
        exporter=image("shoal", args=["exporter"]),
        spec={"serviceAccountName": "exporter"},
    )
    return replace(Exporter(part, NAMES.workload(naming.EXPORTER), PodMonitor()), **changes)


# -- whole clusters


@dataclass(frozen=True)
class World:
    """A cluster, and the parts that it may be without."""

    cluster: Cluster
    gate: Gate | None = None
    rest: RestApi | None = None
    exporter: Exporter | None = None

    @property
    def objects(self):
        """Return every object that comes of it, among them one worker of each NodeSet."""
        return list(_objects(self))


def _objects(world):
    made, jail = world.cluster, world.cluster.jail
    held = controller.wanted(made, jail)
    yield from populate.objects(jail)
    yield from cluster.objects(jail)
    if made.accounting:
        yield from accounting.objects(jail, made.accounting, "correct horse")
    yield from controller.objects(made, jail)
    yield trial.candidate(made, made.controller)
    yield trial.check(made, made.controller, held.digest)
    if world.gate:
        yield from login.objects(made, jail, world.gate)
    if world.rest:
        yield from rest.objects(made, jail, world.rest, held)
    if world.exporter:
        yield from exporter.objects(made, jail, world.exporter, world.rest)
    yield from workers.shared(made)
    for wished in made.nodesets:
        one = replace(wished, revision=hashed_as(revisions.data(wished), 0))
        yield from workers.objects(made, one)
        yield from workers.claims(one, one.index(0))
        yield workers.Mould(made, one).pod(0)


def minimal():
    """Return a CPU cluster of which nothing is asked that need not be."""
    return World(make_cluster(version=OLDEST), make_gate())


def with_gpus():
    """Return a GPU cluster with accounting, REST, and all its parts."""
    asked = make_workers(
        fittings=make_fittings(naming.WORKERS), gpu=True, gdr_copy=True, node_extra='{"a": "$B"}'
    )
    return World(
        make_cluster(
            jail=make_jail(gpu=True),
            accounting=make_accounting(),
            nodesets=(make_nodeset(jailed=asked),),
        ),
        make_gate(),
        make_rest(),
        make_exporter(),
    )


def everything():
    """Return a cluster of which everything is asked that can be."""
    filtered = {
        "nodeSelector": {"pool": "slurm"},
        "tolerations": [{"key": "slurm", "operator": "Exists"}],
        "priorityClassName": "high",
        "hostUsers": True,
        "imagePullSecrets": [{"name": "registry"}],
        "initContainers": [{"name": "own", "image": "busybox", "command": ["true"]}],
    }
    part = make_part(
        naming.CONTROLLER,
        spec=filtered,
        slurmctld=image(
            "slurmctld", livenessProbe={"tcpSocket": {"port": "slurmctld"}, "periodSeconds": 60}
        ),
        munge=image("munge", "64Mi"),
    )
    mounts = (
        Mount("scripts", "/opt/slurm_scripts", Given({"configMap": {"name": "scripts"}})),
        Mount("cache", "/cache", Claimed(CLAIM), sub_path="one", read_only=True),
    )
    submounts = (
        Mount("data", "/mnt/data", Given({"nfs": {"server": "files", "path": "/data"}})),
        Mount("local", "/mnt/local", Claimed(CLAIM), sub_path="jobs"),
    )
    limits = "* soft memlock 500000"
    chosen = (Feature("fast", "worker-[0-1]", "fasts"), Feature("slow", "worker-1"))
    workers_part = make_part(
        naming.WORKERS,
        "worker",
        spec=filtered,
        slurmd=image("slurmd", "64Gi", "16", env=[{"name": "MINE", "value": "1"}]),
        munge=image("munge", "64Mi"),
    )
    workers_part = replace(
        workers_part, pods=replace(workers_part.pods, marks=Marks(annotations={"own": "note"}))
    )
    asked = make_workers(
        fittings=make_fittings(
            naming.WORKERS, submounts=submounts, mounts=mounts, limits_conf=limits
        ),
        spool=Claimed(CLAIM),
        shared_memory="1Gi",
        node_extra="$INSTANCE_ID",
        sshd=Files("my-sshd", ("sshd_config",), "d9"),
        supervisord=Files("my-supervisord", ("supervisord.conf",), "d10"),
        port=7818,
        chosen=chosen,
        cgroup=Cgroup.V1,
    )
    settings = Settings(
        slurm=(*SLURM[:4], ("Prolog", "/opt/prolog.sh"), *SLURM[5:]),
        accounting=ACCOUNTING,
        features=chosen,
        health=HealthCheck("/opt/hc.sh", 120, ("ANY", "CYCLE")),
        plugins=Plugins(
            Pyxis(required=False),
            NcclDebug(enabled=True, level="TRACE", to_stdout=True),
            NcclInspector(enabled=True),
            (CustomPlugin("/opt/x.so", required=True, arguments={"b": "2", "a": "1"}),),
        ),
        mpi_env="A=b",
        cgroup=Cgroup.V1,
        cgroup_extra="ConstrainCores=no\n# mine\nAllowedRAMSpace=90",
        topology="SwitchName=root Nodes=worker-[0-1]\n",
        partitions=CustomPartitions(
            (" PartitionName=mine Nodes=fasts Default=YES ", "PartitionName=all Nodes=ALL")
        ),
    )
    jail = make_jail(
        settings=settings,
        app_armor=NAMES.app_armor(NAMESPACE),
        populate=replace(
            make_jail().populate,
            overwrite=True,
            snapshot=Given({"persistentVolumeClaim": {"claimName": "golden-root"}}),
        ),
    )
    made = make_cluster(
        extra="SlurmctldParameters=enable_stepmgr\nKillWait=30\n",
        jail=jail,
        controller=make_controller(
            part=part,
            state=ClaimTemplate(CLAIM),
            had_state=True,
            fittings=make_fittings(naming.CONTROLLER, mounts=mounts, limits_conf=limits),
        ),
        nodesets=(
            make_nodeset(
                part=workers_part,
                jailed=asked,
                retention=Retention(delete_with_set=True, delete_with_worker=True),
            ),
        ),
        accounting=make_accounting(store=make_operated(generate=False)),
    )
    gate = make_gate(
        fittings=make_fittings(
            naming.LOGIN, submounts=submounts, mounts=mounts, limits_conf=limits
        ),
        replicas=2,
        service=ServiceWishes(
            22, 30022, Marks(annotations={"lb": "internal"}), {"type": "NodePort"}
        ),
        sshd=Files("my-sshd", ("sshd_config",), "d9"),
    )
    return World(made, gate, make_rest(replicas=2, threads=8), make_exporter())


def node_sets():
    """Return a cluster whose workers are those of NodeSets, with partitions by their names."""
    gpu = make_workers(
        fittings=make_fittings(limits=NAMES.security_limits(naming.NODE_SET, "gpu-a")),
        gpu=True,
        features=("h200",),
        service=NAMES.nodeset_service("gpu-a"),
    )
    static = make_workers(
        fittings=make_fittings(limits=NAMES.security_limits(naming.NODE_SET, "old")),
        registration=Registration.STATIC,
        features=("a", "b"),
        listed=3,
        gres=("Name=gpu File=/dev/nvidia[0-7]",),
    )
    partitions = StructuredPartitions(
        (
            SharedPartition("main", everything=True, config="Default=YES State=UP"),
            SharedPartition("gpus", ("gpu-a", "old"), config="MaxTime=1:00:00"),
            SharedPartition("lost", ("nobody",)),
        )
    )
    made = make_cluster(
        jail=make_jail(gpu=True, settings=Settings(slurm=SLURM, partitions=partitions)),
        workers=NAMES.workers_service,
        nodesets=(
            make_nodeset("gpu-a", jailed=gpu, extra="Weight=7 Feature=x"),
            make_nodeset("old", jailed=static, extra="Gres=gpu:8 State=UNKNOWN", replicas=3),
        ),
    )
    return World(made, make_gate())


def external_database():
    """Return a cluster whose database is somebody else's, who wants TLS."""
    store = ExternalDatabase(
        KeyRef("db-ca", "ca.crt", "d11"),
        KeyRef("db-client", "tls.crt", "d12"),
        {"CONNECT_TIMEOUT": "10"},
    )
    password = KeyRef("db", "pass", "d13")
    database = Database("db.example.com", 3307, "slurm_acct_db", "slurm", password)
    books = make_accounting(store=store, database=database)
    return World(make_cluster(accounting=books), make_gate(), make_rest())


def in_maintenance():
    """Return a cluster that is down while its jail is filled anew."""
    made = with_gpus()
    jail = replace(made.cluster.jail, mode=Mode.OVERWRITE)
    down = tuple(replace(nodeset, replicas=0) for nodeset in made.cluster.nodesets)
    return replace(made, cluster=replace(made.cluster, jail=jail, nodesets=down))


WORLDS = {
    "minimal": minimal,
    "gpu": with_gpus,
    "everything": everything,
    "nodesets": node_sets,
    "external-database": external_database,
    "maintenance": in_maintenance,
}
