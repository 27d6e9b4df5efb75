import errno
import os

import pytest

from shoal.cli import main
from shoal.host.run import CommandError
from shoal.local.errors import LocalError

ERRORS = [
    (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/c/x"), "/c/x: No space left on device"),
    (PermissionError(errno.EACCES, "Permission denied", "/s/y"), "/s/y: Permission denied"),
    (TimeoutError("the disk does not answer"), "the disk does not answer"),
    (TimeoutError(), "TimeoutError"),
    (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), "Connection refused"),
    (LocalError("no Go", "install Go"), "no Go\n  cure: install Go"),
    (CommandError(["ip", "link"], 2, "no such device"), "ip link: exit code 2\nno such device"),
]


@pytest.fixture
def fail(monkeypatch):
    """Give a function that makes every command fail with an error."""
    monkeypatch.delenv("SHOAL_DEBUG", raising=False)

    def fail(error: Exception) -> None:
        def command() -> None:
            raise error

        monkeypatch.setattr(main, "shoal", command)

    return fail


@pytest.mark.parametrize(("error", "said"), ERRORS, ids=lambda value: repr(value)[:40])
def test_an_error_is_a_message_and_exit_code_1_and_no_trace(fail, capsys, error, said):
    fail(error)
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == 1
    shown = capsys.readouterr().err
    assert shown.startswith(f"shoal: {said}")
    assert "Traceback" not in shown


@pytest.mark.parametrize("error", [error for error, _ in ERRORS if isinstance(error, OSError)])
def test_whatever_the_machine_refuses_comes_with_a_cure(error):
    assert "\n  cure: " in main.told(error)


def test_a_full_disk_and_a_forbidden_file_have_cures_of_their_own():
    assert "free some space" in main.told(ERRORS[0][0])
    assert "who owns it" in main.told(ERRORS[1][0])
    assert "SHOAL_DEBUG=1" in main.told(ERRORS[2][0])


@pytest.mark.parametrize(("error", "_said"), ERRORS, ids=lambda value: repr(value)[:40])
def test_who_debugs_sees_where_an_error_came_from(fail, monkeypatch, error, _said):
    fail(error)
    monkeypatch.setenv("SHOAL_DEBUG", "1")
    with pytest.raises(type(error)) as raised:
        main.main()
    assert raised.value is error


def test_a_mistake_of_ours_is_never_hidden(fail):
    fail(KeyError("a bug"))
    with pytest.raises(KeyError):
        main.main()
