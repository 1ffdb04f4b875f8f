"""git: the effects of its commands. Even read-only commands may run programs from a repository's configuration."""

import re
from collections.abc import Callable, Mapping, Sequence

from pilothouse.sandbox.shell.effects import READS, CommandEffect, Level, SimpleCommand
from pilothouse.sandbox.shell.git_dangers import git_dangers
from pilothouse.sandbox.shell.global_options import GIT, parse_command, plain_commands
from pilothouse.sandbox.shell.options import Options, names, parse_options
from pilothouse.sandbox.shell.words import Word, literal

Args = Sequence[Word]

_GLOBAL = names("--no-pager -P --no-optional-locks --literal-pathspecs --no-replace-objects")
_READING = names(
    "annotate blame cat-file check-attr check-ignore check-ref-format cherry count-objects describe diff diff-files "
    "diff-index diff-tree for-each-ref grep log ls-files ls-tree merge-base name-rev range-diff rev-list rev-parse "
    "shortlog show show-branch show-ref status var version whatchanged"
)
# git accepts any abbreviation of a long option. `--textconv` and `--filters` run programs, as `--ext-diff` does.
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


def git(args: Args) -> CommandEffect:
    rest = list(args)
    while rest and rest[0].exact and rest[0].text in _GLOBAL:
        rest.pop(0)
    if len(rest) > 2 and rest[0].exact and rest[0].text == "-C" and rest[1].single:
        rest = rest[2:]
    if not rest or not rest[0].exact or rest[0].text.startswith("-"):
        return READS if not rest or rest[0].text == "--version" else _with_options(args)
    command, command_args = rest[0].text, rest[1:]
    if len(rest) != len(args):  # for rules: the same command without the global options
        plain = SimpleCommand(literal("git"), tuple(rest))
        return _effect(command, command_args)._replace(inner=[plain])
    return _effect(command, command_args)


def _with_options(args: Args) -> CommandEffect:
    """git with options that may make it start anything. The command without them has the marks of its danger."""
    return CommandEffect(Level.PROGRAM, inner=plain_commands("git", parse_command(args, GIT)))


def _effect(command: str, args: Args) -> CommandEffect:
    if command == "help" and not args:
        return READS
    only_lists = _LISTING.get(command)
    if command in _READING and _is_plain(command, args):
        return READS
    return READS if only_lists is not None and only_lists(args) else _any_effect(command, args)


def _any_effect(command: str, args: Args) -> CommandEffect:
    """A git command that writes may start anything: hooks, aliases, filters and pagers."""
    return CommandEffect(Level.PROGRAM, dangers=frozenset(git_dangers(command, args)))


def _is_plain(command: str, args: Args) -> bool:
    for word in args:  # also behind "--", which may be the value of an option
        if word.operand or (word.exact and word.text == "--"):
            continue
        name = word.text.partition("=")[0]
        if not word.exact or (name.startswith("--") and any(option.startswith(name) for option in _REFUSED)):
            return False
        if command == "grep" and not name.startswith("--") and "O" in name:
            return False
    return True


def _lists(options: Options) -> Callable[[Args], bool]:
    """`branch` and `tag` list without operands or with an option of listing; otherwise they create a ref."""

    def only_lists(args: Args) -> bool:
        parts = parse_options(args, options)
        if parts is None:
            return False
        used = parts.flags | {name for name, _ in parts.values}
        return not parts.operands or not _LISTS.isdisjoint(used)

    return only_lists


def _remote(args: Args) -> bool:
    exact = [word.text for word in args if word.exact]
    return exact in ([], ["-v"], ["--verbose"]) if len(exact) == len(args) and len(args) < 2 else _is_url(args)


def _is_url(args: Args) -> bool:
    return len(args) == 2 and args[0].exact and args[0].text == "get-url" and args[1].operand and args[1].single


def reads_config(args: Args) -> bool:
    """Whether `git config` only reads. Behind the first operand git treats options as values: `core.pager --list` sets
    the pager."""
    parts = parse_options(args, _CONFIG)
    if parts is None or not all(word.single for word in parts.operands):
        return False
    if list(args[len(args) - len(parts.operands) :]) != parts.operands:
        return False
    is_query = len(parts.flags & _QUERIES) == 1 and len(parts.operands) <= 2
    is_lookup = len(args) == 1 and len(parts.operands) == 1 and "." in parts.operands[0].text
    return is_query or (is_lookup and parts.operands[0].exact)


def _one_operand(args: Args) -> bool:
    operands = [word for word in args if not (word.exact and word.text in ("--short", "-q"))]
    return len(operands) == 1 and operands[0].operand and operands[0].single


def _operands(args: Args) -> bool:
    return all(word.operand for word in args)


def _only(*commands: str) -> Callable[[Args], bool]:
    """A command whose listed subcommands only read, with operands and without options that could write."""

    def only_reads(args: Args) -> bool:
        if not args:
            return "" in commands
        first = args[0].text if args[0].exact else None
        if "" in commands and first is not None and re.fullmatch(r"-\d+", first):
            return len(args) == 1
        return first in commands and _is_plain("", args[1:])

    return only_reads


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
