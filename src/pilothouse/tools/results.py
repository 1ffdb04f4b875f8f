"""What the model is given of a long result: its head and its tail, what was cut, and how to get the rest."""

import os

from pilothouse.tools.artifacts import MAX_OUTPUT_BYTES, ArtifactStore
from pilothouse.tools.text_encoding import decode_output

HEAD = 20_000
TAIL = 20_000
AT_MOST = HEAD + TAIL + 1000  # with the note of what was cut


def bounded(content: str, call_id: str, artifacts: ArtifactStore) -> str:
    """A result of any tool. A long one is kept whole beside, where it can be read."""
    where: str | None = artifacts.output_name(call_id)
    why = None
    try:
        with artifacts.writing_output(call_id) as file:
            file.write(content.encode()[:MAX_OUTPUT_BYTES])
    except OSError as error:
        where, why = None, error.strerror
    left_out = len(content) - HEAD - TAIL
    note = cut_note(f"{left_out:,} characters", where, not_kept=why)
    return f"{content[:HEAD]}\n{note}\n{content[-TAIL:]}"


def cut_note(what: str, where: str | None, *, is_whole: bool = True, not_kept: str | None = None) -> str:
    if not_kept is not None:
        return f"[… {what} left out. The whole could not be kept: {not_kept} …]"
    if where is None:
        return f"[… {what} left out …]"
    kept = "The whole" if is_whole else f"The first {MAX_OUTPUT_BYTES // 1024 // 1024} MB"
    return (
        f"[… {what} left out. {kept} is in {where}: read_file with start_line and end_line, or grep, shows the rest …]"
    )


class Output:
    """What a program prints, while it prints it: head and tail in memory, the whole in a file once it is long. Memory
    stays bounded whatever comes."""

    def __init__(self, call_id: str, artifacts: ArtifactStore | None) -> None:
        self._call_id = call_id
        self._artifacts = artifacts
        self._head = bytearray()
        self._tail = bytearray()
        self._size = 0
        self._fd: int | None = None
        self._kept = 0
        self._not_kept: str | None = None

    def add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > HEAD + TAIL:
            self._keep(part)
        room = HEAD - len(self._head)
        self._head += part[:room]
        self._tail += part[room:]
        surplus = len(self._tail) - TAIL
        if surplus > 0:
            del self._tail[:surplus]

    def _keep(self, part: bytes) -> None:
        """A full disk does not end the command: its result says that the whole is not there."""
        if self._artifacts is None or self._kept >= MAX_OUTPUT_BYTES or self._not_kept is not None:
            return
        try:
            self._write(self._artifacts, part)
        except OSError as error:
            self._not_kept = error.strerror or str(error)

    def _write(self, artifacts: ArtifactStore, part: bytes) -> None:
        if self._fd is None:
            with artifacts.writing_output(self._call_id) as file:
                self._fd = os.dup(file.fileno())
            part = bytes(self._head + self._tail) + part
        data = memoryview(part)[: MAX_OUTPUT_BYTES - self._kept]
        self._kept += len(data)
        while data:
            data = data[os.write(self._fd, data) :]

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __bool__(self) -> bool:
        return bool(self._size)

    def __str__(self) -> str:
        left_out = self._size - len(self._head) - len(self._tail)
        if not left_out:
            text, read_as = decode_output(bytes(self._head + self._tail))
            return text + read_as
        where = self._artifacts.output_name(self._call_id) if self._artifacts is not None and self._kept else None
        note = cut_note(f"{left_out:,} bytes", where, is_whole=self._kept == self._size, not_kept=self._not_kept)
        (head, _), (tail, read_as) = decode_output(bytes(self._head)), decode_output(bytes(self._tail), is_tail=True)
        return f"{head}\n{note}\n{tail}{read_as}"
