"""The texts in the arguments of a call, each with its form and with the role that the name of its argument tells."""

import re
import shlex
from collections.abc import Iterator, Set
from enum import Enum, auto
from typing import Any, NamedTuple

from pilothouse.domain.deception.command_text import Form


class Role(Enum):
    """The meaning of a value. A value with a role is one line, and blanks at its ends are a part of it."""

    NONE = auto()
    PATH = auto()
    HOST = auto()
    NAME = auto()
    """A branch, an account or an address."""


class ArgumentText(NamedTuple):
    text: str
    form: Form
    role: Role = Role.NONE


_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CODE_WORDS = frozenset("command commands cmd cmds cmdline commandline shell bash sh powershell".split())  # noqa: SIM905
_LINE_WORDS = frozenset({"line", "script", "string"})
_WORD_LISTS = frozenset({"argv", "args", "arguments"})
_ROLES = {
    **dict.fromkeys(("path", "paths", "filename", "filenames", "filepath", "folder", "dir", "directory"), Role.PATH),
    **dict.fromkeys(("cwd", "workdir"), Role.PATH),
    **dict.fromkeys(("host", "hosts", "hostname", "domain", "domains"), Role.HOST),
    **dict.fromkeys(
        ("url", "uri", "branch", "ref", "repo", "owner", "username", "email", "to", "cc", "bcc"), Role.NAME
    ),
}


def texts_of(arguments: Any, contents: Set[str] = frozenset()) -> Iterator[ArgumentText]:
    """Every text of the arguments, names included.

    The value of an argument with the name of a command is code, for any tool and at any depth. `contents` are the names
    of the arguments that are displayed as the content of a file.
    """
    return _texts(arguments, contents, Form.TEXT, Role.NONE)


def _texts(data: Any, contents: Set[str], form: Form, role: Role) -> Iterator[ArgumentText]:
    match data:
        case str():
            yield ArgumentText(data, form, role)
        case dict():
            for key, value in data.items():
                yield ArgumentText(str(key), Form.TEXT)
                words = [word.lower() for word in _WORD.findall(str(key))]
                if words[-1:] and words[-1] in _WORD_LISTS and isinstance(value, list | tuple):
                    yield from _command_words(data, value)
                yield from _texts(value, contents, _form_of(key, words, contents, form), _role_of(words))
        case list() | tuple():
            for value in data:
                yield from _texts(value, contents, form, role)


def _command_words(siblings: dict[Any, Any], words: list[Any] | tuple[Any, ...]) -> Iterator[ArgumentText]:
    """A list of words as the command that it is, behind the program that another argument names."""
    programs = [siblings[name] for name in ("command", "cmd", "program") if isinstance(siblings.get(name), str)]
    texts = [word for word in words if isinstance(word, str)]
    yield ArgumentText(shlex.join([*programs[:1], *texts]), Form.CODE)
    yield from (ArgumentText(text, Form.CODE) for text in texts if " " not in text)


def _form_of(key: Any, words: list[str], contents: Set[str], outer: Form) -> Form:
    if key in contents:
        return Form.CONTENT
    last = words[-2] if len(words) > 1 and words[-1] in _LINE_WORDS else words[-1] if words else ""
    return Form.CODE if last in _CODE_WORDS else outer


def _role_of(words: list[str]) -> Role:
    return _ROLES.get(words[-1], Role.NONE) if words else Role.NONE
