"""The danger marks on a command's card: deleting, overwriting, network, rights.

People ignore marks that are often wrong, so harmless uses are recognised. A command with an unknown word keeps its
mark.
"""

import re
from collections.abc import Mapping, Sequence

from pilothouse.sandbox.shell.global_options import options_of, parse_command
from pilothouse.sandbox.shell.options import names
from pilothouse.sandbox.shell.words import Word

Args = Sequence[Word]

_NODE = names("test t tst run run-script start stop restart ls list ll la why explain root prefix bin version help")
_PYTHON = names("list show freeze check inspect debug help")
_CONTAINERS = names(
    "ps images logs inspect stop start restart rm rmi exec top stats port diff rename kill version info"
)
# Subcommands that do not use the network themselves; a script of the project may.
_OFFLINE: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(names("npm pnpm yarn bun"), _NODE),
    "pip": _PYTHON,
    **dict.fromkeys(names("docker podman"), _CONTAINERS),
    "apt": names("list show policy"),
    "brew": names("list info leaves deps"),
    "cargo": names("fmt clean help version"),
    "gem": names("list environment contents which help"),
    "go": names("fmt env version help clean"),
    "pipx": names("list environment"),
    "uv": names("version help cache"),
}
_FETCHING = names(
    "ssh scp sftp rsync wget nc ncat telnet ftp pip pipx uv npm npx pnpm yarn bun cargo go gem apt apt-get dnf "
    "yum brew docker podman kubectl"
)
_MODE = re.compile(r"0?0?[0-7][0-7][0145]|[ugoa]*+[-=+][rwxX]*+(?:,[ugoa]*+[-=+][rwxX]*+)*+")
_OPENS_TO_ALL = re.compile(r"(?:^|,)(?:[ug]*[oa][ugoa]*)[+=][rxX]*w")


def network(program: str, args: Args) -> set[str]:
    """The mark of a program that uses the network, unless its subcommand does not."""
    if program not in _FETCHING:
        return set()
    parsed = parse_command(args, options_of(program))
    offline = _OFFLINE.get(program, frozenset())
    commands = {words[0].text for words in parsed.subcommands}
    return set() if commands and parsed.is_literal and commands <= offline else {"network"}


def rights(args: Args) -> set[str]:
    """The mark of `chmod`: for modes that let everybody write, for set-ID bits, and for unknown modes."""
    mode = next(
        (word.text if word.exact else "" for word in args if not has_option(word, "-R", "-v", "-c", "--recursive")), ""
    )
    return set() if _MODE.fullmatch(mode) and not _OPENS_TO_ALL.search(mode) else {"privilege"}


def replacing(program: str, args: Args) -> set[str]:
    """The mark of `cp`, `mv` and `ln`, unless an option keeps them from replacing files."""
    if not all(word.exact or word.operand for word in args):
        return {"overwrite"}
    options = {letter for word in args if not word.operand and word.text[:2] != "--" for letter in word.text[1:]}
    long_options = {word.text for word in args if word.text[:2] == "--"}
    if program == "ln":
        return {"overwrite"} if "f" in options or long_options else set()
    return set() if "n" in options and not options & set("fi") and not long_options else {"overwrite"}


def has_option(word: Word, *options: str) -> bool:
    return word.exact and word.text in options
