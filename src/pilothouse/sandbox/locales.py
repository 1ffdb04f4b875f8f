"""Locales by name: whether a locale uses UTF-8, and whether it is installed."""

import ctypes
import functools
import io
import locale
import os
import re
import sys
from collections.abc import Mapping, MutableMapping

UTF_8_LOCALE = "C.UTF-8"
_C_LOCALES = ("C", "POSIX")
_UTF_8 = re.compile(r"(?:C|POSIX|(?:[\w-]+\.)?utf-?8(?:@\w+)?)?", re.IGNORECASE)


def reads_utf8(name: str) -> bool:
    """Whether a locale reads every ASCII byte as a character of its own. In GBK, Big5 or Shift JIS, a byte of a letter
    may be a backslash, so that the shell finds the end of a quote elsewhere. A locale name without a character set may
    imply any.
    """
    return bool(_UTF_8.fullmatch(name))


def is_locale_variable(name: str) -> bool:
    return name == "LANG" or name.startswith("LC_")


def with_usable_locales(variables: Mapping[str, str]) -> dict[str, str]:
    """The locale variables among `variables`. C.UTF-8 replaces locales that are not installed (programs warn about
    them and read bytes instead of letters) and locales that do not read UTF-8. It is also the character set where no
    variable names another locale than C, unless LC_ALL asks for that."""
    names = filter(is_locale_variable, variables)
    usable = {name: variables[name] if _is_usable(variables[name]) else UTF_8_LOCALE for name in names}
    if not usable.get("LC_ALL") and (usable.get("LC_CTYPE") or usable.get("LANG") or "C") in _C_LOCALES:
        usable["LC_CTYPE"] = UTF_8_LOCALE
    return usable


def _is_usable(name: str) -> bool:
    return reads_utf8(name) and (not name or _is_installed(name))


@functools.cache
def _is_installed(name: str) -> bool:
    """Whether the C library finds the locale. `newlocale` does not change the locale of this process."""
    try:
        library = ctypes.CDLL(None)
        library.newlocale.restype = ctypes.c_void_p
        library.newlocale.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
        library.freelocale.argtypes = (ctypes.c_void_p,)
        handle = library.newlocale(1 << locale.LC_CTYPE, os.fsencode(name), None)
    except (OSError, AttributeError, ValueError):  # a C library without the function: assume an installed locale
        return True
    if handle is None:
        return False
    library.freelocale(handle)
    return True


def read_terminal_as_utf8(environment: MutableMapping[str, str]) -> None:
    """Make this process read and write its terminal as UTF-8 where the locale of `environment` is not installed or has
    another character set. Call this function before importing `readline`, which otherwise takes bytes beyond ASCII for
    keys.

    `readline` sets the locale from the environment for every line, so the environment changes, too. The language of
    LC_ALL stays in LC_MESSAGES.
    """
    try:
        before = locale.setlocale(locale.LC_CTYPE)
        locale.setlocale(locale.LC_CTYPE, "")
        is_utf8 = locale.nl_langinfo(locale.CODESET).upper() == "UTF-8"
        locale.setlocale(locale.LC_CTYPE, before)
    except locale.Error:
        is_utf8 = False
    if is_utf8:
        return
    try:
        locale.setlocale(locale.LC_CTYPE, UTF_8_LOCALE)
    except locale.Error:
        return
    overriding = environment.pop("LC_ALL", "")
    if overriding:
        environment["LC_MESSAGES"] = overriding
    environment["LC_CTYPE"] = UTF_8_LOCALE
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.upper() != "UTF-8":
            stream.reconfigure(encoding="utf-8", errors=stream.errors)
