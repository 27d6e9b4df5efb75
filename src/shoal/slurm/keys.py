"""Which release of Slurm knows which key, option, file and HTTP path. Pure.

slurmctld exits on a key that it does not know, so this is asked before a config is published.
What is said here was verified: slurm.conf with its records and gres.conf are the whole option
tables of the 24.11.5 and 26.05.5 binaries; the rest, and the releases between, come from the
strings in those binaries and from Slurm's CHANGELOG. What was not verified is UNKNOWN, which
forbids nothing.
"""

import enum
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from .conf import Line, Setting


@dataclass(frozen=True, order=True)
class Version:
    """A release of Slurm, such as 25.11; its patch level changes no keys."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor:02}"

    @classmethod
    def parse(cls, text: str) -> "Version":
        """Return the release that a version, a program's -V or an image's tag names first."""
        # Slurm is released in February (once), May, August (once) and November; 26.04 in a tag is
        # the distribution's.
        found = re.search(r"(?<![\d.])(\d\d)\.(02|05|08|11)(?!\d)", text, re.ASCII)
        if not found:
            raise ValueError(f"{text!r} names no release of Slurm; write one such as 25.11")
        return cls(int(found[1]), int(found[2]))


V24_11, V25_05, V25_11, V26_05 = RELEASES = tuple(
    Version.parse(text) for text in ("24.11", "25.05", "25.11", "26.05")
)


class Standing(enum.Enum):
    """What a release does with a key."""

    KNOWN = enum.auto()
    TOO_NEW = enum.auto()  # a later release has it
    DEFUNCT = enum.auto()  # accepted, logged and ignored
    GONE = enum.auto()  # an earlier release had it
    NO_KEY = enum.auto()  # no release has it
    UNKNOWN = enum.auto()


@dataclass(frozen=True)
class Support:
    """A key's standing, and why in words for the user."""

    standing: Standing
    why: str = ""
    fatal: bool = False  # daemons exit on it; most options that they do not know, they skip


@dataclass(frozen=True)
class Span:
    """The releases that have a key: from `since` on, to the one before `defunct` or `gone`."""

    since: Version = V24_11
    lacking: Version | None = None  # the last one known not to have it; unknown from there to since
    defunct: Version | None = None
    gone: Version | None = None
    cure: str = ""


def _new(release: Version) -> Span:
    before = [known for known in RELEASES if known < release]
    return Span(release, lacking=before[-1])


# In the 26.05.5 binaries and not in those of 24.11.5; no CHANGELOG says when it came.
_BETWEEN = Span(V26_05, lacking=V24_11)
_REMOVE = "remove it"

