"""Classification of command lines by the effects of their simple commands."""

import posixpath
import re
from collections.abc import Iterable, Sequence

from pilothouse.domain.command_line import CommandLine, Hidden
from pilothouse.domain.runner_files import plain_name
from pilothouse.domain.system_programs import SHELLS
from pilothouse.domain.value import Value
from pilothouse.sandbox.shell.command_table import command_effect
from pilothouse.sandbox.shell.effects import Level, SimpleCommand
from pilothouse.sandbox.shell.grammar import Reading
from pilothouse.sandbox.shell.text_cache import TextCache
from pilothouse.sandbox.shell.wrappers import INTERPRETERS, WRAPPERS

MAX_COMMANDS = 500
MAX_WORDS = 20_000
"""Of all commands together: the words of a command that is started by another one count for both."""
MAX_TEXTS = 200
"""Texts of a line that its commands may run."""
_MAX_NESTED = 8
_MAX_LEADING_WORDS = 3
_CONTINUATION = "\\\n"
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9:_-]*")


class Classification(Value, kw_only=True):
    """The classification of a command line."""

    commands: tuple[tuple[str, ...], ...]
    """The words of every simple command, wrapped ones too, up to the first unknown word."""
    read_only: bool
    """Whether the whole line only reads, given a kernel that stops programs which a hostile folder configures."""
    strict: bool
    """Whether the whole line only reads, whatever the folder contains, and also without a sandbox."""
    hidden: Hidden
    """Further effects: none, whatever a program starts, or whatever the text hides."""
    simple: bool = False
    """Whether the line is a single plain command with known words."""
    dangers: tuple[str, ...] = ()
    leading: tuple[str, ...] = ()
    """The words of a simple line for which a rule may be offered."""
    written: tuple[str, ...] = ()
    """The words to which a command that does more than read may write."""
    writers: tuple[tuple[str, str], ...] = ()
    """Each of the `written` words with the program that receives it; an empty name stands for a redirection."""
    read: tuple[str, ...] = ()
    """The files that commands receive as their standard input."""
    named: tuple[str, ...] = ()
    """Every known word of the line's commands, also behind unknown words."""
    programs: tuple[tuple[str, ...], ...] = ()
    """The commands that may start anything, or programs from the folder's configuration."""
    redirected: tuple[str, ...] = ()
    """The files that redirections and commands would replace. Empty where a name is unknown, or the line overwrites
    otherwise."""
    lines: tuple[str, ...] = ()
    """The line, and the lines that its commands receive as arguments (`sh -c`)."""
    is_doubtful: bool = False
    """Whether the shell may parse one of the lines differently from the grammar."""
    is_complete: bool = True
    """Whether all parts of the lines were read: an unread part may do anything."""

    @property
    def only_reads(self) -> bool:
        """Whether the whole line only reads, whatever the folder contains. The kernel must keep it from name servers,
        devices and temporary files, unless it is strict."""
        return self.read_only and not self.programs

    @property
    def line(self) -> CommandLine:
        return CommandLine(commands=self.commands, hidden=self.hidden, is_simple=self.simple, leading=self.leading)


_CACHE: TextCache[str, Classification] = TextCache(max_entries=512, max_size=400_000)


def classify(line: str) -> Classification:
    """Classify a line. The result is cached, unless a trial of the grammar could not be run."""
    classification = _CACHE.get(line)
    if classification is None:
        classification, is_final = classify_uncached(line)
        if is_final:
            _CACHE.put(line, classification)
    return classification


def classify_uncached(line: str) -> tuple[Classification, bool]:
    """The classification of a line, and whether a further try would give the same."""
    classifier = _Classifier()
    reading = classifier.read_line(line, 0)
    return _classification(classifier, reading), classifier.is_final


def _classification(classifier: "_Classifier", reading: Reading) -> Classification:
    level = classifier.level
    simple = _is_simple(reading)
    is_replacement_known = "overwrite" not in classifier.dangers and None not in classifier.redirected
    return Classification(
        commands=tuple(dict.fromkeys(classifier.commands)),
        read_only=level <= Level.READS,
        strict=level == Level.STRICT,
        hidden="no" if level <= Level.WRITES else "program" if level is Level.PROGRAM else "line",
        simple=simple,
        dangers=tuple(sorted(classifier.dangers | {"overwrite"} if classifier.redirected else classifier.dangers)),
        leading=_leading(classifier.commands[0]) if simple else (),
        written=tuple(dict.fromkeys(word for _, word in classifier.writers)),
        writers=tuple(dict.fromkeys(classifier.writers)),
        read=tuple(dict.fromkeys(classifier.sources)),
        named=tuple(dict.fromkeys(classifier.named)),
        programs=tuple(dict.fromkeys(classifier.programs)),
        redirected=classifier.targets if is_replacement_known else (),
        lines=tuple(dict.fromkeys(classifier.lines)),
        is_doubtful=classifier.is_doubtful,
        is_complete=classifier.is_complete,
    )


