"""Server-sent events: written events are parsed again, for any split of the bytes."""

from collections.abc import AsyncIterator

import pytest

from pilothouse.sse import sse_event, sse_events


async def parts(data: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


async def read(data: bytes, size: int = 7, **options: bool | int) -> list[tuple[str, bytes]]:
    return [event async for event in sse_events(parts(data, size), **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize("size", range(1, 40))
async def test_events_are_parsed_the_same_for_any_split_of_the_bytes(size: int) -> None:
    written = [("token", '{"text":"你好"}'.encode()), ("", b"[DONE]"), ("done", b"{}")]
    data = b"".join(sse_event(payload, name or None) for name, payload in written)
    assert await read(data, size) == written
    assert await read(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"), size) == written


def test_an_event_is_written_as_one_block() -> None:
    assert sse_event(b"{}", "done") == b"event: done\ndata: {}\n\n"
    assert sse_event(b"[DONE]") == b"data: [DONE]\n\n"


async def test_comments_other_fields_and_empty_data_are_passed_over() -> None:
    data = b": a comment\n\nid: 7\nretry: 5\nevent: ping\n\ndata:\n\ndata:without a space\n\n"
    assert await read(data) == [("", b"without a space")]


async def test_a_name_counts_for_its_own_event_only() -> None:
    assert await read(b"event: one\ndata: 1\n\ndata: 2\n\n") == [("one", b"1"), ("", b"2")]


async def test_an_event_is_yielded_before_the_empty_line_after_it_arrives() -> None:
    assert await read(b"event: token\ndata: {}\n") == [("token", b"{}")]


async def test_a_cut_last_line_counts_only_if_requested() -> None:
    assert await read(b"data: 1\n\ndata: 2") == [("", b"1")]
    assert await read(b"data: 1\n\ndata: 2", accept_cut_line=True) == [("", b"1"), ("", b"2")]


async def test_the_stream_ends_at_a_line_that_is_too_long() -> None:
    data = b"data: 1\n\ndata: " + b"x" * 1000 + b"\n\ndata: 3\n\n"
    assert await read(data, max_line_bytes=100) == [("", b"1")]
    assert len(await read(data)) == 3
