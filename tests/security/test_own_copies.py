"""Callers own the objects that the façade returns: changing an object never changes what runs after an approval."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.rules import Lifetime, Origin, Rule, RuleId, Scope
from pilothouse.domain.value import CallId, ContextId
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.runtime.runtime import Runtime
from pilothouse.storage.memory import MemoryStore
from tests.security.test_approvals import DONE, runs, waiting, world

SAFE, HOSTILE = "echo safe > safe", "echo hostile > hostile"
EXECUTE = Scope(tool="execute")
ALLOW = Rule(
    id=RuleId("r"),
    effect="allow",
    scope=EXECUTE,
    lifetime=Lifetime(),
    origin=Origin(by="local", at="2026-01-01T00:00:00.000Z"),
)
Read = Callable[[Runtime, ContextId, CallId], Awaitable[object]]
READS: Mapping[str, Read] = {
    "calls.pending": lambda runtime, context_id, _: runtime.calls.pending(context_id),
    "calls.get": lambda runtime, context_id, call_id: runtime.calls.get(context_id, call_id),
    "calls.read": lambda runtime, context_id, _: runtime.calls.read(context_id),
    "calls.read pending": lambda runtime, context_id, _: runtime.calls.read(context_id, status="pending"),
    "calls.records": lambda runtime, context_id, call_id: runtime.calls.records(context_id, [call_id]),
    "calls.explain": lambda runtime, context_id, call_id: runtime.calls.explain(context_id, call_id),
    "contexts.get": lambda runtime, context_id, _: runtime.contexts.get(context_id),
    "contexts.audit": lambda runtime, context_id, _: runtime.contexts.audit(context_id),
    "turns.rested": lambda runtime, context_id, _: runtime.turns.rested(context_id),
    "messages.read": lambda runtime, context_id, _: runtime.messages.read(context_id),
    "modes.would_start": lambda runtime, context_id, _: runtime.modes.would_start(context_id, "agent"),
    "rules.offers": lambda runtime, context_id, call_id: runtime.rules.offers(context_id, call_id),
    "rules.would_allow": lambda runtime, context_id, _: runtime.rules.would_allow(context_id, ALLOW),
}
Start = Callable[[Runtime, ContextId, CallRecord], Awaitable[object]]
STARTS: Mapping[str, Start] = {
    "approval": lambda runtime, context_id, call: runtime.calls.decide(
        context_id, [PersonsDecision(id=call.id, verdict="approve", digest=call.digest)]
    ),
    "approval of all": lambda runtime, context_id, _: runtime.calls.approve_all(context_id),
    "mode": lambda runtime, context_id, call: runtime.modes.switch(context_id, "agent", shown=[call.digest]),
    "rule": lambda runtime, context_id, call: runtime.rules.give(
        "allow", EXECUTE, context_id=context_id, shown=[call.digest]
    ),
}


def make_hostile(value: object) -> None:
    """Change every dictionary that a caller can reach without private names."""
    if isinstance(value, dict):
        for name, item in value.items():
            make_hostile(item)
            if item == SAFE:
                value[name] = HOSTILE
    elif isinstance(value, Mapping):
        make_hostile(list(value.values()))
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            make_hostile(item)
    elif isinstance(value, msgspec.Struct):
        make_hostile([getattr(value, name) for name in value.__struct_fields__])
    elif is_dataclass(value):
        make_hostile([getattr(value, each.name) for each in fields(value) if not each.name.startswith("_")])
        make_hostile(getattr(value, "calls", ()))


@pytest.mark.parametrize("has_memory_store", [False, True])
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("read", READS)
async def test_a_caller_that_changes_what_it_was_given_does_not_change_what_runs(
    tmp_path: Path, read: str, start: str, has_memory_store: bool
) -> None:
    parts: dict[str, Any] = {"store": MemoryStore()} if has_memory_store else {}
    here = world(tmp_path, runs(SAFE), DONE, **parts)
    context_id, (call,) = await waiting(here)
    make_hostile(await READS[read](here.runtime, context_id, call.id))
    await STARTS[start](here.runtime, context_id, call)
    await here.runtime.turns.rested(context_id)
    assert [name for name in ("safe", "hostile") if (tmp_path / name).exists()] == ["safe"]


@pytest.mark.parametrize("shares_arguments", [False, True])
async def test_a_preview_that_was_changed_is_not_what_runs(tmp_path: Path, shares_arguments: bool) -> None:
    here = world(tmp_path, runs("echo other"), DONE)
    context_id, (call,) = await waiting(here)
    preview = await here.runtime.calls.preview_edit(context_id, call.id, {"command": SAFE})
    arguments: dict[str, Any] = preview.arguments if shares_arguments else {"command": SAFE}
    decision = PersonsDecision(id=call.id, verdict="approve", digest=call.digest, arguments=arguments)
    make_hostile(preview)
    (record,) = await here.runtime.calls.decide(context_id, [decision], previewed={call.id: preview})
    await here.runtime.turns.rested(context_id)
    ran = HOSTILE if shares_arguments else SAFE
    assert record.arguments == {"command": ran}
    assert record.digest == (await here.runtime.calls.get(context_id, call.id)).digest
    assert (record.digest == preview.digest) is not shares_arguments, "the digest is that of what ran"


async def test_a_preview_for_another_conversation_is_not_what_runs(tmp_path: Path) -> None:
    here = world(tmp_path, runs("echo one"), runs("echo two"), DONE, DONE)
    context_id, (call,) = await waiting(here)
    other_id, (other,) = await waiting(here)
    preview = await here.runtime.calls.preview_edit(other_id, other.id, {"command": SAFE})
    decision = PersonsDecision(id=call.id, verdict="approve", arguments={"command": SAFE})
    (record,) = await here.runtime.calls.decide(context_id, [decision], previewed={call.id: preview})
    assert (record.id, record.arguments) == (call.id, {"command": SAFE})
    assert record.digest != preview.digest
    assert [each.id for each in await here.runtime.calls.pending(other_id)] == [other.id]