class _Classifier:
    """Collects the effects of a line's commands, and of the lines inside it."""

    def __init__(self) -> None:
        self.level = Level.STRICT
        self.commands: list[tuple[str, ...]] = []
        self.dangers: set[str] = set()
        self.writers: list[tuple[str, str]] = []
        self.named: list[str] = []
        self.programs: list[tuple[str, ...]] = []
        self.sources: list[str] = []
        self.redirected: list[str | None] = []
        """The files that redirections and commands would replace; None for an unknown name."""
        self.lines: list[str] = []
        self.is_doubtful = False
        self.is_complete = True
        self.is_final = True
        self._remaining_words = MAX_WORDS
        self._remaining_texts = MAX_TEXTS
        self._reads_script = False
        """Whether a shell of the line reads its script from its standard input."""

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(target for target in self.redirected if target is not None)

    def read_line(self, text: str, depth: int) -> Reading:
        reading = Reading(text)
        self.lines.append(text)
        self.is_doubtful = self.is_doubtful or reading.is_doubtful
        self.is_complete = self.is_complete and reading.is_complete
        self.is_final = self.is_final and reading.is_final
        self._raise_level(reading.level)
        self.dangers |= reading.dangers
        self.writers += [("", target) for target in reading.targets]
        self.sources += reading.sources
        self.redirected += reading.replaced
        if not reading.commands and text.strip() and reading.level is Level.STRICT and not _is_comment(text):
            self._raise_level(Level.WRITES if "=" in text else Level.LINE)
        for command in reading.commands:
            self._read_command(command, depth)
        if self._reads_script:
            self._mark_texts((*reading.texts, *map(_printed, reading.commands)), depth)
        if reading.is_doubtful and _CONTINUATION in text:  # the grammar ends a word at a continuation
            self.read_line(text.replace(_CONTINUATION, ""), depth)
        return reading

    def _read_command(self, command: SimpleCommand, depth: int) -> None:
        self._remaining_words -= 1 + len(command.args)
        if depth > _MAX_NESTED or len(self.commands) >= MAX_COMMANDS or self._remaining_words < 0:
            self._raise_level(Level.LINE)
            self.is_complete = False
            return
        self.commands.append(command.literals)
        if not command.name.exact:
            self._raise_level(Level.LINE)
            return
        self.named += [word.text for word in (command.name, *command.args) if word.exact or word.text[:2] == "~/"]
        effect = command_effect(command)
        self._raise_level(effect.level)
        if effect.level not in (Level.STRICT, Level.CONFINED, Level.WRITES):
            self.programs.append(command.literals)
        self.dangers |= effect.dangers
        if effect.level >= Level.WRITES:
            parts = (part for word in command.args for part in (word.text, *word.text.split("=")[1:]))
            self.writers += [(command.name.text, part) for part in parts if part]
        for inner in effect.inner:
            self._read_command(inner, depth + 1)
        for text in effect.lines:
            self.read_line(text, depth + 1)
        self._add_replaced(effect.replaced, is_outermost=depth == 0)
        self._mark_texts(effect.texts, depth)
        is_script = effect.level is Level.LINE and plain_name(command.name.text) in SHELLS
        self._reads_script = self._reads_script or is_script

    def _add_replaced(self, replaced: Sequence[str | None], *, is_outermost: bool) -> None:
        """Add the files that a command replaces. A file that an earlier command of the line made is replaced for
        certain, and a wrapper may start its command in another folder."""
        targets = {posixpath.normpath(target) for target in replaced if target is not None}
        if replaced and (not is_outermost or not targets.isdisjoint(map(posixpath.normpath, self.targets))):
            self.dangers.add("overwrite")
        self.redirected += replaced

    def _mark_texts(self, texts: Iterable[str], depth: int) -> None:
        """Add the danger marks of texts that are not part of the line, but that one of its commands may run."""
        for text in filter(None, texts):
            self._remaining_texts -= 1
            if depth > _MAX_NESTED or self._remaining_texts < 0:
                self._raise_level(Level.LINE)
                self.is_complete = False
                return
            classifier = _Classifier()
            classifier._remaining_words, classifier._remaining_texts = self._remaining_words, self._remaining_texts
            classifier.read_line(text, depth + 1)
            self._remaining_words, self._remaining_texts = classifier._remaining_words, classifier._remaining_texts
            self.dangers |= classifier.dangers | ({"overwrite"} if classifier.redirected else set())

    def _raise_level(self, level: Level) -> None:
        self.level = max(self.level, level)


def _leading(words: tuple[str, ...]) -> tuple[str, ...]:
    """The program with its subcommands: `git commit`, `npm run build`. Empty for a program that runs others."""
    if not {words[0], plain_name(words[0])}.isdisjoint(WRAPPERS.keys() | INTERPRETERS) or "/" in words[0]:
        return ()
    leading = [words[0]]
    for word in words[1:_MAX_LEADING_WORDS]:
        if not _SUBCOMMAND.fullmatch(word):
            break
        leading.append(word)
    return tuple(leading)


def _printed(command: SimpleCommand) -> str:
    """The known text that `echo` or `printf` prints, perhaps into a shell."""
    is_printing = command.name.exact and command.name.text in ("echo", "printf")
    return " ".join(word.text for word in command.args if word.exact) if is_printing else ""


def _is_comment(text: str) -> bool:
    return all(not line.strip() or line.strip().startswith("#") for line in text.split("\n"))


def _is_simple(reading: Reading) -> bool:
    """Whether a line is one command of known words."""
    if not reading.is_plain or len(reading.commands) != 1:
        return False
    return reading.commands[0].is_literal
