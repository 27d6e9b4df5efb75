"""How far a Job is."""

import msgspec

from shoal.kube.jobs import Job


def read(*conditions):
    return msgspec.convert({"status": {"conditions": list(conditions)}}, Job)


def test_a_job_without_a_verdict_is_neither_done_nor_lost():
    for job in (read(), read({"type": "Suspended", "status": "True"})):
        assert (job.complete, job.failure) == (False, "")


def test_only_what_is_true_is_a_verdict():
    assert read({"type": "Complete", "status": "True"}).complete
    assert not read({"type": "Complete", "status": "False"}).complete
    assert read({"type": "Failed", "status": "False", "message": "x"}).failure == ""


def test_a_failure_is_told_in_the_best_words_there_are():
    why = {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}
    assert read({**why, "message": "too often"}).failure == "too often"
    assert read(why).failure == "BackoffLimitExceeded"
    assert read({"type": "Failed", "status": "True"}).failure == "Failed"
