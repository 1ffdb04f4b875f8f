"""The danger marks of git's commands."""

import re
from collections.abc import Callable, Mapping, Sequence

from pilothouse.sandbox.shell.dangers import has_option
from pilothouse.sandbox.shell.options import names
from pilothouse.sandbox.shell.words import Word

Args = Sequence[Word]

_GIT_NETWORK = names("clone fetch pull push ls-remote")
_GIT_FETCHING: Mapping[str, frozenset[str]] = {
    "remote": names("update show prune set-head"),
    "submodule": names("add update"),
}
_GIT_DELETING = names("clean rm gc prune")
_GIT_OVERWRITING = names("checkout restore stash am merge rebase revert cherry-pick apply switch")


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


def _is_hard(word: Word) -> bool:
    """Whether a word may be `--hard`, `--merge` or `--keep`, which git accepts abbreviated."""
    return not word.operand and word.text[:3] in ("--", "--h", "--m", "--k") and word.text not in ("--", "--mixed")


def _only_lists(args: Args) -> bool:
    """`git clean -n`."""
    return any(has_option(word, "--dry-run") or re.fullmatch(r"-[dfxXq]*n[dfxXq]*", word.text) for word in args)


def _keeps_files(args: Args) -> bool:
    return any(has_option(word, "--cached", "--dry-run", "-n") for word in args)


def _makes_branch(args: Args) -> bool:
    """`git checkout -b NAME`, at most with a start point."""
    return (
        bool(args)
        and has_option(args[0], "-b", "--orphan")
        and len(args) <= 3
        and all(word.operand for word in args[1:])
    )


def _keeps_changes(args: Args) -> bool:
    """`git switch` keeps uncommitted changes, unless an option discards them."""
    return all(word.operand or has_option(word, "-c", "--create", "-q", "--quiet", "-", "--detach") for word in args)


def _only_checks(args: Args) -> bool:
    return bool(args) and has_option(args[0], "--check", "--stat", "--numstat", "--summary")


_GIT_SPARING: Mapping[str, Callable[[Args], bool]] = {
    "clean": _only_lists,
    "rm": _keeps_files,
    "checkout": _makes_branch,
    "switch": _keeps_changes,
    "apply": _only_checks,
}
