"""How a command ended, for people: an exit status with the signal behind it."""

import signal

from pilothouse.domain.codes import Language

_FIRST_SIGNAL = 128
"""A shell reports a command that signal N ended as 128 + N."""


def is_failure(exit_status: int | None) -> bool:
    """Whether a command ran and failed. None stands for anything that is no command."""
    return exit_status is not None and exit_status != 0


def describe_exit(exit_status: int, language: Language = "en") -> str:
    """`exit status 137 (SIGKILL)`."""
    name = _signal_name(-exit_status if exit_status < 0 else exit_status - _FIRST_SIGNAL)
    told = f"退出状态 {exit_status}" if language == "zh" else f"exit status {exit_status}"
    return f"{told} ({name})" if name else told


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return ""
