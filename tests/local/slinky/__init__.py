"""The operator as a process, and Slurm as its users see it: what these tests share."""
