"""The fields that users of slinky.slurm.net count on, as tests/data/slinky lists them."""

from pathlib import Path

from ..tables import table

DATA = Path(__file__).parents[3] / "data/slinky"
HEAD = [table(path) for path in sorted((DATA / "head").glob("*.tsv"))]
SEED = [table(path) for path in sorted((DATA / "seed").glob("*.tsv"))]