_SLURM = """AccountingStorageBackupHost AccountingStorageEnforce AccountingStorageExternalHost
AccountingStorageHost AccountingStorageParameters AccountingStoragePass AccountingStoragePort
AccountingStorageTRES AccountingStorageType AccountingStoreFlags AcctGatherEnergyType
AcctGatherFilesystemType AcctGatherInfinibandType AcctGatherInterconnectType AcctGatherNodeFreq
AcctGatherProfileType AllowSpecResourcesUsage AuthAltParameters AuthAltTypes AuthInfo AuthType
BackupAddr BackupController BatchStartTimeout BcastExclude BcastParameters BurstBufferParameters
BurstBufferType CertmgrParameters CertmgrType CliFilterPlugins ClusterName CommunicationParameters
CompleteWait ControlAddr ControlMachine CpuFreqDef CpuFreqGovernors CredType CryptoType
DataParserParameters DebugFlags DefCPUPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode
DependencyParameters DisableRootJobs DownNodes EioTimeout EnforcePartLimits Epilog EpilogMsgTime
EpilogSlurmctld FairShareDampeningFactor FederationParameters FirstJobId GpuFreqDef GresTypes
GroupUpdateForce GroupUpdateTime HashPlugin HealthCheckInterval HealthCheckNodeState
HealthCheckProgram InactiveLimit InteractiveStepOptions JobAcctGatherFrequency JobAcctGatherParams
JobAcctGatherType JobCompHost JobCompLoc JobCompParams JobCompPass JobCompPort JobCompType
JobCompUser JobContainerType JobFileAppend JobRequeue JobSubmitPlugins KeepAliveTime KillOnBadExit
KillWait LaunchParameters LaunchType Licenses LogTimeFormat MCSParameters MCSPlugin MailDomain
MailProg MaxArraySize MaxBatchRequeue MaxDBDMsgs MaxJobCount MaxJobId MaxMemPerCPU MaxMemPerNode
MaxNodeCount MaxStepCount MaxTasksPerNode MessageTimeout MinJobAge MpiDefault MpiParams
NodeFeaturesPlugins NodeName NodeSet OverTimeLimit PartitionName PlugStackConfig PluginDir
PrEpParameters PrEpPlugins PreemptExemptTime PreemptMode PreemptParameters PreemptType
PriorityCalcPeriod PriorityDecayHalfLife PriorityFavorSmall PriorityFlags PriorityMaxAge
PriorityParameters PrioritySiteFactorParameters PrioritySiteFactorPlugin PriorityType
PriorityUsageResetPeriod PriorityWeightAge PriorityWeightAssoc PriorityWeightFairshare
PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS PriorityWeightTRES PrivateData
ProctrackType Prolog PrologEpilogTimeout PrologFlags PrologSlurmctld PropagatePrioProcess
PropagateResourceLimits PropagateResourceLimitsExcept RebootProgram ReconfigFlags RequeueExit
RequeueExitHold ResumeFailProgram ResumeProgram ResumeRate ResumeTimeout ResvEpilog ResvOverRun
ResvProlog ReturnToService RoutePlugin SbcastParameters SchedulerParameters SchedulerTimeSlice
SchedulerType ScronParameters SelectType SelectTypeParameters SlurmSchedLogFile SlurmSchedLogLevel
SlurmUser SlurmctldAddr SlurmctldDebug SlurmctldHost SlurmctldLogFile SlurmctldParameters
SlurmctldPidFile SlurmctldPort SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg SlurmctldSyslogDebug
SlurmctldTimeout SlurmdDebug SlurmdLogFile SlurmdParameters SlurmdPidFile SlurmdPort SlurmdSpoolDir
SlurmdSyslogDebug SlurmdTimeout SlurmdUser SrunEpilog SrunPortRange SrunProlog StateSaveLocation
SuspendExcNodes SuspendExcParts SuspendExcStates SuspendProgram SuspendRate SuspendTime
SuspendTimeout SwitchParameters SwitchType TCPTimeout TLSParameters TLSType TaskEpilog TaskPlugin
TaskPluginParam TaskProlog TmpFS TopologyParam TopologyPlugin TrackWCKey TreeWidth
UnkillableStepProgram UnkillableStepTimeout UsePAM VSizeFactor WaitTime X11Parameters"""

_NODE = """BcastAddr Boards CoreSpecCount CoresPerSocket CPUs CPUSpecList CpuBind Feature Features
Gres MemSpecLimit NodeAddr NodeHostname Port Procs RealMemory Reason RestrictedCoresPerGPU Sockets
SocketsPerBoard State ThreadsPerCore TmpDisk TRESWeights Weight"""

_PARTITION = """AllocNodes AllowAccounts AllowGroups AllowQos Alternate CpuBind DefCPUPerGPU
DefMemPerCPU DefMemPerGPU DefMemPerNode Default DefaultTime DenyAccounts DenyQos DisableRootJobs
ExclusiveUser ExclusiveTopo GraceTime Hidden LLN MaxCPUsPerNode MaxCPUsPerSocket MaxMemPerCPU
MaxMemPerNode MaxTime MaxNodes MinNodes Nodes OverSubscribe OverTimeLimit PowerDownOnIdle
PreemptMode Priority PriorityJobFactor PriorityTier QOS RootOnly ReqResv ResumeTimeout
SelectTypeParameters Shared State SuspendTime SuspendTimeout TRESBillingWeights"""

