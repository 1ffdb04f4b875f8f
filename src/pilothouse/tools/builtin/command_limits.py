"""What a command line may not do by its text: name the runtime's own files, write protected ones, or change files that
make programs run code without a person's leave. What the text hides, only a sandbox stops."""

import os
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from pilothouse.domain.codes import Code, Reason
from pilothouse.sandbox.file_names import escape, unescape
from pilothouse.sandbox.shell import Judgement
from pilothouse.sandbox.workspace import Workspace, real_path
from pilothouse.tools.artifacts import UPLOADS

MAX_CHECKED_PATHS = 10_000
_MAX_NAMED_WORDS = 20
_GIT_RECORDS = frozenset({"add", "commit", "stage"})
_FILE_WRITERS = frozenset(
    {
        *("tee", "cp", "mv", "ln", "install", "rsync", "scp", "dd", "touch", "truncate", "sponge", "split", "csplit"),
        *("sed", "gsed", "perl", "awk", "gawk", "sort", "yq", "dasel", "patch"),
        *("ed", "ex", "vi", "vim", "nvim", "nano"),
        *("mkdir", "rm", "rmdir", "unlink", "shred", "chmod", "chown", "setfacl", "mkfifo", "mknod", "link", "symlink"),
        *("git", "hg", "tar", "bsdtar", "unzip", "cpio", "pax", "7z", "gzip", "gunzip", "curl", "wget", "openssl"),
    }
)
_ENTERING = frozenset({"cd", "pushd"})
_FOLDER_OPTION = re.compile(r"-C(?P<short>.*)|--(?:chdir|directory|cwd|prefix|work-tree)(?:=(?P<long>.*))?", re.DOTALL)
_UPLOADS_VARIABLE = re.compile(r"\$PILOTHOUSE_UPLOADS\b|\$\{PILOTHOUSE_UPLOADS\}")
_HOME, _TO_END = re.compile(r"~(?=/)|\$HOME\b|\$\{HOME\}"), r"[^\s'\";|&<>()]*"


class CommandLimits:
    """The limits of one command line."""

    def __init__(self, command: str, judgement: Judgement, cwd: str, workspace: Workspace) -> None:
        self._command = command
        self._judgement = judgement
        self._cwd = cwd
        self._workspace = workspace
        self._in_shell = workspace.without_mounts()

    def broken(self) -> Reason | None:
        """The hard limit of a file that the line plainly writes to, and of one of the runtime's own that it plainly
        names: keys are in there."""
        named, written = self._named(), self._written
        if len(self._folders) * (len(named) + len(written)) > MAX_CHECKED_PATHS:
            detail = "it names too many folders and files to check; split it into several commands"
            return Reason(Code.INVALID_ARGUMENTS, {"tool": "execute", "detail": detail})
        for folder in self._folders:
            for word in written:
                found = self._limit_of(os.path.join(folder, escape(word)), writing=True)
                if found is not None and found.code in (Code.PROTECTED_PATH, Code.UPLOAD_READ_ONLY):
                    return Reason(found.code, {"path": word})
            for word in named:
                if self._is_runtimes_own(os.path.join(folder, escape(word))):
                    return Reason(Code.PROTECTED_PATH, {"path": word})
        return None

    def asking(self) -> Reason | None:
        """Why only a person can let the line run: it plainly writes to a file that makes programs run code. A linter
        that is given its configuration, or git that records such a file, does not write to it."""
        if self._judgement.strict:
            return None
        commands = self._judgement.commands
        writing = {word for words in commands if _writes_files(words) for word in _with_values(words)}
        others = {word for words in commands if not _writes_files(words) for word in _with_values(words)}
        if ">" in self._command:  # what a program prints may go into the same file
            others.clear()
        for folder in self._folders:
            for word in self._written:
                if "\0" in word or (word in others and word not in writing):
                    continue
                found = self._in_shell.ask(os.path.join(folder, escape(word)))
                if found is not None and found.code is Code.RUNS_CODE:
                    return Reason(Code.RUNS_CODE, {"path": word})
        return None

    @cached_property
    def _written(self) -> tuple[str, ...]:
        """The words that the line may write to. Where a part of it is hidden, that is any word that can be seen."""
        judgement = self._judgement
        return (*judgement.written, *judgement.named) if judgement.hidden == "line" else judgement.written

    @cached_property
    def _folders(self) -> list[str]:
        """Where the words of the line may be meant: where it begins, and where it plainly goes."""
        entered = [folder for words in self._judgement.commands for folder in _entered(words)]
        return list(dict.fromkeys((self._cwd, *(os.path.join(self._cwd, escape(each)) for each in entered))))

    def _named(self) -> set[str]:
        """The words of the line that may be paths, and what stands in it as a path of the runtime's own."""
        judgement, workspace = self._judgement, self._workspace
        words = {word for each in judgement.commands for word in each[1:_MAX_NAMED_WORDS]}
        words |= {*judgement.read, *judgement.named[:_MAX_NAMED_WORDS]}
        text = _HOME.sub(lambda _: os.path.expanduser("~"), self._command)
        text = _UPLOADS_VARIABLE.sub(lambda _: str(workspace.mounted(UPLOADS) or "/"), text)
        return words | {
            found[0] for path in workspace.runtimes for found in re.finditer(re.escape(str(path)) + _TO_END, text)
        }

    def _limit_of(self, path: str, *, writing: bool = False) -> Reason | None:
        # A shell knows the conversation's folders by their whole path only.
        return (self._workspace if path.startswith("/") else self._in_shell).limit(path, writing=writing)

    def _is_runtimes_own(self, path: str) -> bool:
        found = self._limit_of(path)
        if found is None or found.code not in (Code.PROTECTED_PATH, Code.OUTSIDE_WORKSPACE):
            return False
        real = Path(real_path(self._workspace.root / unescape(path)))
        return any(real == each or each in real.parents for each in self._workspace.runtimes)


def _entered(words: tuple[str, ...]) -> Iterator[str]:
    """The folders that a command goes to, or that it is told to work in."""
    if words and words[0] in _ENTERING:
        yield from words[1:2]
    for word, following in zip(words, (*words[1:], ""), strict=True):
        if (option := _FOLDER_OPTION.fullmatch(word)) is not None:
            yield option["short"] or option["long"] or following


def _writes_files(words: tuple[str, ...]) -> bool:
    """Whether a command is there to change the files that it names, itself or by what it starts (`xargs cp`)."""
    if words[:1] == ("git",) and not _GIT_RECORDS.isdisjoint(words[1:2]):
        return False
    return any(os.path.basename(word) in _FILE_WRITERS for word in words)


def _with_values(words: tuple[str, ...]) -> Iterator[str]:
    """The words of a command, and what stands behind `=` in them."""
    for word in words:
        yield from (word, *word.split("=")[1:])
