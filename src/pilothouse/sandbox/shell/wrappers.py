"""Commands that start another command, which is classified as if it stood in the line itself."""

import re
from collections.abc import Callable, Mapping, Sequence

from pilothouse.domain.system_programs import SHELL_FLAGS, SHELLS
from pilothouse.sandbox.shell.config_commands import SETTING_PROGRAMS
from pilothouse.sandbox.shell.effects import LINE, PROGRAM, STRICT, CommandEffect, Level, SimpleCommand
from pilothouse.sandbox.shell.options import Options, names, parse_options
from pilothouse.sandbox.shell.parser_limits import is_harmless_setting
from pilothouse.sandbox.shell.words import UNKNOWN, Word

Args = Sequence[Word]
_MAX_STARTS = 10
_CHECKED_PROGRAMS = SHELLS | SETTING_PROGRAMS
_DURATION = re.compile(r"\d+(\.\d+)?[smhd]?")
_C_FLAG = re.compile(r"-[A-Zabd-z]*+c[A-Za-z]*+")
_SPLIT_FLAG = re.compile(r"(?:-[A-Za-z0]*?S|--s[a-z-]*=?)(?P<value>.*)", re.DOTALL)
_LINE_FLAG = re.compile(r"(?:-[A-Zabd-z]*c|--command=?)(?P<value>.*)", re.DOTALL)
_XARGS = Options(
    flags="0rtx",
    valued="nLPds",
    long=names("null no-run-if-empty verbose"),
    long_valued=names("max-args max-procs delimiter"),
)


def _inner(words: Args, level: Level = Level.STRICT, *dangers: str) -> CommandEffect:
    if not words:
        return CommandEffect(level)
    return CommandEffect(level, inner=[SimpleCommand(words[0], tuple(words[1:]))], dangers=frozenset(dangers))


def _anywhere(args: Args, *dangers: str) -> CommandEffect:
    """A wrapper with unknown options: any of its words may begin the command. Of many words, only the first ones and
    those that name a program whose arguments matter count."""
    starts = (index for index, word in enumerate(args) if index < _MAX_STARTS or word.text in _CHECKED_PROGRAMS)
    inner = [SimpleCommand(args[index], tuple(args[index + 1 :])) for index in starts]
    return CommandEffect(Level.PROGRAM, inner=inner, dangers=frozenset(dangers))


def _loose(*dangers: str) -> Callable[[Args], CommandEffect]:
    return lambda args: _anywhere(args, *dangers)


def _after(options: Options, operands: int = 0) -> Callable[[Args], CommandEffect]:
    """A wrapper with these options, and a number of operands of its own before the command."""

    def classify(args: Args) -> CommandEffect:
        rest = list(args)
        while rest and rest[0].exact and rest[0].text.startswith("-") and rest[0].text != "-":
            word = rest.pop(0)
            if word.text == "--":
                break
            if parse_options([word], options) is not None:
                continue
            if not rest or parse_options([word, *rest[:1]], options) is None:
                return _anywhere(args)
            rest.pop(0)
        if any(not (word.exact and _DURATION.fullmatch(word.text)) for word in rest[:operands]):
            return _anywhere(args)
        return _inner(rest[operands:])

    return classify


def _command(args: Args) -> CommandEffect:
    if args and args[0].exact and args[0].text in ("-v", "-V"):
        return STRICT
    if args and args[0].exact and args[0].text == "-p":
        return _inner(args[1:])
    return _inner(args) if not args or args[0].operand else _anywhere(args)


def _time(args: Args) -> CommandEffect:
    """`time` is a reserved word: bash treats `-p` as an option only without quotes; otherwise `-p` is the command."""
    return _inner(args) if not args or args[0].operand else _anywhere(args)


def _is_harmless_assignment(word: str) -> bool:
    name, equals, value = word.partition("=")
    return bool(equals) and is_harmless_setting(name, value)


def _env(args: Args) -> CommandEffect:
    rest = list(args)
    if len(rest) > 1 and rest[0].exact and rest[0].text in ("-i", "-"):
        return CommandEffect(Level.PROGRAM, inner=_anywhere(args).inner)  # without a PATH, a shell uses its own default
    while rest and rest[0].exact and _is_harmless_assignment(rest[0].text):
        rest.pop(0)
    if not rest:
        return STRICT
    if not rest[0].exact or "=" in rest[0].text or rest[0].text.startswith("-"):
        return CommandEffect(Level.LINE, inner=_anywhere(args).inner, texts=_values(args, _SPLIT_FLAG))
    return _inner(rest)


