"""Server-sent events, as far as model providers use them: the data of each event, from any split of the bytes."""

from collections.abc import AsyncIterable, AsyncIterator

_LONGEST_LINE = 16 * 1024 * 1024
_MARK = b"\xef\xbb\xbf"


async def data_lines(parts: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """The payload of every `data:` line. Comments, other fields and a byte order mark are passed over."""
    unfinished = bytearray()  # grows in place: a long line that comes in many parts is not copied for each of them
    first = True
    async for part in parts:
        start = len(unfinished)
        unfinished += part
        if first and len(unfinished) >= len(_MARK):
            first = False
            if unfinished.startswith(_MARK):
                del unfinished[: len(_MARK)]
                start = 0
        if unfinished.find(b"\n", start) >= 0:
            *lines, rest = bytes(unfinished).split(b"\n")
            unfinished = bytearray(rest)
            for line in lines:
                if line.startswith(b"data:") and (data := line[5:].strip()):
                    yield data
        if len(unfinished) > _LONGEST_LINE:
            return
    if unfinished.startswith(b"data:") and (data := bytes(unfinished[5:]).strip()):
        yield data
