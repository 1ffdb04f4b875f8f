"""The table of known commands and their effects. A command that is not listed may start anything."""

import re
from collections.abc import Mapping

from pilothouse.domain.runner_files import plain_name
from pilothouse.domain.system_programs import SYSTEM_FOLDERS
from pilothouse.sandbox.shell.dangers import replaced_files, replaces, rights
from pilothouse.sandbox.shell.effects import (
    CONFINED,
    LINE,
    PROGRAM,
    READS,
    STRICT,
    CommandEffect,
    Level,
    SimpleCommand,
    writes,
)
from pilothouse.sandbox.shell.git import git
from pilothouse.sandbox.shell.global_options import PROGRAM_OPTIONS, options_of, parse_command, plain_commands
from pilothouse.sandbox.shell.options import Options, names, parse_options
from pilothouse.sandbox.shell.parser_limits import is_harmless_setting
from pilothouse.sandbox.shell.program_dangers import compressing, curl, program_dangers
from pilothouse.sandbox.shell.readers import READERS, Args, Classifier, opens_device, version_level
from pilothouse.sandbox.shell.scripts import awk, find, sed, test
from pilothouse.sandbox.shell.words import literal
from pilothouse.sandbox.shell.wrappers import WRAPPERS

# These commands write, and start nothing.
_WRITERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(names("touch mkdir mkfifo mktemp link sync iconv history"), ()),
    **dict.fromkeys(names("kill pkill killall"), ()),
    **dict.fromkeys(names("rm rmdir unlink shred"), ("delete",)),
    **dict.fromkeys(names("dd truncate"), ("overwrite",)),
    **dict.fromkeys(names("ping dig nslookup host getent"), ("network",)),
    **dict.fromkeys(names("chown chgrp setfacl chattr mount umount setcap"), ("privilege",)),
}

_XXD = re.compile(r"-[beipu]|-[cgls] ?\d+")
_PRINTF_ASSIGNMENT = re.compile(r"%[-+ #0-9.*']*[hlLjzt]*n|%[-+ #0-9.*]*\(")
_RG = names("--pre --pre-glob --hostname-bin --search-zip")
_FD = names("--exec --exec-batch --list-details")
_READ = Options(flags="rs", valued="pdnNt")
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_SET = names("-e -u -x -eu -ex -ux -eux -o pipefail +e +u +x -euo -euxo errexit nounset -uo -eo")


def command_effect(command: SimpleCommand) -> CommandEffect:
    """The effect of one simple command."""
    name = command.name.text
    folder, slash, base = name.rpartition("/")
    if slash:
        if folder not in SYSTEM_FOLDERS:  # maybe another program of that name: assume at least the same effect
            effect = command_effect(SimpleCommand(literal(base), command.args))
            return effect._replace(level=max(effect.level, Level.PROGRAM))
        name = base
    args = command.args
    if (level := version_level(name, args)) is not None:
        return CommandEffect(level)
    if name in _TABLE:
        effect = _TABLE[name](args)
        return CONFINED if effect == STRICT and opens_device(name, args) else effect
    if name in WRAPPERS:
        return WRAPPERS[name](args)
    if name in _WRITERS:
        return writes(*_WRITERS[name])
    return _program(name, args)


def _program(name: str, args: Args) -> CommandEffect:
    """A program that may start anything. For rules, the command also counts without the program's own options."""
    program = plain_name(name)
    inner = plain_commands(name, parse_command(args, options_of(program))) if program in PROGRAM_OPTIONS else ()
    return CommandEffect(Level.PROGRAM, inner=inner, dangers=program_dangers(program, args))


def _without(refused: frozenset[str], letters: str) -> Classifier:
    """A program that only reads without some options, and takes no abbreviated options."""

    def classify(args: Args) -> CommandEffect:
        for word in args:  # also behind "--", which may be the value of an option
            if word.operand:
                continue
            name = word.text.partition("=")[0]
            cluster = not name.startswith("--") and not set(letters).isdisjoint(name)
            if not word.exact or name in refused or cluster:
                return PROGRAM
        return STRICT

    return classify


def _tee(args: Args) -> CommandEffect:
    if all(word.exact and word.text in ("/dev/null", "-a") for word in args):
        return STRICT
    appends = any(word.exact and word.text in ("-a", "--append") for word in args)
    return writes() if appends else writes("overwrite")


