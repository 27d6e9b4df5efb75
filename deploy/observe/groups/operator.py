"""When somebody should look at the operator. Pure."""

from ..alerts import Alert, Group, Severity

_NS = "{{ $labels.namespace }}"
_CONTROLLER = "controller {{ $labels.controller }} of the operator in " + _NS
_BUGS = 'shoal_passes_total{outcome="bug"}'

GROUP = Group(
    "operator",
    (
        Alert(
            "ShoalOperatorMissing",
            "absent(shoal_leading)",
            "5m",
            Severity.CRITICAL,
            "No operator is seen",
            """Prometheus gets no numbers of an operator. Jobs go on, but nothing is scaled,
            updated or repaired while it is away.""",
        ),
        Alert(
            "ShoalNobodyLeads",
            "sum by (namespace) (shoal_leading) == 0",
            "3m",
            Severity.CRITICAL,
            f"No operator in {_NS} holds the Lease",
            f"""The processes in {_NS} run and none of them may act. Jobs go on, but nothing is
            scaled, updated or repaired.""",
        ),
        Alert(
            "ShoalSeveralLead",
            "sum by (namespace) (shoal_leading) > 1",
            "2m",
            Severity.CRITICAL,
            f"{{{{ $value }}}} operators in {_NS} believe that they lead",
            """Only one may act at a time. Writes of the deposed one are fenced, so this does no
            harm by itself, but should not last.""",
        ),
        Alert(
            "ShoalKeysStuck",
            "sum by (namespace, controller) (shoal_stuck_keys) > 0",
            "5m",
            Severity.WARNING,
            "{{ $value }} objects get nowhere",
            f"""Every pass of {_CONTROLLER} over {{{{ $value }}}} objects has failed for more than
            ten minutes. The condition Ready of the object and the log say why.""",
        ),
        Alert(
            "ShoalNoProgress",
            "shoal_queue_depth > 0 and time() - shoal_last_progress_timestamp_seconds > 900",
            "5m",
            Severity.CRITICAL,
            "Work is due and no pass ends well",
            f"""{{{{ $value }}}} objects wait for {_CONTROLLER}, and no pass has ended well for a
            quarter of an hour.""",
        ),
        Alert(
            "ShoalPassesFail",
            """sum by (namespace, controller) (rate(shoal_passes_total{outcome=~"failed|bug"}[15m]))
            / sum by (namespace, controller) (rate(shoal_passes_total[15m])) > 0.5""",
            "15m",
            Severity.WARNING,
            "More than half of the passes fail",
            f"""{{{{ $value | humanizePercentage }}}} of the passes of {_CONTROLLER} fail and are
            tried again.""",
        ),
        Alert(
            "ShoalBug",
            # A counter that appears with its first event has nothing to increase from.
            f"""sum by (namespace, controller) (increase({_BUGS}[1h])) > 0
            or sum by (namespace, controller) ({_BUGS} unless {_BUGS} offset 1h) > 0""",
            "0m",
            Severity.WARNING,
            "A pass ended in an error that nobody expected",
            f"""A pass of {_CONTROLLER} met an error that the code does not know. The object is
            tried again; the log has the traceback.""",
        ),
        Alert(
            "ShoalKeysWaitLong",
            """histogram_quantile(0.99, sum by (namespace, controller, le)
            (rate(shoal_queue_wait_seconds_bucket[10m]))) > 60""",
            "15m",
            Severity.WARNING,
            "Objects wait for more than a minute until they are looked at",
            f"""One in a hundred objects waits {{{{ $value | humanizeDuration }}}} for
            {_CONTROLLER}, which has too few workers or too slow answers.""",
        ),
        Alert(
            "ShoalWatchBroken",
            "max by (namespace, plural) (shoal_watch_failing) > 0",
            "5m",
            Severity.WARNING,
            "The operator hears no news of {{ $labels.plural }}",
            f"""The watch of {{{{ $labels.plural }}}} by the operator in {_NS} has been broken for
            minutes. What changes there is not seen.""",
        ),
        Alert(
            "ShoalApiServerRefuses",
            """sum by (namespace) (rate(shoal_api_requests_total{code=~"0|403|429|5.."}[10m]))
            / sum by (namespace) (rate(shoal_api_requests_total[10m])) > 0.1""",
            "10m",
            Severity.WARNING,
            "The API server refuses one request in ten",
            f"""{{{{ $value | humanizePercentage }}}} of the requests of the operator in {_NS} get
            no answer, or one that says no right, too many requests, or an error of the server's
            own.""",
        ),
    ),
)
