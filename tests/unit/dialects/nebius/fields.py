"""The fields that users of slurm.nebius.ai count on, as tests/data/nebius lists them."""

from pathlib import Path

from ..tables import table

DATA = Path(__file__).parents[3] / "data/nebius"
SEED = [table(path) for path in sorted((DATA / "seed").glob("*.tsv"))]
HEAD = [table(path) for path in sorted((DATA / "head").glob("*.tsv"))]
OLD = {table.kind: table for table in SEED}
NEW = {table.kind: table for table in HEAD}