def _printf(args: Args) -> CommandEffect:
    words = args[1:] if args and args[0].exact and args[0].text == "--" else args
    if not words:
        return STRICT
    # -v and %n name a variable: -v evaluates its subscript, %n sets it.
    template = words[0]
    assigns = _PRINTF_ASSIGNMENT.search(template.text.replace("%%", "")) is not None
    return STRICT if template.exact and template.operand and not assigns else LINE


def _xxd(args: Args) -> CommandEffect:
    """The options of xxd are words, not letters, and its second operand is written to."""
    words = [word.text if word.exact else "" for word in args]
    operands, remaining = 0, list(zip(args, words, strict=True))
    while remaining:
        word, text = remaining.pop(0)
        if word.operand:
            operands += 1 if word.single else 2
        elif not _XXD.fullmatch(text) and (not remaining or not _XXD.fullmatch(f"{text} {remaining.pop(0)[1]}")):
            return writes("overwrite")
    return STRICT if operands <= 1 else writes("overwrite")


def _wait(args: Args) -> CommandEffect:
    return STRICT if all(word.exact and word.text.isdecimal() for word in args) else LINE  # -p names a variable


def _read(args: Args) -> CommandEffect:
    parts = parse_options(args, _READ)
    plain = parts is not None and all(word.exact and _NAME.fullmatch(word.text) for word in parts.operands)
    return STRICT if plain else LINE


def _set(args: Args) -> CommandEffect:
    return STRICT if args and all(word.exact and word.text in _SET for word in args) else LINE


def _tar(args: Args) -> CommandEffect:
    """`tar tf archive` only lists. A name with a colon is a file of another machine."""
    lists = args and args[0].exact and re.fullmatch(r"-?t[vzjJ]*f", args[0].text)
    plain = all(word.operand and ":" not in word.text and (word.exact or index) for index, word in enumerate(args[1:]))
    return (
        READS if lists and len(args) > 1 and plain else CommandEffect(Level.PROGRAM, dangers=frozenset({"overwrite"}))
    )


def _unzip(args: Args) -> CommandEffect:
    lists = args and args[0].exact and args[0].text in ("-l", "-v", "-Z1")
    return STRICT if lists and all(word.operand for word in args[1:]) else writes("overwrite")


def _only(allowed: re.Pattern[str], otherwise: CommandEffect) -> Classifier:
    """A program that only reads where every word matches a pattern."""
    return lambda args: STRICT if all(word.exact and allowed.fullmatch(word.text) for word in args) else otherwise


def _export(args: Args) -> CommandEffect:
    """The line's following commands are started with the exported variables."""
    settings = [word.text.partition("=") for word in args if word.exact]
    harmless = len(settings) == len(args) and all(is_harmless_setting(name, value) for name, _, value in settings)
    return STRICT if args and harmless else LINE


def _zcat(args: Args) -> CommandEffect:
    return STRICT if all(word.operand for word in args) else PROGRAM


def _replacing(program: str) -> Classifier:
    def classify(args: Args) -> CommandEffect:
        if not replaces(program, args):
            return writes()
        replaced = replaced_files(args) if program != "ln" else None
        return writes("overwrite") if replaced is None else writes()._replace(replaced=replaced)

    return classify


_TABLE: Mapping[str, Classifier] = {
    **READERS,
    "chmod": lambda args: writes(*rights(args)),
    **{program: _replacing(program) for program in ("cp", "mv", "ln")},
    **dict.fromkeys(names("gzip gunzip bzip2"), compressing),
    "awk": awk,
    "curl": curl,
    "gawk": awk,
    "mawk": awk,
    "export": _export,
    "fd": _without(_FD, "xXl"),
    "fdfind": _without(_FD, "xXl"),
    "find": find,
    "git": git,
    "printf": _printf,
    "read": _read,
    "rg": _without(_RG, "z"),
    "sed": sed,
    "set": _set,
    "tar": _tar,
    "tee": _tee,
    "test": test,
    "tput": _only(re.compile("cols|lines|colors"), PROGRAM),
    "ulimit": _only(re.compile("-[HSabcdefiklmnpqrstuvx]+"), writes()),
    "umask": _only(re.compile("-[Sp]+"), writes()),
    "unzip": _unzip,
    "wait": _wait,
    "xxd": _xxd,
    "zcat": _zcat,
}
