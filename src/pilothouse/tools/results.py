"""Bounds on long results: the model receives the head and the tail, a note of the cut, and the way to the rest."""

import os

from pilothouse.domain.errors import os_error_text
from pilothouse.tools.artifacts import MAX_OUTPUT_BYTES, ArtifactStore
from pilothouse.tools.text_encoding import decode_output

HEAD_CHARACTERS = 20_000
TAIL_CHARACTERS = 20_000
MAX_RESULT_CHARACTERS = HEAD_CHARACTERS + TAIL_CHARACTERS + 1000  # with the note of the cut


def truncate_result(content: str, call_id: str, artifacts: ArtifactStore) -> str:
    """The head and the tail of a long result of any tool. The whole result goes to a file that the model can read."""
    name: str | None = artifacts.output_name(call_id)
    write_error = None
    try:
        with artifacts.open_output(call_id) as file:
            file.write(content.encode()[:MAX_OUTPUT_BYTES])
    except OSError as error:
        name, write_error = None, error.strerror
    omitted_characters = len(content) - HEAD_CHARACTERS - TAIL_CHARACTERS
    note = cut_note(f"{omitted_characters:,} characters", name, write_error=write_error)
    return f"{content[:HEAD_CHARACTERS]}\n{note}\n{content[-TAIL_CHARACTERS:]}"


def cut_note(cut: str, name: str | None, *, is_whole: bool = True, write_error: str | None = None) -> str:
    """The note in place of the omitted middle. `name` is the path of the stored output, if there is one."""
    if write_error is not None:
        return f"[… {cut} left out. The whole could not be kept: {write_error} …]"
    if name is None:
        return f"[… {cut} left out …]"
    part = "The whole" if is_whole else f"The first {MAX_OUTPUT_BYTES // 1024 // 1024} MB"
    return f"[… {cut} left out. {part} is in {name}: read_file with start_line and end_line, or grep, shows the rest …]"


class Output:
    """The output of a running program: head and tail in memory, the whole in a file once the output is long. Memory
    stays bounded however much the program prints."""

    def __init__(self, call_id: str, artifacts: ArtifactStore | None) -> None:
        self._call_id = call_id
        self._artifacts = artifacts
        self._head = bytearray()
        self._tail = bytearray()
        self._size = 0
        self._fd: int | None = None
        self._stored_bytes = 0
        self._write_error: str | None = None

    def add(self, chunk: bytes) -> None:
        self._size += len(chunk)
        if self._size > HEAD_CHARACTERS + TAIL_CHARACTERS:
            self._store(chunk)
        room = HEAD_CHARACTERS - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        surplus = len(self._tail) - TAIL_CHARACTERS
        if surplus > 0:
            del self._tail[:surplus]

    def _store(self, chunk: bytes) -> None:
        """Append to the file. A full disk does not end the command: the result then says that the whole output is
        missing."""
        if self._artifacts is None or self._stored_bytes >= MAX_OUTPUT_BYTES or self._write_error is not None:
            return
        try:
            self._write(self._artifacts, chunk)
        except OSError as error:
            self._write_error = os_error_text(error)

    def _write(self, artifacts: ArtifactStore, chunk: bytes) -> None:
        if self._fd is None:
            with artifacts.open_output(self._call_id) as file:
                self._fd = os.dup(file.fileno())
            chunk = bytes(self._head + self._tail) + chunk
        data = memoryview(chunk)[: MAX_OUTPUT_BYTES - self._stored_bytes]
        self._stored_bytes += len(data)
        while data:
            data = data[os.write(self._fd, data) :]

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __bool__(self) -> bool:
        return bool(self._size)

    def __str__(self) -> str:
        omitted_bytes = self._size - len(self._head) - len(self._tail)
        if not omitted_bytes:
            text, encoding_note = decode_output(bytes(self._head + self._tail))
            return text + encoding_note
        name = (
            self._artifacts.output_name(self._call_id) if self._artifacts is not None and self._stored_bytes else None
        )
        note = cut_note(
            f"{omitted_bytes:,} bytes", name, is_whole=self._stored_bytes == self._size, write_error=self._write_error
        )
        (head, _), (tail, encoding_note) = (
            decode_output(bytes(self._head)),
            decode_output(bytes(self._tail), is_tail=True),
        )
        return f"{head}\n{note}\n{tail}{encoding_note}"
