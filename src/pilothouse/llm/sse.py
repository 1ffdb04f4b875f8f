"""Server-sent events, as far as model providers use them: the data of each event, from any split of the bytes."""

from collections.abc import AsyncIterable, AsyncIterator

_LONGEST_LINE = 16 * 1024 * 1024


async def data_lines(parts: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """The payload of every `data:` line. Comments, other fields and a byte order mark are passed over."""
    rest = b""
    first = True
    async for part in parts:
        rest += part
        if first and len(rest) >= 3:
            rest = rest.removeprefix(b"\xef\xbb\xbf")
            first = False
        *lines, rest = rest.split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                data = line[5:].strip()
                if data:
                    yield data
        if len(rest) > _LONGEST_LINE:
            return
    if rest.startswith(b"data:") and rest[5:].strip():
        yield rest[5:].strip()
