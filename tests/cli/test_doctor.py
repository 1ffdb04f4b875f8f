"""`pilothouse doctor`: which promises the sandbox keeps here, and what is missing."""

import pytest

from pilothouse.cli.doctor import doctor_command
from pilothouse.domain.promises import Kernel


def test_doctor_names_the_mechanism_of_each_promise(capsys: pytest.CaptureFixture[str]) -> None:
    doctor_command("en", Kernel(landlock=5, filter=True))
    output = capsys.readouterr().out
    assert "Sandbox: complete" in output
    assert output.count("  enforced: ") == 7
    assert "no process outside the command can be sent a signal (by Landlock ABI 1 (Linux 5.13) + seccomp" in output


def test_doctor_names_promises_that_are_not_kept_and_the_kernel_they_need(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert doctor_command("en", Kernel(landlock=5)) == 1
    output = capsys.readouterr().out
    assert (
        "NOT ENFORCED: no process outside the command can be sent a signal (needs Landlock ABI 6 (Linux 6.12) or"
        in output
    )
    assert "enforced: no file can be emptied or truncated (by Landlock ABI 3 (Linux 6.2))" in output
    doctor_command("zh", Kernel())
    assert "沙盒：不完整" in capsys.readouterr().out
