"""Server-sent events: one parser and one writer, for the server, its clients and the model providers."""

from collections.abc import AsyncIterable, AsyncIterator

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def sse_event(data: bytes, name: str | None = None) -> bytes:
    """Encode an event. `data` is one line: JSON or a word."""
    return b"data: %b\n\n" % data if name is None else b"event: %b\ndata: %b\n\n" % (name.encode(), data)


async def sse_events(
    chunks: AsyncIterable[bytes], *, max_line_bytes: int | None = None, accept_cut_line: bool = False
) -> AsyncIterator[tuple[str, bytes]]:
    """Parse a stream: the event name ("" for none) and the payload of every `data:` line, from any split of the bytes.

    An event is yielded when its line is complete, before the empty line that ends the event, so that deltas are
    displayed at once. Comments, other fields and a byte order mark are skipped. The stream ends at a line that exceeds
    `max_line_bytes`. A last line without a line end counts only with `accept_cut_line`.
    """
    name = ""
    async for line in _lines(chunks, max_line_bytes, accept_cut_line):
        if line.startswith(b"data:"):
            if data := line[5:].strip():
                yield name, data
        elif line.startswith(b"event:"):
            name = line[6:].strip().decode("utf-8", "replace")
        elif not line.strip():  # the end of an event
            name = ""


async def _lines(
    chunks: AsyncIterable[bytes], max_line_bytes: int | None, accept_cut_line: bool
) -> AsyncIterator[bytes]:
    unfinished = bytearray()  # grows in place: a long line in many chunks is not copied for each chunk
    is_first = True
    async for chunk in chunks:
        start = len(unfinished)
        unfinished += chunk
        if is_first and len(unfinished) >= len(_BYTE_ORDER_MARK):
            is_first = False
            if unfinished.startswith(_BYTE_ORDER_MARK):
                del unfinished[: len(_BYTE_ORDER_MARK)]
                start = 0
        if unfinished.find(b"\n", start) >= 0:
            *lines, incomplete_line = bytes(unfinished).split(b"\n")
            unfinished = bytearray(incomplete_line)
            for line in lines:
                yield line
        if max_line_bytes is not None and len(unfinished) > max_line_bytes:
            return
    if accept_cut_line:
        yield bytes(unfinished)