_SLURMDBD = """AllResourcesAbsolute AllowNoDefAcct ArchiveDir ArchiveEvents ArchiveJobs
ArchiveResvs ArchiveScript ArchiveSteps ArchiveSuspend ArchiveTXN ArchiveUsage AuthAltParameters
AuthAltTypes AuthInfo AuthType CommitDelay CommunicationParameters DbdAddr DbdBackupHost DbdHost
DbdPort DebugFlags DebugLevel DebugLevelSyslog DefaultQOS DisableCoordDBD HashPlugin LogFile
LogTimeFormat MaxQueryTimeRange MessageTimeout PidFile PluginDir PrivateData PurgeEventAfter
PurgeJobAfter PurgeResvAfter PurgeStepAfter PurgeSuspendAfter PurgeTXNAfter PurgeUsageAfter
SlurmUser StorageBackupHost StorageHost StorageLoc StorageParameters StoragePass StoragePort
StorageType StorageUser TCPTimeout TLSParameters TLSType TrackSlurmctldDown TrackWCKey"""

_CGROUP = """AllowedRAMSpace AllowedSwapSpace CgroupMountpoint CgroupPlugin CgroupPlugin=disabled
ConstrainCores ConstrainDevices ConstrainRAMSpace ConstrainSwapSpace EnableControllers IgnoreSystemd
IgnoreSystemdOnFailure MaxRAMPercent MaxSwapPercent MemorySwappiness MinRAMSpace
SignalChildrenProcesses SystemdTimeout"""

_GRES = "AutoDetect Count CPUs Cores File Files Flags Link Links MultipleFiles Name NodeName Type"

_OPTIONS = """AuthInfo=use_client_ids SlurmctldParameters=enable_configless
SlurmctldParameters=cloud_dns SlurmctldParameters=conmgr_max_connections
SlurmctldParameters=conmgr_threads SlurmctldParameters=enable_stepmgr
SlurmctldParameters=idle_on_node_suspend SlurmctldParameters=max_powered_nodes
SlurmctldParameters=node_reg_mem_percent SlurmctldParameters=power_save_interval
SlurmctldParameters=user_resv_delete SlurmctldParameters=validate_nodeaddr_threads
TopologyParam=RouteTree TopologyParam=SwitchAsNodeRank TopologyParam=TopoOptional
TopologyPlugin=topology/block TopologyPlugin=topology/tree"""


def _record(name: str, keys: str) -> str:
    return " ".join(f"{name}.{key}" for key in keys.split())


def _always(*keys: str) -> dict[str, Span]:
    return dict.fromkeys(" ".join(keys).split(), Span())


