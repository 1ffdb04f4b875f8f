"""What the marks on a command's card go by: deleting, replacing, the network, rights. A mark that is often wrong is not
read any more; a word that is not known keeps the mark."""

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
# What they do without reaching elsewhere themselves; what a script of the project does is not known.
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
    """The mark of a program that reaches elsewhere, unless it is told to do something else."""
    if program not in _FETCHING:
        return set()
    command = args[0].text if args and args[0].exact else ""
    return set() if command in _OFFLINE.get(program, ()) else {"network"}


def rights(args: Args) -> set[str]:
    """Of `chmod`: marked where all may write, where who runs the file becomes another, and where it cannot be told."""
    mode = next(
        (word.text if word.exact else "" for word in args if not _has(word, "-R", "-v", "-c", "--recursive")), ""
    )
    return set() if _MODE.fullmatch(mode) and not _OPENS_TO_ALL.search(mode) else {"privilege"}


def replacing(program: str, args: Args) -> set[str]:
    """Of `cp`, `mv` and `ln`: marked unless an option says that nothing is replaced."""
    if not all(word.exact or word.operand for word in args):
        return {"overwrite"}
    options = {letter for word in args if not word.operand and word.text[:2] != "--" for letter in word.text[1:]}
    spelled = {word.text for word in args if word.text[:2] == "--"}
    if program == "ln":
        return {"overwrite"} if "f" in options or spelled else set()
    return set() if "n" in options and not options & set("fi") and not spelled else {"overwrite"}


def git_dangers(command: str, args: Args) -> set[str]:
    found: set[str] = set()
    first = args[0].text if args and args[0].exact else ""
    if command in _GIT_NETWORK or first in _GIT_FETCHING.get(command, ()):
        found.add("network")
    is_known = all(word.exact or word.operand for word in args)
    if command == "reset":
        found |= set() if is_known and not any(map(_is_hard, args)) else {"delete"}
    elif command in _GIT_DELETING:
        found |= set() if is_known and _GIT_SPARING.get(command, _never)(args) else {"delete"}
    elif command in _GIT_OVERWRITING:
        found |= set() if is_known and _GIT_SPARING.get(command, _never)(args) else {"overwrite"}
    return found


def _never(_: Args) -> bool:
    return False


def _has(word: Word, *options: str) -> bool:
    return word.exact and word.text in options


def _is_hard(word: Word) -> bool:
    """Whether this may be `--hard`, `--merge` or `--keep`: git takes any beginning of them."""
    return not word.operand and word.text[:3] in ("--", "--h", "--m", "--k") and word.text not in ("--", "--mixed")


def _only_lists(args: Args) -> bool:
    """`git clean -n`."""
    return any(_has(word, "--dry-run") or re.fullmatch(r"-[dfxXq]*n[dfxXq]*", word.text) for word in args)


def _keeps_files(args: Args) -> bool:
    return any(_has(word, "--cached", "--dry-run", "-n") for word in args)


def _makes_branch(args: Args) -> bool:
    """`git checkout -b NAME`, at most with the commit to begin at."""
    return bool(args) and _has(args[0], "-b", "--orphan") and len(args) <= 3 and all(word.operand for word in args[1:])


def _keeps_changes(args: Args) -> bool:
    """`git switch` refuses to replace what is not committed, unless it is told to."""
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
