"""A slurmrestd with a slurmctld and a slurmdbd behind it, as much of them as our client sees.

`FakeSlurm` answers calls; `FakeServer` puts it on a socket, `FakeTransport` right under our client,
where time may be virtual. It does what 24.11 and 26.05 were seen to do, and no more.
"""