_CHANGED = {
    # Keys of slurm.conf.
    "AccountingStorageLoc": Span(gone=V24_11, cure=_REMOVE),
    "AccountingStorageUser": Span(defunct=V25_11, cure=_REMOVE),
    "AccountingStoreJobComment": Span(gone=V24_11, cure="write AccountingStoreFlags=job_comment"),
    "CertgenParameters": _new(V25_05),
    "CertgenType": _new(V25_05),
    "CliFilterParameters": _new(V25_11),
    "CoreSpecPlugin": Span(defunct=V24_11, cure=_REMOVE),
    "EpilogTimeout": _new(V25_05),
    "ExtSensorsFreq": Span(defunct=V24_11, cure=_REMOVE),
    "ExtSensorsType": Span(defunct=V24_11, cure=_REMOVE),
    "FastSchedule": Span(defunct=V24_11, cure="write SlurmdParameters=config_overrides for 2"),
    # 24.11 has it in builds with front ends, which are not ours.
    "FrontendName": Span(gone=V24_11, cure=_REMOVE),
    "GetEnvTimeout": Span(defunct=V25_05, cure=_REMOVE),
    "HealthCheckTimeout": _BETWEEN,
    "HttpParserType": _new(V25_11),
    "JobCompPassScript": _new(V25_11),
    "JobCredentialPrivateKey": Span(defunct=V24_11, cure=_REMOVE),
    "JobCredentialPublicCertificate": Span(defunct=V24_11, cure=_REMOVE),
    "LicenseParameters": _BETWEEN,
    "MetricsAuthUsers": _new(V26_05),
    "MetricsParameters": _new(V26_05),
    "MetricsType": _new(V25_11),
    "NamespaceType": _new(V25_11),
    "PowerAction": _new(V26_05),
    "PowerParameters": Span(defunct=V24_11, cure=_REMOVE),
    "PowerPlugin": Span(defunct=V24_11, cure=_REMOVE),
    "PrologTimeout": _new(V25_05),
    "SallocDefaultCommand": Span(gone=V24_11, cure="write LaunchParameters=use_interactive_step"),
    "SlurmctldHttpAuthParameters": _BETWEEN,
    "SlurmdHttpAuthParameters": _BETWEEN,
    "UrlParserType": _new(V25_11),
    # Keys of its records.
    "NodeName.GresConf": _BETWEEN,
    "NodeName.Parameters": _new(V25_11),
    "NodeName.SuspendTime": _new(V26_05),
    "NodeName.Topology": _new(V25_05),
    "PartitionName.Exclusive": _new(V26_05),
    "PartitionName.Topology": _new(V25_05),
    "PowerAction.Location": _new(V26_05),
    "PowerAction.Program": _new(V26_05),
    # Options.
    "CommunicationParameters=NoAddrCache": Span(defunct=V24_11, cure=_REMOVE),
    "CommunicationParameters=disable_http": _new(V25_11),
    "CommunicationParameters=host_unreach_retry_count": _new(V25_05),
    "HealthCheckNodeState=REBOOT_ONLY": _new(V26_05),
    "HealthCheckNodeState=START_ONLY": _new(V25_11),
    "JobAcctGatherParams=no_file_cache": _new(V25_11),
    "LogTimeFormat=format_stderr": Span(gone=V25_05, cure=_REMOVE),
    "MetricsParameters=ignore_private_data": _new(V26_05),
    "MetricsType=metrics/openmetrics": _new(V25_11),
    "PriorityFlags=MAX_TRES_GRES": _new(V25_05),
    "SchedulerParameters=enable_job_state_cache": Span(gone=V26_05, cure=_REMOVE),
    "SlurmctldParameters=cloud_reg_addrs": Span(defunct=V24_11, cure=_REMOVE),
    "SlurmctldParameters=enable_async_reply": _new(V25_11),
    "SlurmctldParameters=reconfig_on_restart": _new(V25_11),
    "SlurmctldParameters=threadpool": _new(V26_05),
    "TLSType=tls/s2n": _new(V25_05),
    "TaskPluginParam=SlurmdSpecOverride": _new(V25_05),
    "TopologyParam=BlockAsNodeRank": _new(V25_11),
    "TopologyPlugin=topology/ring": _new(V26_05),
    "TopologyPlugin=topology/torus3d": _new(V26_05),
}

