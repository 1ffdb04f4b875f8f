"""Users of the server: how they are named."""

import re

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput

LOCAL = "local"
"""The user of the machine: of the terminal, and of a server that nobody else uses."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def check_user_name(value: str) -> str:
    """Raises: InvalidInput for a name that may not become a folder's name."""
    if not _NAME.fullmatch(value):
        raise InvalidInput(Code.INVALID_ID, value=value)
    return value
