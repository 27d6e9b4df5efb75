"""The same tests on the fake slurmrestd and on real ones of both series."""
