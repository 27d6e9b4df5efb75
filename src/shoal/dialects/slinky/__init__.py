"""The API slinky.slurm.net: Controller, NodeSet, LoginSet, Accounting, RestApi, Token. Pure."""
