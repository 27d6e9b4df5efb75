"""What tells clusters apart: labels that come with the target, not from the program. Pure."""

from ..grafana import Choice

# The number of threads has one series a cluster, so the choice costs nothing.
_ABOUT = "slurm_controller_server_thread_count"
CLUSTER = (
    Choice("namespace", "namespace", _ABOUT),
    Choice("cluster", "slurm_cluster", _ABOUT),
)
# Under another name: what is chosen goes along from dashboard to dashboard, and the operator seldom
# is in the namespace of a cluster.
OPERATOR = (Choice("operator", "namespace", "shoal_leading"),)
# What keeps clusters apart where series are joined.
JOINED = "namespace, slurm_cluster"
