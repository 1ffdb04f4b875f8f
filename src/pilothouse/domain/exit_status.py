"""The exit status of a command, and the signal that it stands for."""

import signal

_FIRST_SIGNAL = 128
"""A shell reports a command that was ended by signal N as 128 + N."""


def is_failure(exit_status: int | None) -> bool:
    """Whether a command ran and failed. None: the call ran no command."""
    return exit_status is not None and exit_status != 0


def signal_name(exit_status: int) -> str:
    """The name of the signal that ended a command, such as `SIGKILL`; empty for an ordinary exit."""
    number = -exit_status if exit_status < 0 else exit_status - _FIRST_SIGNAL
    try:
        return signal.Signals(number).name
    except ValueError:
        return ""
