"""What can keep a local cluster from coming up, each with its cure."""


class LocalError(Exception):
    """Something this machine lacks or refuses; `cure` tells the user what to do about it."""

    def __init__(self, problem: str, cure: str) -> None:
        super().__init__(f"{problem}\n  cure: {cure}")
        self.problem = problem
        self.cure = cure
