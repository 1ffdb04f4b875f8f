"""The danger marks of git's commands."""

import re
from collections.abc import Callable, Mapping, Sequence

from pilothouse.sandbox.shell.dangers import has_flag, has_option
from pilothouse.sandbox.shell.options import names
from pilothouse.sandbox.shell.words import Word

Args = Sequence[Word]

_NETWORK = names("clone fetch pull push ls-remote send-pack fetch-pack send-email imap-send svn p4")
_FETCHING: Mapping[str, frozenset[str]] = {
    "lfs": names("pull fetch push clone"),
    "remote": names("update show prune set-head"),
    "submodule": names("add update"),
    "subtree": names("add pull push"),
}
_DELETING = names("clean rm gc prune filter-branch filter-repo")
_DELETING_COMMANDS: Mapping[str, frozenset[str]] = {
    "lfs": names("prune"),
    "notes": names("remove prune"),
    "reflog": names("expire delete"),
    "stash": names("drop clear"),
    "submodule": names("deinit"),
    "worktree": names("remove"),
}
_OVERWRITING = names("checkout restore stash am merge rebase revert cherry-pick apply switch")
# Options of commands that otherwise neither delete nor overwrite: letters and names.
_DELETING_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "branch": ("D",),
    "push": ("d", "--delete", "--mirror", "--prune"),
    "replace": ("d", "--delete"),
    "symbolic-ref": ("d", "--delete"),
    "tag": ("d", "--delete"),
    "update-ref": ("d", "--stdin"),
}
_OVERWRITING_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "archive": ("o", "--output"),
    "branch": ("fMC", "--force"),
    "diff": ("", "--output"),
    "log": ("", "--output"),
    "push": ("f", "--force", "--force-with-lease", "--mirror"),
    "read-tree": ("u", "--reset"),
    "show": ("", "--output"),
    "tag": ("f", "--force"),
}


def git_dangers(command: str, args: Args) -> set[str]:
    marks: set[str] = set()
    first = args[0].text if args and args[0].exact else ""
    if (
        command in _NETWORK
        or first in _FETCHING.get(command, ())
        or (command == "archive" and has_flag(args, "", "--remote"))
    ):
        marks.add("network")
    is_known = all(word.exact or word.operand for word in args)
    spares = is_known and _SPARING.get(command, _never)(args)
    if first in _DELETING_COMMANDS.get(command, ()):
        marks.add("delete")
    elif command == "reset":
        marks |= set() if is_known and not any(map(_is_hard, args)) else {"delete"}
    elif command in _DELETING:
        marks |= set() if spares else {"delete"}
    elif command in _OVERWRITING:
        marks |= set() if spares else {"overwrite"}
    return marks | _option_dangers(command, args)


def _option_dangers(command: str, args: Args) -> set[str]:
    """The marks of commands that delete or overwrite with some options only, or by the form of a refspec."""
    marks = {
        mark
        for mark, options in (("delete", _DELETING_OPTIONS), ("overwrite", _OVERWRITING_OPTIONS))
        if command in options and has_flag(args, *options[command])
    }
    if command == "branch" and has_flag(args, "d", "--delete"):
        return {"delete"} if marks else set()  # without force, git deletes merged branches only
    if command == "push":
        marks |= {"delete" for word in args if word.text[:1] == ":" and len(word.text) > 1}
        marks |= {"overwrite" for word in args if word.text[:1] == "+"}
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


_SPARING: Mapping[str, Callable[[Args], bool]] = {
    "clean": _only_lists,
    "rm": _keeps_files,
    "checkout": _makes_branch,
    "switch": _keeps_changes,
    "apply": _only_checks,
}
