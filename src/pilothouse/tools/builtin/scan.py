"""The process that grep starts: it opens files, leaves out binary ones, and searches each line by line.

It runs alone, with nothing but the standard library, and is killed when its time is over. It reads one JSON object
from its input and works in the folder where it stands. Files are opened step by step, no link is followed. ripgrep
gets the open files themselves, so it cannot be led elsewhere, and says only where lines match; without it, lines are
searched here: by Python's engine where that cannot run away, otherwise by an automaton that reads each character
once. It prints JSON arrays, one a line: a match is [file, line, text], how far it came an object of counts.
"""

import codecs
import json
import os
import re
import resource
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

BLOCK = 1024 * 1024
HEAD, LARGEST = 8192, 100 * BLOCK
FILES_FOR_RIPGREP, FILES_AT_ONCE = 2000, 100
LINE_FOR_PYTHON, CHANGES_AT_MOST = 1000, 300_000
SHOWN, SECONDS = 500, 60
FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
BYTE_ORDERS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}

Node = list[Any]  # its kind, what it waits for, the numbers of those after it
Positions = dict[int, list[tuple[int, int]]]  # by open file, a line's number and where it begins


class State(dict[str, "State"]):
    """Where the automaton stands: by which nodes, after what. What follows a character is worked out when it is
    first met; the empty text stands for the end of the line."""

    __slots__ = ("after_word", "at_start", "automaton", "nodes")

    def __init__(self, automaton: "Automaton", nodes: frozenset[int], after_word: bool, at_start: bool) -> None:
        self.automaton, self.nodes, self.after_word, self.at_start = automaton, nodes, after_word, at_start

    def __missing__(self, sign: str) -> "State":
        self[sign] = after = self.automaton.step(self, sign)
        return after


class Automaton:
    """All matches of an expression at once, one character after the other."""

    def __init__(self, nodes: list[Node], first: int) -> None:
        self._nodes, self._first = nodes, first
        self._states: dict[tuple[frozenset[int], bool], State] = {}
        self._changes = 0
        self.found = State(self, frozenset(), False, False)
        self.start = State(self, frozenset({first}), False, True)

    def first_end(self, line: str) -> int:
        """Where the first match ends, -1 where there is none."""
        state, found = self.start, self.found
        for at, sign in enumerate(line):
            state = state[sign]
            if state is found:
                return at
        return len(line) if state[""] is found else -1

    def step(self, state: State, sign: str) -> State:
        if state is self.found:
            return state
        self._changes += 1
        if self._changes > CHANGES_AT_MOST:  # memory stays bounded: all is worked out anew
            self._changes = 0
            self._states.clear()
            self.start.clear()
        is_word = sign.isascii() and (sign.isalnum() or sign == "_")
        reached = self._reached(state, is_word, at_end=not sign)
        if reached is None:
            return self.found
        code = ord(sign) if sign else -1
        after = {node[2][0] for node in reached if any(low <= code <= high for low, high in node[1])}
        key = frozenset({*after, self._first}), is_word
        if key not in self._states:
            self._states[key] = State(self, *key, False)
        return self._states[key]

    def _reached(self, state: State, is_word: bool, at_end: bool) -> list[Node] | None:
        """The nodes that wait for a character, None where a match has ended."""
        holds = {"any": True, "^": state.at_start, "$": at_end, "b": state.after_word != is_word}
        todo, seen, waiting = list(state.nodes), set(state.nodes), []
        while todo:
            node = self._nodes[todo.pop()]
            if node[0] == "end":
                return None
            if node[0] == "set":
                waiting.append(node)
            elif holds[node[0]]:
                todo += [at for at in node[2] if at not in seen]
                seen.update(node[2])
        return waiting


