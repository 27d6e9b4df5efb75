"""What a user takes a cluster down for. Pure."""

import enum


class Mode(enum.Enum):
    """Whether a cluster is down, and what becomes of its jail meanwhile."""

    NONE = "none"
    DOWNSCALE = "downscale"
    # The Job that fills the jail is taken away, so that it can be made anew afterwards.
    DELETE = "downscaleAndDeletePopulateJail"
    # The jail is filled anew, over what is there.
    OVERWRITE = "downscaleAndOverwritePopulateJail"
    # The user brings a jail that is filled already.
    SKIP = "skipPopulateJail"

    @property
    def down(self) -> bool:
        """Say whether all parts of the cluster have no pods."""
        return self not in (Mode.NONE, Mode.SKIP)

    @property
    def populates(self) -> bool:
        """Say whether the jail is filled by a Job of ours."""
        return self not in (Mode.DELETE, Mode.SKIP)

    @property
    def overwrites(self) -> bool:
        """Say whether what is in the jail is replaced."""
        return self is Mode.OVERWRITE

    def replicas(self, asked: int) -> int:
        """Return how many pods a part has, of which the user asks for so many."""
        return 0 if self.down else asked
