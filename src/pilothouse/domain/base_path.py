"""The base path: the path prefix below which a proxy offers the server to browsers, such as `/pilothouse`."""

import re

MAX_BASE_PATH_LENGTH = 200
BASE_PATH_FORM = "a path like /pilothouse, of letters, digits, '.', '_', '~', '-' and '/'"
# Percent signs are left out: a path would then have several spellings.
_SEGMENT = re.compile(r"[A-Za-z0-9._~-]+")


def base_path_of(text: str) -> str:
    """Return the base path that a person entered, without a slash at its end: an empty text for `/`.

    Raises: ValueError for a text that is not a base path.
    """
    path = text.removesuffix("/")
    is_path = text.startswith("/") and len(text) <= MAX_BASE_PATH_LENGTH
    if not is_path or not all(_SEGMENT.fullmatch(each) and each not in (".", "..") for each in path.split("/")[1:]):
        raise ValueError(f"{text[:MAX_BASE_PATH_LENGTH]!r} isn't a valid base path")
    return path
