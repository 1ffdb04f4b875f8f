"""git: which of its commands only read. Even those may run what a repository's own configuration says."""

import re
from collections.abc import Callable, Mapping, Sequence

from pilothouse.sandbox.shell.dangers import git_dangers
from pilothouse.sandbox.shell.levels import READS, Finding, Level, Simple
from pilothouse.sandbox.shell.options import Options, names, split
from pilothouse.sandbox.shell.words import Word, literal

Args = Sequence[Word]

_GLOBAL = names("--no-pager -P --no-optional-locks --literal-pathspecs --no-replace-objects")
_READING = names(
    "annotate blame cat-file check-attr check-ignore check-ref-format cherry count-objects describe diff diff-files "
    "diff-index diff-tree for-each-ref grep log ls-files ls-tree merge-base name-rev range-diff rev-list rev-parse "
    "shortlog show show-branch show-ref status var version whatchanged"
)
# git takes any beginning of a long option for it. `--textconv` and `--filters` run programs, as `--ext-diff` does.
_REFUSED = (
    *("--output", "--ext-diff", "--textconv", "--filters", "--open-files-in-pager", "--exec", "--upload-pack"),
    *("--remote", "--help", "--web", "--paginate"),
)

_BRANCH = Options(
    flags="arv",
    long=names(
        "all remotes verbose list show-current merged no-merged ignore-case color no-color column no-column abbrev"
    ),
    long_valued=names("sort format contains no-contains merged no-merged points-at color abbrev"),
)
_TAG = Options(flags="lni", long=names("list ignore-case"), long_valued=names("sort format contains points-at merged"))
_CONFIG = Options(
    flags="lz",
    valued="f",
    long=names(
        "list get get-all get-regexp get-urlmatch null name-only show-origin show-scope local global system worktree "
        "includes no-includes bool int path"
    ),
    long_valued=names("type default file"),
)
_QUERIES = names("list l get get-all get-regexp get-urlmatch")
_LISTS = names("list contains no-contains merged no-merged points-at l")


def git(args: Args) -> Finding:
    rest = list(args)
    while rest and rest[0].exact and rest[0].text in _GLOBAL:
        rest.pop(0)
    if len(rest) > 2 and rest[0].exact and rest[0].text == "-C" and rest[1].single:
        rest = rest[2:]
    if not rest or not rest[0].exact or rest[0].text.startswith("-"):
        return READS if not rest or rest[0].text == "--version" else _does_more("", ())
    command, given = rest[0].text, rest[1:]
    if len(rest) != len(args):  # for rules: the same without what stands before the command
        plain = Simple(literal("git"), tuple(rest))
        return _judged(command, given)._replace(inner=[plain])
    return _judged(command, given)


def _judged(command: str, given: Args) -> Finding:
    if command == "help" and not given:
        return READS
    judge = _LISTING.get(command)
    if command in _READING and _is_plain(command, given):
        return READS
    return READS if judge is not None and judge(given) else _does_more(command, given)


def _does_more(command: str, given: Args) -> Finding:
    """Hooks, aliases, filters and pagers: a command of git that writes may start anything."""
    return Finding(Level.PROGRAM, dangers=frozenset(git_dangers(command, given)))


def _is_plain(command: str, args: Args) -> bool:
    for word in args:  # behind "--", too: it may be the value of an option
        if word.operand or (word.exact and word.text == "--"):
            continue
        name = word.text.partition("=")[0]
        if not word.exact or (name.startswith("--") and any(each.startswith(name) for each in _REFUSED)):
            return False
        if command == "grep" and not name.startswith("--") and "O" in name:
            return False
    return True


def _lists(options: Options) -> Callable[[Args], bool]:
    """`branch` and `tag` list where nothing is named, or where they are told to; else they make one."""

    def judge(args: Args) -> bool:
        found = split(args, options)
        if found is None:
            return False
        asks = found.flags | {name for name, _ in found.values}
        return not found.operands or not _LISTS.isdisjoint(asks)

    return judge


def _remote(args: Args) -> bool:
    exact = [word.text for word in args if word.exact]
    return exact in ([], ["-v"], ["--verbose"]) if len(exact) == len(args) and len(args) < 2 else _is_url(args)


def _is_url(args: Args) -> bool:
    return len(args) == 2 and args[0].exact and args[0].text == "get-url" and args[1].operand and args[1].single


def reads_config(args: Args) -> bool:
    """Whether `git config` only reads. Behind the first operand it takes options for values: `core.pager --list` sets
    the pager."""
    found = split(args, _CONFIG)
    if found is None or not all(word.single for word in found.operands):
        return False
    if list(args[len(args) - len(found.operands) :]) != found.operands:
        return False
    is_query = len(found.flags & _QUERIES) == 1 and len(found.operands) <= 2
    asks = len(args) == 1 and len(found.operands) == 1 and "." in found.operands[0].text
    return is_query or (asks and found.operands[0].exact)


def _one_operand(args: Args) -> bool:
    operands = [word for word in args if not (word.exact and word.text in ("--short", "-q"))]
    return len(operands) == 1 and operands[0].operand and operands[0].single


def _operands(args: Args) -> bool:
    return all(word.operand for word in args)


def _only(*commands: str) -> Callable[[Args], bool]:
    """A command of several, of which these only read; with operands, and no option that could write."""

    def judge(args: Args) -> bool:
        if not args:
            return "" in commands
        first = args[0].text if args[0].exact else None
        if "" in commands and first is not None and re.fullmatch(r"-\d+", first):
            return len(args) == 1
        return first in commands and _is_plain("", args[1:])

    return judge


_LISTING: Mapping[str, Callable[[Args], bool]] = {
    "branch": _lists(_BRANCH),
    "config": reads_config,
    "hash-object": _operands,
    "notes": _only("", "list", "show"),
    "reflog": _only("", "show"),
    "remote": _remote,
    "stash": _only("list", "show"),
    "symbolic-ref": _one_operand,
    "tag": _lists(_TAG),
    "worktree": _only("list"),
}
