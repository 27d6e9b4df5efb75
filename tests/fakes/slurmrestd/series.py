"""How the Slurm series differ, and Slurm's words for its errors."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Series:
    """One Slurm release as slurmrestd shows it."""

    name: str
    release: str
    versions: tuple[int, ...]
    refused: int  # the HTTP code of what slurmctld refuses
    not_resumable: int  # error number
    comma: tuple[int, str]  # the answer to a comma in a path
    content_type: tuple[int, str]  # the answer to a wrong Content-Type
    no_environment: int  # error number of a submission without any
    stranger: int  # error number of a submission by a user that does not exist
    probe_bug: bool  # nodes changed and partitions did not: 500
    partition_warning: bool  # an unknown partition is a warning, not an error
    errors_twice: bool  # behind each error comes another answer, in plain text
    database_hint: str  # what slurmdbd's "down" adds when the token was at fault


SERIES = {
    "24.11": Series(
        name="24.11",
        release="24.11.5",
        versions=(40, 41, 42),
        refused=500,
        not_resumable=2028,
        comma=(400, "Unable to parse URL path"),
        content_type=(400, "Unknown mime type"),
        no_environment=2019,
        stranger=2045,
        probe_bug=True,
        partition_warning=False,
        errors_twice=False,
        database_hint="Failed to open slurmdbd connection: authentication error",
    ),
    "26.05": Series(
        name="26.05",
        release="26.05.5",
        versions=(42, 43, 44, 45),
        refused=422,
        not_resumable=2180,
        comma=(404, "Unable to find requested URL"),
        content_type=(415, "Unknown mime type"),
        no_environment=2127,
        stranger=6010,
        probe_bug=False,
        partition_warning=True,
        errors_twice=True,
        database_hint="",
    ),
}

WORDS = {
    -1: "Unspecified error",
    0: "No error",
    1007: "Protocol authentication error",
    1800: "Unable to contact slurm controller (connect failure)",
    2000: "Invalid partition name specified",
    2002: "Access/permission denied",
    2010: "Invalid user id",
    2016: "Requested nodes are busy",
    2017: "Invalid job id specified",
    2018: "Invalid node name specified",
    2019: "I/O error writing script/environment to file",
    2021: "Job/step already completing or completed",
    2024: "Job is pending execution",
    2028: "Invalid node state specified",
    2045: "Invalid account or account/partition combination specified",
    2053: "Requested reservation is invalid",
    2075: "Partition is in use",
    2127: "Environment is missing",
    2168: "Node already exists",
    2180: "Invalid node state transition requested",
    5004: "Socket timed out on send/recv operation",
    6010: "Authentication as user nobody is not permitted",
    7000: "Unable to connect to database",
    9000: "Invalid query",
    9200: "Unable to resolve path",
    9207: "Data flag is invalid",
}

# Not 200, and not what the series has for all else.
CODES = {-1: 500, 0: 200, 1007: 511, 1800: 502, 2017: 404, 5004: 504, 7000: 502, 9000: 422}
CODES |= {6010: 500, 9207: 500}


@dataclass
class Refused(Exception):  # noqa: N818 - an answer of the server, no error of ours
    """Slurm says no, in its own numbers."""

    number: int
    description: str = ""
    source: str = "slurm"
    content: tuple[tuple[str, object], ...] = ()  # what the answer holds all the same

    def problem(self) -> dict[str, object]:
        """Return it as an answer lists it."""
        return {
            "description": self.description,
            "error_number": self.number,
            "error": WORDS.get(self.number, "Unknown error"),
            "source": self.source,
        }

    def code(self, series: Series) -> int:
        """Return the HTTP code that goes with it."""
        return CODES.get(self.number, series.refused)


@dataclass
class Text(Exception):  # noqa: N818 - as above
    """Slurmrestd itself says no, in plain text."""

    code: int
    words: str