class Searcher:
    """The lines of a file that match, searched here."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.automaton = Automaton(job["nodes"], job["first"])
        self._python = re.compile(job["python"], re.ASCII | re.MULTILINE) if job["simple"] else None
        self._needle = job["needle"]

    def lines(self, texts: Iterator[str]) -> Iterator[tuple[int, str]]:
        """The number and the text of each. `texts` are whole lines, some at a time."""
        number = 1
        for text in texts:
            at = 0
            for start, end in self._in_text(text):
                number += text.count("\n", at, start)
                at = start
                yield number, text[start:end]
            number += text.count("\n", at)

    def _in_text(self, text: str) -> Iterator[tuple[int, int]]:
        at, size = 0, len(text)
        find = self._find_hint(text)
        while at < size:
            hint = find(at)
            if hint < 0:
                return
            start = text.rfind("\n", at, hint) + 1 or at
            end = text.find("\n", hint)
            end = size if end < 0 else end
            if start < size and self._in_line(text[start:end]):
                yield start, end
            at = end + 1

    def _find_hint(self, text: str) -> Any:
        """Where the next line that may match is: by what every match holds, or by Python's engine."""
        if self._needle:
            return lambda at: text.find(self._needle, at)
        python = self._python
        if python is None or max(map(len, text.split("\n"))) > LINE_FOR_PYTHON:
            return lambda at: at
        return lambda at: found.start() if (found := python.search(text, at)) else -1

    def _in_line(self, line: str) -> bool:
        if self._python is not None and len(line) <= LINE_FOR_PYTHON:
            return self._python.search(line) is not None
        return self.automaton.first_end(line) >= 0

    def shown(self, line: str) -> str:
        """A line, or what is around its first match."""
        line = line.removeprefix("\ufeff").removesuffix("\r")
        if len(line) > SHOWN:
            end = max(self.automaton.first_end(line), 0)
            start = max(0, min(end - SHOWN // 2, len(line) - SHOWN + 2))
            cut = line[start : start + SHOWN - 2]
            line = ("…" if start else "") + cut + ("…" if start + len(cut) < len(line) else "")
        return line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class Folders:
    """Opens files below where we stand. The folders on the way are kept for the next file."""

    def __init__(self) -> None:
        self._open: list[tuple[str, int]] = [("", os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))]

    def open(self, path: str) -> int:
        """Raises: OSError."""
        *names, last = path.split("/")
        same = 0
        while same < min(len(names), len(self._open) - 1) and self._open[same + 1][0] == names[same]:
            same += 1
        while len(self._open) > same + 1:
            os.close(self._open.pop()[1])
        for name in names[same:]:
            self._open.append((name, os.open(name, FLAGS | os.O_DIRECTORY, dir_fd=self._open[-1][1])))
        return os.open(last, FLAGS, dir_fd=self._open[-1][1])


def texts(fd: int, encoding: str) -> Iterator[str]:
    """A file as text, some whole lines at a time."""
    decoder = codecs.getincrementaldecoder(encoding)("surrogateescape" if encoding == "utf-8" else "replace")
    os.lseek(fd, 0 if encoding == "utf-8" else 2, os.SEEK_SET)
    kept: list[str] = []
    while block := os.read(fd, BLOCK):
        text = decoder.decode(block)
        end = text.rfind("\n") + 1
        if end:
            yield "".join(kept) + text[:end]
            kept.clear()
        kept.append(text[end:])
    rest = "".join(kept) + decoder.decode(b"", final=True)
    if rest:
        yield rest


def line_at(fd: int, offset: int) -> str:
    with open(fd, "rb", closefd=False) as file:
        file.seek(offset)
        return file.readline().removesuffix(b"\n").decode("utf-8", "surrogateescape")


def ripgrep(command: list[str], fds: list[int], most: int) -> Positions | None:
    """By open file, the numbers and offsets of lines that match, up to `most` in all; None where it failed."""
    found: Positions = {}
    argv, null = [*command, *(f"/dev/fd/{fd}" for fd in fds)], subprocess.DEVNULL
    try:
        with subprocess.Popen(argv, stdin=null, stdout=subprocess.PIPE, stderr=null, pass_fds=fds) as process:  # noqa: S603
            for record in process.stdout or ():
                _, fd, number, offset = re.split(rb"/dev/fd/|\0|:", record)[:4]
                found.setdefault(int(fd), []).append((int(number), int(offset)))
                most -= 1
                if not most:
                    process.kill()
                    return found
    except (OSError, ValueError):
        return None
    return found if process.returncode in (0, 1) else None


class Search:
    def __init__(self, job: dict[str, Any]) -> None:
        self._job, self._searcher, self._folders = job, Searcher(job), Folders()
        self._counts = {"files": 0, "matches": 0, "binary": 0, "large": 0, "unreadable": 0, "over": 0}

    def run(self) -> None:
        files, at = self._job["files"], 0
        while at < len(files) and not self._counts["over"]:
            size = files_at_once() if self._job["rg"] else FILES_AT_ONCE
            self._batch(list(enumerate(files[at : at + size], at)))
            at += size
        self._counts["over"] = 1
        tell(self._counts)

    def _batch(self, batch: list[tuple[int, str]]) -> None:
        opened = [(number, *self._opened(path)) for number, path in batch]
        plain = [fd for _, fd, how in opened if how == "utf-8"]
        most = self._job["counted"] + 1 - self._counts["matches"]
        positions = ripgrep(self._job["rg"], plain, most) if self._job["rg"] and plain else None
        for number, fd, how in opened:
            if self._counts["over"]:
                break
            self._counts["files" if fd >= 0 else how] += 1
            if fd >= 0:
                self._file(number, fd, how, positions)
        for fd in (fd for _, fd, _ in opened if fd >= 0):
            os.close(fd)
        tell(self._counts)

    def _file(self, number: int, fd: int, how: str, positions: Positions | None) -> None:
        here = positions is None or how != "utf-8"
        hits: Any = self._searcher.lines(texts(fd, how)) if here else (positions or {}).get(fd, ())
        for line, where in hits:
            if self._counts["matches"] == self._job["counted"]:
                self._counts["over"] = 1
                return
            self._counts["matches"] += 1
            if self._counts["matches"] <= self._job["most"]:
                tell([number, line, self._searcher.shown(where if here else line_at(fd, where))])

    def _opened(self, path: str) -> tuple[int, str]:
        """An open file and its encoding, or -1 and why it is not searched."""
        try:
            fd = self._folders.open(path)
        except OSError:
            return -1, "unreadable"
        how = encoding_of(fd)
        if how.startswith("utf"):
            return fd, how
        os.close(fd)
        return -1, how


def encoding_of(fd: int) -> str:
    """What a file is encoded in, or why it is not searched."""
    with suppress(OSError):
        status = os.fstat(fd)
        if stat.S_ISREG(status.st_mode):
            head = os.pread(fd, HEAD, 0)
            how = BYTE_ORDERS.get(head[:2]) or ("binary" if b"\0" in head else "utf-8")
            return "large" if how != "binary" and status.st_size > LARGEST else how
    return "unreadable"


def files_at_once() -> int:
    """As many as may be open, within reason."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard if 0 < hard < 4096 else max(soft, 4096), hard))
    return max(1, min(FILES_FOR_RIPGREP, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200))


def tell(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    Search(json.loads(sys.stdin.buffer.read())).run()
