"""Data of an earlier version opens and works: `tests/fixtures/make_data.py` describes the archives."""

from pathlib import Path

import msgspec
import pytest

from pilothouse.app import build_runtime
from pilothouse.config.credentials import Credentials
from pilothouse.domain.messages import ErrorMessage, Text, ToolResult
from pilothouse.domain.states import AwaitingToolApproval, AwaitingUserAnswer, Idle
from pilothouse.llm.script import Answer, Script
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.runtime import Runtime
from pilothouse.server.tokens import Tokens
from pilothouse.session.manager import SessionManager
from pilothouse.settings import read_settings
from pilothouse.system.ambient import SystemAmbient
from pilothouse.tools.mcp.servers import AcceptedTools
from tests.fixtures.old_data import FORMATS, OldData, unpack_data
from tests.support.assertions import content_of
from tests.support.live_contexts import live_context

CONTEXTS = {"history", "compressed", "approval", "question", "family", "interrupted"}


@pytest.fixture(params=FORMATS, ids="format {}".format)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> OldData:
    return unpack_data(tmp_path, request.param)


def opened(old: OldData, *answers: Answer) -> Runtime:
    environment = {"PATH": "/usr/bin:/bin", "PILOTHOUSE_MODEL": "demo"}
    config = str(old.data.parent / "config.toml")
    settings = read_settings(environment, data_dir=str(old.data), config=config)
    return build_runtime(settings, environment, adapter=ScriptedAdapter(Script(turn=answers)))


async def test_every_conversation_of_earlier_formats_is_listed_and_every_message_reads(old: OldData) -> None:
    async with opened(old) as runtime:
        listed = (await runtime.contexts.list()).items
        assert {item.context_id for item in listed} == CONTEXTS
        assert all(item.damage is None for item in listed)
        children = (await runtime.contexts.list(parent="family")).items
        assert len(children) == 1
        for item in (*listed, *children):
            live = await live_context(runtime, item.context_id)
            for branch in live.branches:
                messages = await runtime.messages.read(item.context_id, branch=branch, limit=200)
                damaged = [each for each in messages if isinstance(each, ErrorMessage) and not each.timestamp]
                assert not damaged
                assert len(messages) == live.branches[branch].length
            assert (await runtime.contexts.audit(item.context_id)).chain.whole
            await runtime.calls.read(item.context_id)
        assert set((await runtime.contexts.get("history")).branches) == {"main", "another"}
        assert len((await runtime.contexts.get("history")).core.pins) == 1
        assert len((await runtime.contexts.get("compressed")).branches) == 2  # the branch, and its original list


async def test_a_pending_call_of_earlier_formats_is_approved_and_runs_and_the_queue_continues(old: OldData) -> None:
    async with opened(old, Answer(text="Written."), Answer(text="And the queued one.")) as runtime:
        assert isinstance((await runtime.contexts.get("approval")).state, AwaitingToolApproval)
        (call,) = await runtime.calls.pending("approval")
        assert [content_of(queued.messages[0]) for queued in await runtime.queue.read("approval")] == [
            "This one was queued"
        ]
        await runtime.calls.approve_all("approval")
        live = await runtime.turns.rested("approval")
        assert isinstance(live.state, Idle)
        assert (old.workspace / "approved.txt").read_text() == "It was approved.\n"
        assert (await runtime.calls.get("approval", call.id)).status == "executed"
        texts = [each.content for each in await runtime.messages.read("approval") if isinstance(each, Text)]
        assert texts[-3:] == ["Written.", "This one was queued", "And the queued one."]
        await runtime.workspaces.undo("approval")
        assert not (old.workspace / "approved.txt").exists()


async def test_an_open_question_of_earlier_formats_is_answered(old: OldData) -> None:
    async with opened(old, Answer(text="Blue it is.")) as runtime:
        assert isinstance((await runtime.contexts.get("question")).state, AwaitingUserAnswer)
        await runtime.calls.answer("question", ["blue"])
        await runtime.turns.rested("question")
        assert content_of((await runtime.messages.read("question"))[-1]) == "Blue it is."


async def test_whole_outputs_and_undo_data_of_earlier_formats_are_found(old: OldData) -> None:
    async with opened(old) as runtime:
        calls = (await runtime.calls.read("history")).items
        (command,) = [call for call in calls if call.tool == "execute"]
        output = await runtime.calls.output("history", command.id)
        assert output.read_text().splitlines()[11_999] == "12000"
        assert (await runtime.workspaces.undo("history")).paths == ("notes.txt",)
        assert (old.workspace / "notes.txt").read_text() == "the second note\n"
        assert set((await runtime.workspaces.undo("history")).paths) == {"made.txt", "other.txt"}
        assert (old.workspace / "other.txt").read_text() == "as it was\n"
        assert not (old.workspace / "made.txt").exists()
        assert (await runtime.workspaces.undo("history")).paths == ("notes.txt",)
        assert (old.workspace / "notes.txt").read_text() == "the first note\n"


async def test_a_turn_that_a_kill_cut_off_in_an_earlier_format_is_marked_as_interrupted(old: OldData) -> None:
    async with opened(old) as runtime:
        live = await runtime.contexts.get("interrupted")
        assert isinstance(live.state, Idle)
        assert live.core.last_turn == "interrupted"
        partial = [each for each in await runtime.messages.read("interrupted") if isinstance(each, Text)][-1]
        assert (partial.content, partial.ended) == ("This answer was never ", "interrupted")


async def test_documents_of_users_from_earlier_formats_are_read(old: OldData) -> None:
    async with opened(old) as runtime:
        (rule,) = await runtime.rules.read()
        assert (rule.effect, rule.scope.words) == ("deny", ("rm",))
        assert len(await runtime.rules.read("history")) == 2
        assert (await runtime.workspaces.trust_status("history")).status == "trusted"
        session = await SessionManager(runtime).get("local")
        assert [tab.title for tab in session.open_contexts] == ["Old: history", "Old: compressed", "Old: approval"]
        assert (session.active_context_id, session.preferences.theme) == ("history", "dark")
        results = [each for each in await runtime.messages.read("family") if isinstance(each, ToolResult)]
        assert results[0].content == "It holds a note."
    assert AcceptedTools(old.data / "accepted_tools.json").accepted_definition("docs", "search") == "0" * 64
    setup = Credentials(old.data / "credentials.json").read()
    assert setup is not None
    assert msgspec.structs.asdict(setup)["model"] == "some-model"


def test_tokens_that_were_stored_in_clear_still_sign_in_and_are_stored_as_hashes(tmp_path: Path) -> None:
    old = unpack_data(tmp_path, 3)
    clear = msgspec.json.decode((old.data / "tokens.json").read_bytes(), type=dict[str, str])
    assert set(clear) == {"local", "ada"}
    tokens = Tokens(old.data / "tokens.json", SystemAmbient())
    assert {user: tokens.user_of(token) for user, token in clear.items()} == {"local": "local", "ada": "ada"}
    tokens.prepare()
    stored = (old.data / "tokens.json").read_text()
    assert not [token for token in clear.values() if token in stored], "a server leaves no token in clear"
    assert {user: tokens.user_of(token) for user, token in clear.items()} == {"local": "local", "ada": "ada"}
