"""Names of users of the server."""

import re

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput

LOCAL = "local"
"""The user of the terminal, and of a server without other users."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def check_user_name(value: str) -> str:
    """Raises: InvalidInput for a name that cannot be the name of a folder."""
    if not _NAME.fullmatch(value):
        raise InvalidInput(Code.INVALID_ID, value=value)
    return value
