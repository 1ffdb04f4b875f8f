"""The first nine properties of the modes, with generated cases. The tenth is a state machine in tests/properties."""

import asyncio
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.domain.calls import Approval, call_digest, display_name, fingerprint_of
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.decisions import CallFacts, PolicySnapshot, decide, is_offered
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.modes import Modes, Verdict
from pilothouse.domain.value import CallId, ContextId
from pilothouse.i18n import catalog_of, translate
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.world import World

MODES = Modes()
names = st.sampled_from(list(MODES.all))
effects = st.sampled_from(["read_only", "mutating", "question", "unknown"])
kinds = st.lists(st.sampled_from(["look", "change"]), min_size=1, max_size=6)


def calls_of(kinds: list[str]) -> tuple[ScriptedCall, ...]:
    return tuple(ScriptedCall(tool=kind, arguments={"text": str(n)}) for n, kind in enumerate(kinds))


def in_a_world(*answers: Answer, story: Any, store_in: str | None = None) -> Any:
    """Run an async story in a fresh world and folder."""
    with tempfile.TemporaryDirectory() as folder:
        store = FileStore(Path(folder) / "data", now=lambda: "") if store_in == "files" else None

        async def run() -> Any:
            world = World(Path(folder), *answers, store=store)
            result = await story(world)
            await world.runtime.close()
            return result

        return asyncio.run(run())


@given(chosen=st.lists(st.sampled_from([*MODES._by_any_name]), min_size=1, max_size=5))
@settings(deadline=None, max_examples=25)
def test_1_and_8_a_selected_mode_holds_at_once_and_after_a_reload(chosen: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:

        async def story() -> None:
            world = World(Path(folder), store=FileStore(Path(folder) / "data", now=lambda: ""))
            context_id = await world.start()
            for name in chosen:
                await world.runtime.modes.switch(context_id, name)
                assert (await world.runtime.contexts.get(context_id)).core.mode == MODES.named(name).name
            await world.runtime.close()
            again = World(Path(folder), store=FileStore(Path(folder) / "data", now=lambda: ""))
            assert (await again.runtime.contexts.get(context_id)).core.mode == MODES.named(chosen[-1]).name
            await again.runtime.close()

        asyncio.run(story())


@given(kinds=kinds)
@settings(deadline=None, max_examples=25)
def test_2_in_agent_a_call_runs_without_ever_becoming_pending(kinds: list[str]) -> None:
    async def story(world: World) -> None:
        context_id = await world.start("agent")
        await world.turn(context_id)
        assert len(world.look.ran) + len(world.change.ran) == len(kinds)
        assert "awaiting_tool_approval" not in world.states

    in_a_world(Answer(calls=calls_of(kinds)), Answer(text="x"), story=story)


@given(kinds=kinds)
@settings(deadline=None, max_examples=25)
def test_3_in_supervised_no_call_runs_before_its_approval(kinds: list[str]) -> None:
    async def story(world: World) -> None:
        context_id = await world.start("supervised")
        await world.turn(context_id)
        for approved, call in enumerate(await world.runtime.calls.pending(context_id)):
            assert len(world.look.ran) + len(world.change.ran) <= approved
            await world.runtime.calls.decide(context_id, [PersonsDecision(id=call.id, verdict="approve")])
        await world.runtime.turns.rested(context_id)
        assert len(world.look.ran) + len(world.change.ran) == len(kinds)

    in_a_world(Answer(calls=calls_of(kinds)), Answer(text="x"), story=story)


@given(kinds=kinds)
@settings(deadline=None, max_examples=25)
def test_4_in_ask_no_request_carries_tools_and_the_prompt_says_to_only_answer(kinds: list[str]) -> None:
    async def story(world: World) -> None:
        context_id = await world.start("agent")
        await world.turn(context_id)
        await world.turn(context_id, mode="ask")
        request = world.model.requests[-1]
        assert request.tools == ()
        assert "only answer questions" in request.system
        assert not any(b"tool_call" in fragment for fragment in request.messages)

    in_a_world(Answer(calls=calls_of(kinds)), Answer(text="x"), Answer(text="y"), story=story)


@given(mode=names, effect=effects, given_in=st.none() | names, same=st.booleans(), limited=st.booleans())
def test_5_no_approval_overrides_a_deny_and_only_a_person_approves_an_ask(
    mode: str, effect: Any, given_in: str | None, same: bool, limited: bool
) -> None:
    limit = Reason(Code.PROTECTED_PATH, {"path": "x"}) if limited else None
    facts = CallFacts(tool="t", effect=effect, digest="d", violation=limit)
    approval = Approval(by="me", at="", digest="d" if same else "other", mode=given_in) if given_in else None
    alone = decide(facts, PolicySnapshot(mode=MODES.named(mode)))
    decided = decide(facts, PolicySnapshot(mode=MODES.named(mode)), approval)
    if alone.verdict is not Verdict.ASK:
        assert decided == alone
    elif decided.verdict is Verdict.ALLOW:
        assert (given_in, same) == (mode, True)
        assert effect != "question"
    if limited or mode == "ask" or (mode == "plan" and effect == "mutating"):
        assert decided.verdict is Verdict.DENY
    if mode == "review" and effect == "mutating":
        assert alone.verdict in (Verdict.ASK, Verdict.DENY)


def test_5_plan_denies_a_command_that_claims_to_only_read() -> None:
    facts = CallFacts(tool="execute", effect="read_only", digest="d")
    assert decide(facts, PolicySnapshot(mode=MODES.named("plan"))).ends_turn
    assert decide(facts, PolicySnapshot(mode=MODES.named("review"))).verdict is Verdict.ALLOW


@given(mode=names, tool=st.sampled_from(["execute", "other"]), effect=effects)
def test_5_tools_that_plan_and_ask_offer(mode: str, tool: str, effect: Any) -> None:
    offered = is_offered(tool, effect, PolicySnapshot(mode=MODES.named(mode)))
    if mode == "ask":
        assert not offered
    if mode == "plan":
        assert offered == (effect in ("read_only", "question") and tool != "execute")


@given(kinds=kinds, verdicts=st.data())
@settings(deadline=None, max_examples=40)
def test_6_approval_runs_once_and_removes_rejection_never_runs_and_removes(
    kinds: list[str], verdicts: st.DataObject
) -> None:
    chosen: list[Any] = [verdicts.draw(st.sampled_from(["approve", "reject"])) for _ in kinds]

    async def story(world: World) -> None:
        context_id = await world.start("supervised")
        await world.turn(context_id)
        for verdict, call in zip(chosen, await world.runtime.calls.pending(context_id), strict=True):
            await world.runtime.calls.decide(context_id, [PersonsDecision(id=call.id, verdict=verdict)])
            assert call.id not in [left.id for left in await world.runtime.calls.pending(context_id)]
        await world.runtime.turns.rested(context_id)
        expected = sorted(str(n) for n, verdict in enumerate(chosen) if verdict == "approve")
        assert sorted(world.look.ran + world.change.ran) == expected

    in_a_world(Answer(calls=calls_of(kinds)), Answer(text="x"), story=story)


@given(kinds=kinds, approve=st.booleans())
@settings(deadline=None, max_examples=25)
def test_7_a_batch_over_n_pending_handles_n(kinds: list[str], approve: bool) -> None:
    async def story(world: World) -> None:
        context_id = await world.start("supervised")
        await world.turn(context_id)
        batch = world.runtime.calls.approve_all if approve else world.runtime.calls.reject_all
        decided = await batch(context_id)
        assert len(decided) == len(kinds)
        assert all(call.status != "pending" for call in decided)
        await world.runtime.turns.rested(context_id)
        assert await world.runtime.calls.pending(context_id) == []

    in_a_world(Answer(calls=calls_of(kinds)), Answer(text="x"), story=story)


words = st.lists(st.from_regex(r"[a-z]{2,8}", fullmatch=True), min_size=1, max_size=4)


@given(words=words)
def test_9_snake_camel_and_kebab_names_become_the_same_readable_words(words: list[str]) -> None:
    shown = display_name("_".join(words))
    assert shown.lower() == " ".join(words)
    assert display_name("-".join(words)) == shown
    assert display_name(words[0] + "".join(word.capitalize() for word in words[1:])).lower() == shown.lower()
    assert all(word[0].isupper() for word in shown.split())


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("read_file", "Read File"),
        ("readFile", "Read File"),
        ("read-file", "Read File"),
        ("parseJSON", "Parse JSON"),
        ("HTTPServer2", "HTTP Server2"),
        ("get_url_v2", "Get URL V2"),
        ("base64Encode", "Base64 Encode"),
        ("查找文件", "查找文件"),
        ("", ""),
        ("__", "__"),
    ],
)
def test_9_digits_and_acronyms_stay_legible(name: str, shown: str) -> None:
    assert display_name(name) == shown


