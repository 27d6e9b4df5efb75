"""The operator itself: is it alive, does it keep up, what does it meet. Pure."""

from ..grafana import Dashboard, Query, Row, Step, bars, heat, lines, number, stacked
from .places import OPERATOR

_BAD = Step(1, "red")

_WELL = Row(
    "Is it well",
    (
        number(
            "Leading",
            "Processes that hold their Lease. One is right; with none nothing is done.",
            "short",
            "sum(shoal_leading{$here})",
        ),
        number(
            "Stuck keys",
            "Objects whose passes have not ended well for ten minutes. The log says why.",
            "short",
            "sum(shoal_stuck_keys{$here})",
            _BAD,
        ),
        number(
            "Broken watches",
            "Kinds of which the operator does not hear news now.",
            "short",
            "sum(shoal_watch_failing{$here})",
            _BAD,
        ),
        number(
            "Bugs",
            "Passes in a day that ended in an error nobody expected.",
            "short",
            'sum(increase(shoal_passes_total{$here, outcome="bug"}[1d])) or vector(0)',
            _BAD,
        ),
        bars(
            "Since the last good pass",
            "Long does no harm while nothing is due.",
            "s",
            Query(
                "time() - max by (controller) (shoal_last_progress_timestamp_seconds{$here})",
                "{{controller}}",
            ),
        ),
    ),
)

_PASSES = Row(
    "Passes",
    (
        stacked(
            "Passes by controller",
            "How often objects are looked at.",
            "ops",
            Query("sum by (controller) (rate(shoal_passes_total{$here}[5m]))", "{{controller}}"),
        ),
        lines(
            "Passes that did not end well",
            "failed is tried again, terminal waits for a new spec, bug is an error of our own.",
            "ops",
            Query(
                """sum by (controller, outcome)
                (rate(shoal_passes_total{$here, outcome!="done"}[5m]))""",
                "{{controller}} {{outcome}}",
            ),
        ),
        lines(
            "How long a pass takes",
            "99 of 100 passes are quicker than this.",
            "s",
            Query(
                """histogram_quantile(0.99, sum by (controller, le)
                (rate(shoal_pass_seconds_bucket{$here}[5m])))""",
                "{{controller}}",
            ),
        ),
        lines(
            "How long a key waits for its pass",
            "Grows when there are too few workers. 99 of 100 wait less than this.",
            "s",
            Query(
                """histogram_quantile(0.99, sum by (controller, le)
                (rate(shoal_queue_wait_seconds_bucket{$here}[5m])))""",
                "{{controller}}",
            ),
        ),
        lines(
            "Keys that are due",
            "Work that is there now and has no worker yet.",
            "short",
            Query("sum by (controller) (shoal_queue_depth{$here})", "{{controller}}"),
            Query("sum(shoal_queue_keys{$here})", "all keys, also those for later"),
        ),
        lines(
            "Workers in use",
            "At 100 % every worker is busy and keys begin to wait.",
            "percentunit",
            Query(
                """sum by (controller) (shoal_workers_busy{$here})
                / sum by (controller) (shoal_workers{$here})""",
                "{{controller}}",
            ),
        ),
    ),
)

_KUBERNETES = Row(
    "Kubernetes",
    (
        stacked(
            "Requests by verb",
            "What the operator asks of the API server.",
            "reqps",
            Query("sum by (verb) (rate(shoal_api_requests_total{$here}[5m]))", "{{verb}}"),
        ),
        lines(
            "Requests that were refused",
            "By answer; 0 is no answer. 409 is a conflict, which is tried again.",
            "reqps",
            Query(
                """sum by (code, plural)
                (rate(shoal_api_requests_total{$here, code!~"[123].."}[5m]))""",
                "{{code}} {{plural}}",
            ),
        ),
        heat(
            "How long answers take",
            "How many requests took how long; watches are left out.",
            "s",
            Query("sum by (le) (increase(shoal_api_request_seconds_bucket{$here}[5m]))", "{{le}}"),
        ),
        stacked(
            "Effects",
            "Writes, by how they ended; fenced ones came from a process that leads no longer.",
            "ops",
            Query("sum by (outcome) (rate(shoal_effects_total{$here}[5m]))", "{{outcome}}"),
        ),
        lines(
            "Watches that broke, lists made anew",
            "A watch that breaks is opened again; a list made anew costs the API server.",
            "ops",
            Query(
                "sum by (plural) (rate(shoal_watch_failures_total{$here}[5m]))",
                "broke: {{plural}}",
            ),
            Query(
                "sum by (plural) (rate(shoal_watch_lists_total{$here}[5m]))",
                "listed: {{plural}}",
            ),
        ),
        lines(
            "Objects seen",
            "What the operator keeps in memory, by kind.",
            "short",
            Query("max by (plural) (shoal_store_objects{$here})", "{{plural}}"),
        ),
    ),
)

_SLURM = Row(
    "Slurm",
    (
        stacked(
            "Requests of slurmrestd",
            "What the operator asks of the slurmrestds of all clusters.",
            "reqps",
            Query("sum by (verb, what) (rate(shoal_calls_total{$here}[5m]))", "{{verb}} {{what}}"),
        ),
        lines(
            "Requests that Slurm refused",
            "By answer; 0 is no answer.",
            "reqps",
            Query(
                """sum by (code, what)
                (rate(shoal_calls_total{$here, code!~"[123].."}[5m]))""",
                "{{code}} {{what}}",
            ),
        ),
        lines(
            "How long Slurm takes to answer",
            "99 of 100 are quicker than this.",
            "s",
            Query(
                """histogram_quantile(0.99, sum by (verb, le)
                (rate(shoal_call_seconds_bucket{$here}[5m])))""",
                "{{verb}}",
            ),
        ),
    ),
)

_PROCESS = Row(
    "Process",
    (
        lines(
            "CPU",
            "Cores in use by each process, the leader and those that stand by.",
            "short",
            Query(
                """rate(process_cpu_seconds_total{$here}[5m])
                and on (namespace, job, instance) shoal_leading{$here}""",
                "{{instance}}",
            ),
        ),
        lines(
            "Memory",
            "Resident memory of each process.",
            "bytes",
            Query(
                """process_resident_memory_bytes{$here}
                and on (namespace, job, instance) shoal_leading{$here}""",
                "{{instance}}",
            ),
        ),
        lines(
            "Events",
            "Events of Kubernetes that were recorded, sent, and dropped as too many.",
            "ops",
            Query("sum by (outcome) (rate(shoal_events_total{$here}[5m]))", "{{outcome}}"),
        ),
    ),
)

BOARD = Dashboard(
    "operator",
    "Operator",
    "The operator itself: who leads, whether passes end well and in time, what the API says.",
    OPERATOR,
    (_WELL, _PASSES, _KUBERNETES, _SLURM, _PROCESS),
)
