"""For each alert: series with which it fires, and series so near to that that it must not.

A line is a series and its values, minute by minute, as promtool writes them: `1+2x30` starts at 1
and grows by 2 thirty times, `_` is a minute without a value, `stale` the end of a series.
"""

from dataclasses import dataclass

AT = "{namespace='hpc',slurm_cluster='slurm'"
INFO = "slurm_node_info" + AT + ",node_name='w-0'"
OTHERS = tuple(
    f"slurm_node_info{AT},node_name='w-{n}',state_base='IDLE'}} 1x60" for n in range(1, 9)
)
TENTH = f"slurm_node_info{AT},node_name='w-9',state_base='IDLE'}} 1x60"
FAILING = "slurm_exporter_collector_failing" + AT + ",collector='nodes'"
OUTCOMES = "slurm_job_outcomes_total" + AT + ",partition='main',account='a'"
PENDING = "slurm_jobs_pending" + AT + ",partition='main'"
NODES = "slurm_partition_nodes" + AT + ",partition='main'"
OPERATOR = "{namespace='slinky',instance='a'"
PASSES = "shoal_passes_total" + OPERATOR + ",controller='nodeset'"


@dataclass(frozen=True)
class Case:
    """What an alert is tried on, and when it is looked at."""

    fires: tuple[str, ...]
    quiet: tuple[str, ...]
    minute: int = 60


def waited(name: str, *labels: str, values: str) -> str:
    """Return a series of the histogram of waiting."""
    more = "".join(f",{label}" for label in labels)
    return f"slurm_job_queue_wait_seconds_{name}{AT},partition='main'{more}}} {values}"


