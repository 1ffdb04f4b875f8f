"""Decide whether a command line can run the here-documents in it: only lines of known commands certainly do not."""

import re

_WORDS = str.split
_INERT = frozenset(
    """
    cat tee echo printf true false : test [ mkdir rmdir cd pushd popd pwd ls rm cp mv ln chmod touch head tail wc grep
    diff cmp file stat du sleep date read exit for done fi
    """.split()  # noqa: SIM905
)
"""Programs that run no text they read, and no file they name."""
_INERT_SUBCOMMANDS = {
    "git": frozenset(_WORDS("add commit status diff log show push tag checkout switch branch rm mv stash rev-parse")),
    "gh": frozenset(_WORDS("pr issue release")),
}
_PROJECT_RUNNERS = frozenset(_WORDS("npm pnpm yarn make pytest cargo go tsc ruff mypy eslint prettier"))
"""Programs that run code of the project, but no file of prose that nothing else names."""
_COPIES = frozenset({"tee", "cp", "mv", "ln"})
_KEYWORDS = frozenset(_WORDS("if then else elif while until do ! { } time sudo"))
_ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_]\w*)\+?=", re.ASCII)
_DECIDES_WHAT_RUNS = re.compile(
    r"PATH|IFS|PS\d|VISUAL|(?:LD|DYLD|GIT|GH|BASH)_.*|.*(?:ENV|COMMAND|PAGER|EDITOR|SHELL).*"
)
_RUNS_PROGRAM = re.compile(r"--?(?:exec|receive-pack|upload-pack|ext-diff)|ext::")
_GIT_RUNS_FILE = re.compile(r"\.git(?!ignore|hub|keep)|hooks|husky|pre-commit|lefthook")
_PROSE_TARGET = re.compile(r">>?[ \t]*(?P<name>[\w./-]+\.(?:md|markdown|rst|adoc|txt))(?![\w./-])")
_NAMES_FILES_UNSEEN = re.compile(r"[*?$`|\[]")
_TOKEN = re.compile(
    r"(?P<blank>\\\n|[ \t]+)|(?P<redirection>\d*(?:<<<|<<-?|>>|>\||<>|>&|<&|[<>](?!\())|&>>?)"
    r"|(?P<opening>\$\(|[<>]\(|\()|(?P<closing>\))|(?P<backtick>`)|(?P<end>[;|&\n])|(?P<word>(?:\\.|\$(?!\()|[^\s;|&()`<>$])+)",
    re.S,
)
_SUBSTITUTED = "_"


def runs_no_content(code: str, documents: int) -> bool:
    """Whether no command of a line runs what its here-documents contain.

    `code` is the line without the documents, and with `_` in place of quoted text. `documents` is their number.
    """
    if _GIT_RUNS_FILE.search(code):
        return False
    if _has_only(code, _INERT):
        return True
    names = [target["name"].rpartition("/")[2] for target in _PROSE_TARGET.finditer(code)]
    is_prose = len(names) == documents and all(code.count(name) == 1 for name in names)
    return is_prose and not _NAMES_FILES_UNSEEN.search(code) and _has_only(code, _INERT | _PROJECT_RUNNERS)


def _has_only(code: str, programs: frozenset[str]) -> bool:
    """Whether a line consists of commands of these programs."""
    reader = _Reader(programs)
    end = 0
    while end < len(code):
        token = _TOKEN.match(code, end)
        if token is None or not reader.read(token):
            return False
        end = token.end()
    return reader.has_ended()


class _Command:
    """The words of one command as they are read."""

    def __init__(self, opening: str) -> None:
        self.opening = opening
        """The sign that opened the substitution or subshell of the command; empty for the line itself."""
        self.words: list[str] = []
        self.end = -1
        """The end of the last word, where the next one continues it."""
        self.targets: list[str] = []
        """The files that the command is redirected to."""
        self.is_before_target = False
        self._is_target = False

    def add(self, word: str, start: int, end: int) -> None:
        is_adjacent, self.end = start == self.end, end
        if not is_adjacent:
            self._is_target, self.is_before_target = self.is_before_target, False
        words = self.targets if self._is_target else self.words
        if is_adjacent and words:
            words[-1] += word
        else:
            words.append(word)

    def is_inert(self, programs: frozenset[str]) -> bool:
        words = self.words
        if any(_RUNS_PROGRAM.match(word) for word in words) or any(map(_is_program, self.targets)):
            return False
        while words and (words[0] in _KEYWORDS or _ASSIGNMENT.match(words[0])):
            assignment = _ASSIGNMENT.match(words[0])
            if assignment is not None and _DECIDES_WHAT_RUNS.fullmatch(assignment["name"]):
                return False
            words = words[1:]
        if not words or words[0].startswith("#"):
            return True
        if words[0] in _COPIES and any(map(_is_program, words[1:])):
            return False
        subcommands = _INERT_SUBCOMMANDS.get(words[0])
        return words[0] in programs if subcommands is None else words[1:2] != [] and words[1] in subcommands


class _Reader:
    """Reads the tokens of a line, with a stack of open substitutions and subshells."""

    def __init__(self, programs: frozenset[str]) -> None:
        self._programs = programs
        self._open = [_Command("")]

    def read(self, token: re.Match[str]) -> bool:
        """Read a token. Return False at a command of another program, or in a form that is not understood."""
        command = self._open[-1]
        match token.lastgroup:
            case "redirection":
                command.is_before_target = True
            case "word":
                command.add(token[0], token.start(), token.end())
            case "opening":
                return self._begin(token)
            case "backtick":
                return self._finish(token.end()) if command.opening == "`" else self._begin(token)
            case "closing":
                return command.opening != "`" and self._finish(token.end())
            case "end":
                self._open[-1] = _Command(command.opening)
                return command.is_inert(self._programs)
        return True

    def has_ended(self) -> bool:
        """Whether the line ends here, with a command of the programs."""
        return len(self._open) == 1 and self._open[0].is_inert(self._programs)

    def _begin(self, token: re.Match[str]) -> bool:
        if token[0] != "(":
            self._open[-1].add(_SUBSTITUTED, token.start(), token.end())
        elif self._open[-1].words:
            return False  # the definition of a function, or an array
        self._open.append(_Command(token[0]))
        return True

    def _finish(self, end: int) -> bool:
        if len(self._open) == 1:
            return False
        command = self._open.pop()
        self._open[-1].end = end
        return command.is_inert(self._programs)


def _is_program(path: str) -> bool:
    """Whether a file has the name of a program that a later command may start."""
    name = path.strip("'\"").rpartition("/")[2]
    return name in _INERT or name in _INERT_SUBCOMMANDS or name in _PROJECT_RUNNERS