def _xargs(args: Args) -> CommandEffect:
    """xargs appends words of its input as arguments, which may be options."""
    rest = list(args)
    while rest and rest[0].exact and rest[0].text.startswith("-"):
        for size in (1, 2):
            parts = parse_options(rest[:size], _XARGS)
            if parts is not None and not parts.operands and len(rest) >= size:
                rest = rest[size:]
                break
        else:
            return _anywhere(args)
    if not rest:
        return STRICT
    if not rest[0].exact:  # `-I{}`
        return _hides(args)
    return CommandEffect(Level.STRICT, inner=[SimpleCommand(rest[0], (*rest[1:], UNKNOWN))])


def _shell(args: Args) -> CommandEffect:
    """`bash -c 'line'` runs that line; a script from a file or a pipe may do anything."""
    if not args:
        return LINE
    for index, word in enumerate(args[:-1]):
        if word.exact and _C_FLAG.fullmatch(word.text):
            line = args[index + 1]
            if not line.exact:
                return LINE
            plain = index == 0 and word.text == "-c" and len(args) == 2
            return CommandEffect(Level.STRICT if plain else Level.PROGRAM, lines=[line.text])
        if not word.exact or not word.text.startswith("-"):
            break
    script = next((word for word in args if not (word.exact and _is_shell_flag(word.text))), UNKNOWN)
    return PROGRAM if script.operand and script.exact else LINE


def _is_shell_flag(text: str) -> bool:
    return len(text) > 1 and text[0] == "-" and SHELL_FLAGS.issuperset(text[1:])


def _other_shell(args: Args) -> CommandEffect:
    """A shell that parses some lines differently from the grammar."""
    effect = _shell(args)
    return effect._replace(level=max(effect.level, Level.PROGRAM))


def _eval(args: Args) -> CommandEffect:
    if not all(word.exact for word in args):
        return LINE
    return CommandEffect(Level.PROGRAM, lines=[" ".join(word.text for word in args)])


def _trap(args: Args) -> CommandEffect:
    if not args or not args[0].exact:
        return LINE
    return CommandEffect(Level.PROGRAM, lines=[args[0].text])


def _values(args: Args, option: re.Pattern[str]) -> list[str]:
    """The values of an option, in its own word or the next."""
    pairs = zip(args, (*args[1:], UNKNOWN), strict=False)  # there may be no arguments
    matches = ((option.fullmatch(word.text) if word.exact else None, following) for word, following in pairs)
    return [match["value"] or following.text for match, following in matches if match is not None]


def _runs_text(*dangers: str) -> Callable[[Args], CommandEffect]:
    """A wrapper that runs the value of `-c` as a line: `su -c 'ls'`."""
    return lambda args: _anywhere(args, *dangers)._replace(texts=_values(args, _LINE_FLAG))


def _watch(args: Args) -> CommandEffect:
    return _anywhere(args)._replace(texts=[word.text for word in args if word.operand and re.search(r"\s", word.text)])


def _alias(args: Args) -> CommandEffect:
    return _hides(args)._replace(texts=[word.text.partition("=")[2] for word in args])


def _hides(args: Args) -> CommandEffect:
    return CommandEffect(Level.LINE, inner=_anywhere(args).inner)


def _with_more(level: Level, *dangers: str) -> Callable[[Args], CommandEffect]:
    return lambda args: _inner(args, level, *dangers) if args and args[0].operand else _anywhere(args, *dangers)


INTERPRETERS = names(
    "python python3 pypy pypy3 ipython node nodejs tsx ts-node deno bun perl ruby php lua tclsh julia Rscript npx uvx "
    "awk gawk mawk sed vim vi emacs ssh"
)
_LOOSE = names(
    "busybox setsid ionice chrt taskset unshare chroot flock strace ltrace script watch parallel nsenter runuser "
    "firejail bwrap systemd-run at batch coproc caffeinate unbuffer expect gdb valgrind perf entr"
)

WRAPPERS: Mapping[str, Callable[[Args], CommandEffect]] = {
    **dict.fromkeys(SHELLS, _other_shell),
    "bash": _shell,
    **dict.fromkeys(_LOOSE, _loose()),
    ".": _hides,
    "alias": _alias,
    "builtin": _with_more(Level.WRITES),
    "command": _command,
    "doas": _loose("privilege"),
    "env": _env,
    "eval": _eval,
    "exec": _with_more(Level.WRITES),
    "let": _hides,
    "nice": _after(Options(valued="n", long_valued=names("adjustment"), numbers=True)),
    "nohup": _with_more(Level.WRITES),
    "source": _hides,
    "stdbuf": _after(Options(valued="ioe", long_valued=names("input output error"))),
    **dict.fromkeys(("flock", "runuser", "script"), _runs_text()),
    "su": _runs_text("privilege"),
    "sudo": _loose("privilege"),
    "time": _time,
    "timeout": _after(
        Options(valued="ks", long=names("preserve-status foreground"), long_valued=names("signal kill-after")), 1
    ),
    "trap": _trap,
    "watch": _watch,
    "xargs": _xargs,
}