CASES = {
    "SlurmNodeUnavailable": Case(
        (f"{INFO},is_unavailable='true',reason='broken'}} 1x60",),
        # Not for long enough, or known under another name.
        (
            f"{INFO},is_unavailable='true',reason='broken'}} 1x13 stale",
            f"{INFO},is_unavailable='true',state_is_not_responding='true'}} 1x60",
        ),
        16,
    ),
    "SlurmNodeNotResponding": Case(
        (f"{INFO},state_is_not_responding='true'}} 1x60",),
        (f"{INFO},state_base='DOWN',is_unavailable='true'}} 1x60",),
    ),
    "SlurmManyNodesUnavailable": Case(
        (f"{INFO},is_unavailable='true'}} 1x60", *OTHERS),
        # One in ten is not more than one in ten.
        (f"{INFO},is_unavailable='true'}} 1x60", *OTHERS, TENTH),
    ),
    "SlurmPartitionWithoutNodes": Case(
        (f"{NODES},state='DOWN'}} 3x60", f"{NODES},state='IDLE'}} 0x60"),
        (f"{NODES},state='DOWN'}} 3x60", f"{NODES},state='POWERED_DOWN'}} 1x60"),
    ),
    "SlurmNodeDrainsLong": Case(
        (f"{INFO},state_is_drain='true',state_base='MIXED'}} 1x1500",),
        (f"{INFO},state_is_drain='true',state_base='IDLE'}} 1x1500",),
        1500,
    ),
    "SlurmNodeFailsOften": Case(
        (f"slurm_node_fails_total{AT},node_name='w-0',reason='a'}} 0 1 2 3 4 5x100",),
        (f"slurm_node_fails_total{AT},node_name='w-0',reason='a'}} 0 1 2x100",),
    ),
    "SlurmNodeFailedChecks": Case(
        (f"{INFO},state_is_drain='true',reason='[hardware_problem] gpu'}} 1x60",),
        (
            f"{INFO},state_is_drain='true',reason='[user_problem] disk'}} 1x60",
            f"{INFO},state_is_drain='true',reason='see [node_problem] of w-1'}} 1x60",
        ),
    ),
    "SlurmKillTaskFailed": Case(
        (f"{INFO},state_is_drain='true',reason='Kill task failed'}} 1x60",),
        (f"{INFO},state_is_drain='false',reason='Kill task failed'}} 1x60",),
    ),
    "SlurmNodeStartsLong": Case(
        (f"{INFO},state_is_powering_up='true'}} 1x60",),
        (
            f"{INFO},state_is_powering_up='true'}} 1x25 stale",
            f"{INFO},state_is_powered_down='true'}} 1x60",
        ),
        31,
    ),
    "SlurmGpusUnavailable": Case(
        (
            f"{INFO},is_unavailable='true'}} 1x60",
            f"slurm_node_gpus{AT},node_name='w-0'}} 8x60",
            f"slurm_node_gpus{AT},node_name='w-1'}} 8x60",
        ),
        # Out of service, but without GPUs.
        (f"{INFO},is_unavailable='true'}} 1x60", f"slurm_node_gpus{AT},node_name='w-1'}} 8x60"),
    ),
    "SlurmJobsLostToNodes": Case(
        # The very first one: the counter was not there before.
        (f"{OUTCOMES},state='NODE_FAIL'}} _x55 1x60",),
        (f"{OUTCOMES},state='NODE_FAIL'}} 3x120", f"{OUTCOMES},state='FAILED'}} 0+1x120"),
    ),
    "SlurmJobsFailOften": Case(
        (f"{OUTCOMES},state='FAILED'}} 0+2x120", f"{OUTCOMES},state='COMPLETED'}} 0+1x120"),
        # All fail, but these are few.
        (f"{OUTCOMES},state='FAILED'}} 0x60 1+0.1x60",),
        120,
    ),
    "SlurmNothingStarts": Case(
        (
            f"{PENDING},reason='Priority'}} 5x90",
            f"{NODES},state='IDLE'}} 2x90",
            waited("count", values="7x90"),
        ),
        (
            f"{PENDING},reason='Priority'}} 5x90",
            f"{NODES},state='IDLE'}} 2x90",
            waited("count", values="7+1x90"),
        ),
        90,
    ),
    "SlurmJobsCannotStart": Case(
        (f"{PENDING},reason='BadConstraints'}} 1x90",),
        (f"{PENDING},reason='Resources'}} 9x90",),
        61,
    ),
    "SlurmJobsHeld": Case(
        (f"{PENDING},reason='launch failed requeued held'}} 1x90",),
        (f"{PENDING},reason='JobHeldUser'}} 1x90",),
    ),
    "SlurmQueueWaitLong": Case(
        (
            waited("bucket", "le='43200'", values="0+8x480"),
            waited("bucket", "le='86400'", values="0+10x480"),
            waited("bucket", "le='+Inf'", values="0+10x480"),
        ),
        (
            waited("bucket", "le='43200'", values="0+10x480"),
            waited("bucket", "le='86400'", values="0+10x480"),
            waited("bucket", "le='+Inf'", values="0+10x480"),
        ),
        480,
    ),
    "SlurmGpusIdleWhileJobsWait": Case(
        (
            f"slurm_partition_gpus{AT},partition='main'}} 8x200",
            f"{PENDING},reason='Resources'}} 1x200",
        ),
        (
            f"slurm_partition_gpus{AT},partition='main'}} 8x200",
            f"slurm_partition_gpus_allocated{AT},partition='main'}} 6x200",
            f"{PENDING},reason='Resources'}} 1x200",
        ),
        130,
    ),
    "SlurmctldUnreachable": Case(
        (f"{FAILING},cause='slurmctld'}} 1x60",),
        (f"{FAILING},cause='token'}} 1x60", f"{FAILING},cause='slurmrestd'}} 1x3 stale"),
        6,
    ),
    "SlurmdbdUnreachable": Case(
        (f"{FAILING},cause='slurmdbd'}} 1x60",), (f"{FAILING},cause='slurmctld'}} 1x60",)
    ),
    "SlurmdbdFallsBehind": Case(
        (f"slurm_controller_dbd_agent_queue_size{AT}}} 6000x60",),
        (f"slurm_controller_dbd_agent_queue_size{AT}}} 5000x60",),
    ),
    "SlurmctldBusy": Case(
        (f"slurm_controller_server_thread_count{AT}}} 256x60",),
        (f"slurm_controller_server_thread_count{AT}}} 200x60",),
    ),
    "SlurmctldSlow": Case(
        (
            f"slurm_controller_rpc_calls_total{AT},message_type='A'}} 0+60x60",
            f"slurm_controller_rpc_duration_seconds_total{AT},message_type='A'}} 0+120x60",
        ),
        (
            f"slurm_controller_rpc_calls_total{AT},message_type='A'}} 0+60x60",
            f"slurm_controller_rpc_duration_seconds_total{AT},message_type='A'}} 0+30x60",
        ),
    ),
    "SlurmUserFloodsController": Case(
        (f"slurm_controller_rpc_user_calls_total{AT},user='ada',user_id='7'}} 0+3600x60",),
        (f"slurm_controller_rpc_user_calls_total{AT},user='ada',user_id='7'}} 0+2400x60",),
    ),
    "SlurmctldMessagesWait": Case(
        (f"slurm_controller_agent_queue_size{AT}}} 1001x60",),
        (f"slurm_controller_agent_queue_size{AT}}} 0 5000 0x60",),
    ),
    "SlurmSchedulerSlow": Case(
        (f"slurm_scheduler_backfill_cycle_seconds{AT}}} 301x60",),
        (
            f"slurm_scheduler_backfill_cycle_seconds{AT}}} 300x60",
            f"slurm_scheduler_main_cycle_seconds{AT}}} 10x60",
        ),
    ),
    "SlurmExporterMissing": Case(
        (f"slurm_exporter_collection_attempts_total{AT}}} 1x20 stale",),
        (f"slurm_exporter_collection_attempts_total{AT}}} 1x60",),
    ),
    "SlurmExporterStale": Case(
        # Never, and some time ago.
        (
            "slurm_exporter_collector_last_success_timestamp_seconds"
            f"{AT},collector='accounting'}} 0x60",
        ),
        (
            "slurm_exporter_collector_last_success_timestamp_seconds"
            f"{AT},collector='nodes'}} 0+60x60",
            # Without accounting there is no time of a last success.
            f"slurm_exporter_collector_absent{AT},collector='accounting'}} 1x60",
        ),
    ),
    "SlurmExporterTokenRefused": Case(
        (f"{FAILING},cause='token'}} 1x60",), (f"{FAILING},cause='slurmctld'}} 1x60",)
    ),
    "SlurmExporterLeavesRunsOut": Case(
        (f"slurm_exporter_collector_skipped_total{AT},collector='jobs'}} 0+1x90",),
        (f"slurm_exporter_collector_skipped_total{AT},collector='jobs'}} 0 5x90",),
        90,
    ),
    "SlurmExporterManySeries": Case(
        (f"slurm_exporter_metrics_exported{AT}}} 500001x60",),
        (f"slurm_exporter_metrics_exported{AT}}} 500000x60",),
    ),
    "SlurmJobEnded": Case(
        (f"slurm_job_info{AT},job_id='7',user_mail='ada@example.com',job_state='FAILED'}} 1x60",),
        (
            f"slurm_job_info{AT},job_id='7',user_mail='ada@example.com',job_state='RUNNING'}} 1x60",
            f"slurm_job_info{AT},job_id='8',job_state='FAILED'}} 1x60",
        ),
    ),
    "ShoalOperatorMissing": Case(
        (f"shoal_leading{OPERATOR}}} 1x20 stale",), (f"shoal_leading{OPERATOR}}} 0x60",)
    ),
    "ShoalNobodyLeads": Case(
        (f"shoal_leading{OPERATOR}}} 0x60",),
        (f"shoal_leading{OPERATOR}}} 0x60", "shoal_leading{namespace='slinky',instance='b'} 1x60"),
    ),
    "ShoalSeveralLead": Case(
        (f"shoal_leading{OPERATOR}}} 1x60", "shoal_leading{namespace='slinky',instance='b'} 1x60"),
        (f"shoal_leading{OPERATOR}}} 1x60", "shoal_leading{namespace='hpc',instance='b'} 1x60"),
    ),
    "ShoalKeysStuck": Case(
        (f"shoal_stuck_keys{OPERATOR},controller='nodeset'}} 1x60",),
        (f"shoal_stuck_keys{OPERATOR},controller='nodeset'}} 0x60",),
    ),
    "ShoalNoProgress": Case(
        (
            f"shoal_queue_depth{OPERATOR},controller='nodeset'}} 4x60",
            f"shoal_last_progress_timestamp_seconds{OPERATOR},controller='nodeset'}} 60x60",
        ),
        # Nothing is due there, and what is due elsewhere is done.
        (
            f"shoal_queue_depth{OPERATOR},controller='nodeset'}} 0x60",
            f"shoal_last_progress_timestamp_seconds{OPERATOR},controller='nodeset'}} 60x60",
            f"shoal_queue_depth{OPERATOR},controller='token'}} 4x60",
            f"shoal_last_progress_timestamp_seconds{OPERATOR},controller='token'}} 0+60x60",
        ),
    ),
    "ShoalPassesFail": Case(
        (f"{PASSES},outcome='done'}} 0+1x60", f"{PASSES},outcome='failed'}} 0+2x60"),
        # A spec that is wrong is for its owner to see.
        (f"{PASSES},outcome='done'}} 0+1x60", f"{PASSES},outcome='terminal'}} 0+9x60"),
    ),
    "ShoalBug": Case(
        (f"{PASSES},outcome='bug'}} _x145 1x60",),
        (f"{PASSES},outcome='bug'}} 1x200", f"{PASSES},outcome='failed'}} 0+1x200"),
        150,
    ),
    "ShoalKeysWaitLong": Case(
        (
            f"shoal_queue_wait_seconds_bucket{OPERATOR},controller='nodeset',le='60'}} 0+5x60",
            f"shoal_queue_wait_seconds_bucket{OPERATOR},controller='nodeset',le='120'}} 0+9x60",
            f"shoal_queue_wait_seconds_bucket{OPERATOR},controller='nodeset',le='+Inf'}} 0+9x60",
        ),
        (
            f"shoal_queue_wait_seconds_bucket{OPERATOR},controller='nodeset',le='60'}} 0+9x60",
            f"shoal_queue_wait_seconds_bucket{OPERATOR},controller='nodeset',le='+Inf'}} 0+9x60",
        ),
    ),
    "ShoalWatchBroken": Case(
        (f"shoal_watch_failing{OPERATOR},plural='pods'}} 1x60",),
        (f"shoal_watch_failing{OPERATOR},plural='pods'}} 1x3 0x60",),
    ),
    "ShoalApiServerRefuses": Case(
        (
            f"shoal_api_requests_total{OPERATOR},verb='get',code='200'}} 0+8x60",
            f"shoal_api_requests_total{OPERATOR},verb='get',code='0'}} 0+2x60",
        ),
        # Conflicts are daily bread.
        (
            f"shoal_api_requests_total{OPERATOR},verb='get',code='200'}} 0+8x60",
            f"shoal_api_requests_total{OPERATOR},verb='get',code='409'}} 0+8x60",
        ),
    ),
}
