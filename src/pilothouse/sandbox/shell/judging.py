"""The judge: the grammar finds the simple commands of a line, what is known of each says how far it goes."""

import re

from pilothouse.domain.lines import CommandLine, Hidden
from pilothouse.domain.runner_files import plain_name
from pilothouse.domain.values import Value
from pilothouse.sandbox.shell.grammar import Reading
from pilothouse.sandbox.shell.knowledge import known
from pilothouse.sandbox.shell.levels import Level, Simple
from pilothouse.sandbox.shell.text_cache import TextCache
from pilothouse.sandbox.shell.wrappers import INTERPRETERS, WRAPPERS

MAX_COMMANDS = 500
MAX_WORDS = 20_000
"""Of all commands together: the words of a command that is started by another one count for both."""
_MAX_NESTED = 8
_LEADING_AT_MOST = 3
_CONTINUATION = "\\\n"
_PLAIN = re.compile(r"[a-z][a-z0-9:_-]*")


class Judgement(Value, kw_only=True):
    """`commands` are the words of every simple command, wrapped ones too, up to the first word that is not known.

    `read_only`: all of it only reads, given a kernel that stops what a hostile folder makes a program do. `strict`: it
    only reads by itself. `hidden`: what else may run: nothing, whatever a program starts, or whatever the text hides.
    `simple`: the line is one plain command and nothing else, every word known. `leading` are the words of it that a
    rule may be offered for. `written` are words that a command which does more than read may write to, `read` files
    that are given to commands as their input.
    """

    commands: tuple[tuple[str, ...], ...]
    read_only: bool
    strict: bool
    hidden: Hidden
    simple: bool = False
    dangers: tuple[str, ...] = ()
    leading: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    writers: tuple[tuple[str, str], ...] = ()
    """Each of the `written` words with the program that is given it; an empty name stands for a redirection."""
    read: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    """Every known word of the line's commands, behind unknown ones too."""
    programs: tuple[tuple[str, ...], ...] = ()
    """Those of the commands that may start anything, or what the folder's configuration says."""
    redirected: tuple[str, ...] = ()
    """Files that the line would replace if they exist, where nothing else makes it overwrite; all of them are known."""
    lines: tuple[str, ...] = ()
    """The line, and the lines that commands in it are given (`sh -c`)."""
    is_doubtful: bool = False
    """Whether the shell may read one of the lines otherwise than the grammar does."""
    is_complete: bool = True
    """Whether no part of the lines was left out: such a part may do anything."""

    @property
    def line(self) -> CommandLine:
        return CommandLine(commands=self.commands, hidden=self.hidden, is_simple=self.simple, leading=self.leading)


_JUDGEMENTS: TextCache[str, Judgement] = TextCache(max_entries=512, max_size=400_000)


def judge(line: str) -> Judgement:
    """The same line is judged the same, unless a trial of the grammar cannot be run: such a judgement is not kept."""
    judgement = _JUDGEMENTS.get(line)
    if judgement is None:
        judgement, is_final = judge_anew(line)
        if is_final:
            _JUDGEMENTS.put(line, judgement)
    return judgement


def judge_anew(line: str) -> tuple[Judgement, bool]:
    """The judgement of a line, and whether the line is always judged so."""
    judging = _Judging()
    reading = judging.line(line, 0)
    return _judgement(judging, reading), judging.is_final


def _judgement(judging: "_Judging", reading: Reading) -> Judgement:
    level = judging.level
    simple = _is_simple(reading)
    return Judgement(
        commands=tuple(dict.fromkeys(judging.commands)),
        read_only=level <= Level.READS,
        strict=level == Level.STRICT,
        hidden="no" if level <= Level.WRITES else "program" if level is Level.PROGRAM else "line",
        simple=simple,
        dangers=tuple(sorted(judging.dangers | {"overwrite"} if judging.redirected else judging.dangers)),
        leading=_leading(judging.commands[0]) if simple else (),
        written=tuple(dict.fromkeys(word for _, word in judging.writers)),
        writers=tuple(dict.fromkeys(judging.writers)),
        read=tuple(dict.fromkeys(judging.sources)),
        named=tuple(dict.fromkeys(judging.named)),
        programs=tuple(dict.fromkeys(judging.programs)),
        redirected=() if "overwrite" in judging.dangers or None in judging.redirected else judging.targets,
        lines=tuple(dict.fromkeys(judging.lines)),
        is_doubtful=judging.is_doubtful,
        is_complete=judging.is_complete,
    )


