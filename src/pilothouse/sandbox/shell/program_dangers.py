"""The danger marks of programs whose options decide whether they delete, overwrite or use the network."""

import re
from collections.abc import Callable, Mapping, Sequence

from pilothouse.domain.runner_files import plain_name
from pilothouse.sandbox.shell.dangers import has_flag, has_option, network, rights
from pilothouse.sandbox.shell.effects import CommandEffect, writes
from pilothouse.sandbox.shell.global_options import COMPOSE, options_of, parse_command
from pilothouse.sandbox.shell.options import names
from pilothouse.sandbox.shell.words import Word

Args = Sequence[Word]

_RSYNC_DELETES = re.compile(r"--del(?:ete(?:-[a-z]+)?)?|--remove-source-files")
_GROUPS = names("builder buildx container image network system volume")
# Letters of curl's options with a value, and those of them that name a file to write.
_CURL_VALUED = frozenset("AbcCdDeEFhHKmoPQrtTuUwxXyYz")
_CURL_OUTPUT = frozenset("ocD")
_CURL_OUTPUT_OPTIONS = names("--output --cookie-jar --dump-header --trace --trace-ascii --stderr")
_WGET_OUTPUT = re.compile(r"-[bcdEFHhKkLmNnpqrSVvx]*O(?P<value>.*)", re.DOTALL)
_NO_FILE = names("- /dev/null /dev/stdout /dev/stderr")
_NETWORK_MODULES = names("http.server smtplib ftplib telnetlib")


def program_dangers(program: str, args: Args) -> frozenset[str]:
    """The marks of a program that may start anything, by its name without a version."""
    marks = _MARKS.get(program)
    return frozenset(network(program, args) | (marks(args) if marks is not None else set()))


def curl(args: Args) -> CommandEffect:
    """`curl` replaces the files that its options name."""
    outputs: list[str | None] = []
    remaining = list(args)
    while remaining:
        word = remaining.pop(0)
        if word.operand or not word.exact:
            continue
        name, equals, value = word.text.partition("=")
        if name.startswith("--"):
            if name in _CURL_OUTPUT_OPTIONS:
                outputs.append(value if equals else _taken(remaining))
            elif name in ("--remote-name", "--remote-name-all", "--remote-header-name"):
                outputs.append(None)
            continue
        for index, letter in enumerate(word.text[1:], start=2):
            if letter == "O":
                outputs.append(None)
            if letter in _CURL_VALUED:
                following = word.text[index:] or _taken(remaining)
                outputs += [following] if letter in _CURL_OUTPUT else []
                break
    replaced = tuple(output for output in outputs if output not in _NO_FILE)
    return writes("network")._replace(replaced=replaced)


def compressing(args: Args) -> CommandEffect:
    """`gzip` and the like replace files only when forced."""
    return writes("overwrite") if has_flag(args, "f", "--force") else writes()


def _taken(remaining: list[Word]) -> str | None:
    word = remaining.pop(0) if remaining else None
    return word.text if word is not None and word.exact else None


def _rsync(args: Args) -> set[str]:
    marks = set()
    operands = [word for word in args if word.operand]
    is_known = all(word.exact or word.operand for word in args)
    if not is_known or any(":" in word.text for word in operands):
        marks.add("network")
    if has_flag(args, "n", "--dry-run", "--list-only"):
        return marks
    if any(word.exact and _RSYNC_DELETES.fullmatch(word.text) for word in args):
        marks.add("delete")
    return marks if any(has_option(word, "--ignore-existing") for word in args) else marks | {"overwrite"}


def _copies_here(args: Args) -> set[str]:
    """`scp HOST:FILE FILE`, `docker cp CONTAINER:FILE FILE`."""
    return {"overwrite"} if args and ":" not in args[-1].text else set()


def _containers(args: Args) -> set[str]:
    marks: set[str] = set()
    for words in parse_command(args, options_of("docker")).subcommands:
        command, rest = words[0].text, words[1:]
        second = rest[0].text if rest else ""
        if command == "compose":
            marks |= _compose(rest)
        elif command in ("rm", "rmi") or (command in _GROUPS and second in ("rm", "prune", "remove")):
            marks.add("delete")
        elif command == "cp":
            marks |= _copies_here(rest)
        elif command == "run" and has_flag(rest, "", "--privileged"):
            marks.add("privilege")
    return marks


def _compose(args: Args) -> set[str]:
    commands = parse_command(args, COMPOSE).subcommands
    deletes = any(
        words[0].text == "rm" or (words[0].text == "down" and has_flag(words[1:], "v", "--volumes"))
        for words in commands
    )
    return {"delete"} if deletes else set()


def _subcommand(program: str, *deleting: str) -> Callable[[Args], set[str]]:
    """A program with subcommands that delete."""

    def marks(args: Args) -> set[str]:
        commands = parse_command(args, options_of(program)).subcommands
        return {"delete"} if any(words[0].text in deleting for words in commands) else set()

    return marks


def _install(args: Args) -> set[str]:
    modes = [args[index + 1 : index + 2] for index, word in enumerate(args) if has_option(word, "-m", "--mode")]
    marks = {mark for mode in modes for mark in rights(mode)}
    return marks if has_flag(args, "d", "--directory") else marks | {"overwrite"}


def _patch(args: Args) -> set[str]:
    return set() if has_flag(args, "", "--dry-run") else {"overwrite"}


def _wget(args: Args) -> set[str]:
    outputs = [
        match["value"] or (following.text if following is not None else "")
        for word, following in zip(args, (*args[1:], None), strict=False)
        if word.exact and (match := _WGET_OUTPUT.fullmatch(word.text))
    ]
    is_long = any(word.exact and word.text.startswith("--output-document") for word in args)
    return {"overwrite"} if is_long or any(output not in _NO_FILE for output in outputs) else set()


def _python(args: Args) -> set[str]:
    """`python -m pip install`."""
    remaining = list(args)
    while remaining and remaining[0].exact and not remaining[0].operand:
        option = remaining.pop(0).text
        module = option[2:] if option[:2] == "-m" else ""
        if option in ("-m", "-W", "-X") and remaining:
            value = remaining.pop(0).text
            module = value if option == "-m" else ""
        if module:
            return {"network"} if module in _NETWORK_MODULES else set(program_dangers(plain_name(module), remaining))
    return set()


def _always(mark: str) -> Callable[[Args], set[str]]:
    return lambda _: {mark}


def _when(mark: str, *options: str) -> Callable[[Args], set[str]]:
    """A program that is marked where one of these exact options stands."""
    return lambda args: {mark} if any(has_option(word, *options) for word in args) else set()


_MARKS: Mapping[str, Callable[[Args], set[str]]] = {
    **dict.fromkeys(names("docker podman"), _containers),
    **dict.fromkeys(names("terraform tofu"), _subcommand("terraform", "destroy")),
    **dict.fromkeys(names("python pypy"), _python),
    **dict.fromkeys(names("srm dropdb wipefs"), _always("delete")),
    "docker-compose": _compose,
    "helm": _subcommand("helm", "uninstall", "delete"),
    "install": _install,
    "kubectl": _subcommand("kubectl", "delete"),
    "patch": _patch,
    "rsync": _rsync,
    "scp": _copies_here,
    "sponge": _always("overwrite"),
    "wget": _wget,
    "zip": _when("delete", "-m", "--move"),
}