# "files" are those beside slurm.conf, "http" what slurmctld itself answers on its port.
TABLE: Mapping[str, Mapping[str, Span]] = {
    "slurm.conf": {
        **_always(
            _SLURM,
            _record("NodeName", _NODE),
            _record("PartitionName", _PARTITION),
            "NodeSet.Feature NodeSet.Nodes DownNodes.Reason DownNodes.State",
            _OPTIONS,
        ),
        **_CHANGED,
    },
    "gres.conf": _always(_GRES),
    "slurmdbd.conf": {
        **_always(_SLURMDBD),
        "ArchiveJobEnv": _new(V26_05),
        "ArchiveJobScript": _new(V26_05),
        "DisableArchiveCommands": _new(V25_11),
        "DisableRollups": _new(V26_05),
        "MaxPurgeLimit": _new(V25_11),
        "PurgeJobEnvAfter": _new(V26_05),
        "PurgeJobScriptAfter": _new(V26_05),
        "StoragePassScript": _new(V25_11),
    },
    "cgroup.conf": {
        **_always(_CGROUP),
        "AllowedDevicesFile": Span(defunct=V24_11, cure=_REMOVE),
        "CgroupJobIdPaths": _BETWEEN,
        "CgroupSlice": _new(V25_11),
        "EnableExtraControllers": _new(V25_05),
    },
    "acct_gather.conf": {
        "ProfileInfluxDBExtraTags": _new(V26_05),
        "ProfileInfluxDBFlags": _new(V26_05),
        "ProfileInfluxDBFrequency": _new(V25_11),
    },
    "mpi.conf": {"PMIxShareServerTopology": _new(V25_11)},
    "files": {
        **_always("topology.conf job_container.conf"),
        "namespace.yaml": _new(V25_11),
        "resources.yaml": _new(V25_05),
        "topology.yaml": _new(V25_05),
    },
    "http": dict.fromkeys(("/healthz", "/livez", "/metrics", "/readyz"), _new(V25_11)),
}

# Files whose whole tables are above, and the releases that they were taken from. Options after a =
# are never all there.
_COMPLETE = {"slurm.conf", "gres.conf"}
_COMPLETE_IN = {V24_11, V26_05}

_SPANS = {
    (file, key.lower()): (key, span) for file, rows in TABLE.items() for key, span in rows.items()
}


def known(key: str, version: Version | None, file: str = "slurm.conf") -> Support:
    """Return what `version` does with `Key`, `Record.Key` or `Key=option` in `file`."""
    if version is None or not V24_11 <= version <= V26_05:
        return Support(Standing.UNKNOWN)
    name, span = _SPANS.get((file, key.lower()), (key, None))
    if span is not None:
        standing, why = _standing(name, span, version)
    elif file in _COMPLETE and version in _COMPLETE_IN and "=" not in key:
        standing, why = Standing.NO_KEY, f"Slurm {version} has no {key} in {file}; remove it"
    else:
        standing, why = Standing.UNKNOWN, ""
    missing = standing in {Standing.TOO_NEW, Standing.GONE, Standing.NO_KEY}
    return Support(standing, why, missing and "=" not in key and file.endswith(".conf"))


def remarks(
    lines: Iterable[Line], version: Version | None, file: str = "slurm.conf"
) -> Iterator[tuple[Setting, Support]]:
    """Return what in `lines` a release does not have or ignores, each with its line."""
    for line in lines:
        if isinstance(line, Setting):
            for key in _asked(line, file):
                support = known(key, version, file)
                if support.standing not in {Standing.KNOWN, Standing.UNKNOWN}:
                    yield line, support


def _asked(line: Setting, file: str) -> Iterator[str]:
    yield line.key
    if len(line.pairs) == 1:
        for option in line.value.split(","):
            yield f"{line.key}={option.partition('=')[0].strip()}"
    for key, _ in line.pairs[1:]:
        yield f"{line.key}.{key}" if file == "slurm.conf" else key


def _standing(name: str, span: Span, version: Version) -> tuple[Standing, str]:
    cure = f"; {span.cure}" if span.cure else ""
    if span.gone and version >= span.gone:
        return Standing.GONE, f"Slurm {version} has {name} no more{cure}"
    if span.defunct and version >= span.defunct:
        return Standing.DEFUNCT, f"Slurm {version} ignores {name}{cure}"
    if version >= span.since:
        return Standing.KNOWN, ""
    if span.lacking is None or version <= span.lacking:
        return Standing.TOO_NEW, f"Slurm {version} has no {name}; it needs {span.since}"
    return Standing.UNKNOWN, ""