class _Judging:
    def __init__(self) -> None:
        self.level = Level.STRICT
        self.commands: list[tuple[str, ...]] = []
        self.dangers: set[str] = set()
        self.writers: list[tuple[str, str]] = []
        self.named: list[str] = []
        self.programs: list[tuple[str, ...]] = []
        self.sources: list[str] = []
        self.redirected: list[str | None] = []
        self.lines: list[str] = []
        self.is_doubtful = False
        self.is_complete = True
        self.is_final = True
        self._words_left = MAX_WORDS

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(target for target in self.redirected if target is not None)

    def line(self, text: str, depth: int) -> Reading:
        reading = Reading(text)
        self.lines.append(text)
        self.is_doubtful = self.is_doubtful or reading.is_doubtful
        self.is_complete = self.is_complete and reading.is_complete
        self.is_final = self.is_final and reading.is_final
        self._goes(reading.level)
        self.dangers |= reading.dangers
        self.writers += [("", target) for target in reading.targets]
        self.sources += reading.sources
        self.redirected += reading.replaced
        if not reading.commands and text.strip() and reading.level is Level.STRICT and not _is_comment(text):
            self._goes(Level.WRITES if "=" in text else Level.LINE)
        for command in reading.commands:
            self._command(command, depth)
        if reading.is_doubtful and _CONTINUATION in text:  # the grammar ends a word there
            self.line(text.replace(_CONTINUATION, ""), depth)
        return reading

    def _command(self, command: Simple, depth: int) -> None:
        self._words_left -= 1 + len(command.args)
        if depth > _MAX_NESTED or len(self.commands) >= MAX_COMMANDS or self._words_left < 0:
            self._goes(Level.LINE)
            self.is_complete = False
            return
        self.commands.append(command.literals)
        if not command.name.exact:
            self._goes(Level.LINE)
            return
        self.named += [word.text for word in (command.name, *command.args) if word.exact or word.text[:2] == "~/"]
        finding = known(command)
        self._goes(finding.level)
        if finding.level not in (Level.STRICT, Level.WRITES):
            self.programs.append(command.literals)
        self.dangers |= finding.dangers
        if finding.level >= Level.WRITES:
            parts = (part for word in command.args for part in (word.text, *word.text.split("=")[1:]))
            self.writers += [(command.name.text, part) for part in parts if part]
        for inner in finding.inner:
            self._command(inner, depth + 1)
        for text in finding.lines:
            self.line(text, depth + 1)

    def _goes(self, level: Level) -> None:
        self.level = max(self.level, level)


def _leading(words: tuple[str, ...]) -> tuple[str, ...]:
    """The program with what it is told to do: `git commit`, `npm run build`. None for a program that runs others."""
    if not {words[0], plain_name(words[0])}.isdisjoint(WRAPPERS.keys() | INTERPRETERS) or "/" in words[0]:
        return ()
    kept = [words[0]]
    for word in words[1:_LEADING_AT_MOST]:
        if not _PLAIN.fullmatch(word):
            break
        kept.append(word)
    return tuple(kept)


def _is_comment(text: str) -> bool:
    return all(not line.strip() or line.strip().startswith("#") for line in text.split("\n"))


def _is_simple(reading: Reading) -> bool:
    """One command, and all of its words known."""
    if not reading.is_plain or len(reading.commands) != 1:
        return False
    return reading.commands[0].is_literal
