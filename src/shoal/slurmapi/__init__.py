"""Client of slurmrestd."""
