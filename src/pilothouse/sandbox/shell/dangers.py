"""The danger marks on a command's card: deleting, overwriting, network, rights.

People ignore marks that are often wrong, so harmless uses are recognised. A command with an unknown word keeps its
mark.
"""

import re
from collections.abc import Callable, Mapping, Sequence

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
_GIT_NETWORK = names("clone fetch pull push ls-remote")
_GIT_FETCHING: Mapping[str, frozenset[str]] = {
    "remote": names("update show prune set-head"),
    "submodule": names("add update"),
}
_GIT_DELETING = names("clean rm gc prune")
_GIT_OVERWRITING = names("checkout restore stash am merge rebase revert cherry-pick apply switch")


def network(program: str, args: Args) -> set[str]:
    """The mark of a program that uses the network, unless its subcommand does not."""
    if program not in _FETCHING:
        return set()
    command = args[0].text if args and args[0].exact else ""
    return set() if command in _OFFLINE.get(program, ()) else {"network"}


def rights(args: Args) -> set[str]:
    """The mark of `chmod`: for modes that let everybody write, for set-ID bits, and for unknown modes."""
    mode = next(
        (word.text if word.exact else "" for word in args if not _has(word, "-R", "-v", "-c", "--recursive")), ""
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


def git_dangers(command: str, args: Args) -> set[str]:
    marks: set[str] = set()
    first = args[0].text if args and args[0].exact else ""
    if command in _GIT_NETWORK or first in _GIT_FETCHING.get(command, ()):
        marks.add("network")
    is_known = all(word.exact or word.operand for word in args)
    if command == "reset":
        marks |= set() if is_known and not any(map(_is_hard, args)) else {"delete"}
    elif command in _GIT_DELETING:
        marks |= set() if is_known and _GIT_SPARING.get(command, _never)(args) else {"delete"}
    elif command in _GIT_OVERWRITING:
        marks |= set() if is_known and _GIT_SPARING.get(command, _never)(args) else {"overwrite"}
    return marks


def _never(_: Args) -> bool:
    return False


def _has(word: Word, *options: str) -> bool:
    return word.exact and word.text in options


def _is_hard(word: Word) -> bool:
    """Whether a word may be `--hard`, `--merge` or `--keep`, which git accepts abbreviated."""
    return not word.operand and word.text[:3] in ("--", "--h", "--m", "--k") and word.text not in ("--", "--mixed")


def _only_lists(args: Args) -> bool:
    """`git clean -n`."""
    return any(_has(word, "--dry-run") or re.fullmatch(r"-[dfxXq]*n[dfxXq]*", word.text) for word in args)


def _keeps_files(args: Args) -> bool:
    return any(_has(word, "--cached", "--dry-run", "-n") for word in args)


def _makes_branch(args: Args) -> bool:
    """`git checkout -b NAME`, at most with a start point."""
    return bool(args) and _has(args[0], "-b", "--orphan") and len(args) <= 3 and all(word.operand for word in args[1:])


def _keeps_changes(args: Args) -> bool:
    """`git switch` keeps uncommitted changes, unless an option discards them."""
    return all(word.operand or _has(word, "-c", "--create", "-q", "--quiet", "-", "--detach") for word in args)


def _only_checks(args: Args) -> bool:
    return bool(args) and _has(args[0], "--check", "--stat", "--numstat", "--summary")


_GIT_SPARING: Mapping[str, Callable[[Args], bool]] = {
    "clean": _only_lists,
    "rm": _keeps_files,
    "checkout": _makes_branch,
    "switch": _keeps_changes,
    "apply": _only_checks,
}