@given(tool=st.text(), arguments=st.dictionaries(st.text(), st.integers() | st.text()))
def test_a_digest_names_one_call_in_one_context_with_these_arguments(tool: str, arguments: dict[str, Any]) -> None:
    fingerprint = fingerprint_of(tool, arguments)
    assert fingerprint == fingerprint_of(tool, dict(reversed(arguments.items())))
    assert fingerprint != fingerprint_of(tool, {**arguments, "one more": 1})
    one = call_digest(ContextId("a"), CallId("1"), "/w", fingerprint)
    others = {
        call_digest(ContextId("b"), CallId("1"), "/w", fingerprint),
        call_digest(ContextId("a"), CallId("2"), "/w", fingerprint),
        call_digest(ContextId("a"), CallId("1"), "/x", fingerprint),
    }
    assert one not in others


def test_an_unknown_mode_is_refused_with_what_is_allowed() -> None:
    with pytest.raises(InvalidInput, match="agent, supervised, review, plan, ask"):
        MODES.named("yolo")


@pytest.mark.parametrize("code", list(Code))
def test_every_code_has_words_in_both_languages_with_the_same_parameters(code: Code) -> None:
    english, chinese = (catalog_of(language).codes[code] for language in ("en", "zh"))
    fields = [set(re.findall(r"\{(\w+)", text)) for text in (english, chinese)]
    assert fields[0] == fields[1]
    assert translate(Reason(code))
    assert re.search(r"[\u4e00-\u9fff]", translate(Reason(code), "zh"))
