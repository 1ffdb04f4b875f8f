"""What every request to a model must look like, whatever happened before."""

from collections.abc import Sequence

import msgspec


def assert_valid_window(fragments: Sequence[bytes]) -> None:
    """Every call is followed by exactly one result, in order; no result stands without its call."""
    awaited: list[str] = []
    seen: set[str] = set()
    for fragment in map(msgspec.json.decode, fragments):
        if fragment["kind"] == "CallResult":
            assert awaited, "a result without its call"
            assert fragment["call_id"] == awaited.pop(0)
            continue
        assert not awaited, "a call without its result"
        if fragment["kind"] == "AssistantCalls":
            awaited = [call["id"] for call in fragment["calls"]]
            assert seen.isdisjoint(awaited)
            seen.update(awaited)
    assert not awaited, "a call without its result"
