"""Locales by their names: which of them read text as this program does."""

import re

_UTF_8 = re.compile(r"(?:C|POSIX|(?:[\w-]+\.)?utf-?8(?:@\w+)?)?", re.IGNORECASE)


def reads_utf8(locale: str) -> bool:
    """Whether every ASCII byte is a character of its own. In GBK, Big5 or Shift JIS, a byte of a letter may be a
    backslash, so that the shell finds the end of a quote elsewhere. A name without a character set may stand for any.
    """
    return bool(_UTF_8.fullmatch(locale))
