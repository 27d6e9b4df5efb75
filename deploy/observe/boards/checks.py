"""Health checks: which nodes they took out of service, for what, and for how long. Pure."""

from ..grafana import Dashboard, Query, Row, Step, bars, heat, lines, number, stacked, table
from .places import CLUSTER

# How checks begin their reasons. What follows is the name of the check and what it found.
NODE, HARDWARE, USER = (rf"\\[{kind}_problem\\].*" for kind in ("node", "hardware", "user"))
ANY = r"\\[(node|hardware|user)_problem\\].*"
KILL = "Kill task failed.*"


def _drained(title: str, words: str, reason: str, colour: str) -> tuple[str, str, str, str, Step]:
    expr = (
        f'count(slurm_node_info{{$here, state_is_drain="true", reason=~"{reason}"}}) or vector(0)'
    )
    return title, words, "short", expr, Step(1, colour)


_NOW = Row(
    "Drained now",
    (
        number(*_drained("Node problems", "Nodes with [node_problem].", NODE, "orange")),
        number(*_drained("Hardware problems", "Nodes with [hardware_problem].", HARDWARE, "red")),
        number(
            *_drained("User problems", "Nodes with [user_problem]: full disks.", USER, "orange")
        ),
        number(
            *_drained(
                "Kill task failed",
                "Nodes where a job's processes did not end; a reboot helps.",
                KILL,
                "orange",
            )
        ),
        number(
            "Other reasons",
            "Nodes that somebody else drained: an administrator, or the operator.",
            "short",
            f"""count(slurm_node_info{{$here, state_is_drain="true",
            reason!~"{ANY}|{KILL}"}}) or vector(0)""",
        ),
    ),
)

_REASONS = Row(
    "Reasons",
    (
        stacked(
            "Drained nodes by reason",
            "Every reason for which nodes are drained now.",
            "short",
            Query(
                'count by (reason) (slurm_node_info{$here, state_is_drain="true"})', "{{reason}}"
            ),
        ),
        bars(
            "What takes nodes out of service",
            "Times in a week that nodes went down or were drained, by reason.",
            "short",
            Query(
                "topk(15, sum by (reason) (increase(slurm_node_fails_total{$here}[7d])))",
                "{{reason}}",
            ),
        ),
        lines(
            "Failures by reason",
            "Times in an hour that nodes went down or were drained.",
            "short",
            Query(
                f"""sum by (reason)
                (increase(slurm_node_fails_total{{$here, reason=~"{ANY}|{KILL}"}}[1h]))""",
                "{{reason}}",
            ),
        ),
        table(
            "Nodes that checks took out of service",
            "The reason names the check; the comment says what it found.",
            "short",
            Query(
                f"""max by (node_name, instance_id, state_base, reason, comment)
                (slurm_node_info{{$here, state_is_drain="true", reason=~"{ANY}|{KILL}"}})"""
            ),
        ),
    ),
)

_TIME = Row(
    "Time lost",
    (
        lines(
            "GPU hours drained",
            "GPU hours per hour of nodes that are drained, with or without jobs.",
            "h",
            Query(
                """sum by (state_base) (increase(slurm_node_gpu_seconds_total{$here,
                state_is_drain="true"}[1h])) / 3600""",
                "{{state_base}}",
            ),
        ),
        heat(
            "How long nodes are out of service",
            "Outages that ended, by how long they were.",
            "s",
            Query(
                """sum by (le)
                (increase(slurm_node_unavailability_duration_seconds_bucket{$here}[6h]))""",
                "{{le}}",
            ),
        ),
        bars(
            "Nodes that fail most",
            "A node that comes back and fails again has a fault that its checks do not see.",
            "short",
            Query(
                """topk(10, sum by (node_name)
                (increase(slurm_node_fails_total{$here}[7d])))""",
                "{{node_name}}",
            ),
        ),
    ),
)

BOARD = Dashboard(
    "checks",
    "Health checks",
    "Health checks: which nodes they took out of service, for what, and for how long.",
    CLUSTER,
    (_NOW, _REASONS, _TIME),
)
