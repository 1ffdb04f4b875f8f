"""Decisions at the cards of one round: leaving, rules, refusals, sub-agents."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.runtime.events.turn_events import branch_end
from pilothouse.terminal import repl
from pilothouse.testing.world import World
from tests.cli.test_main import Command
from tests.support.scale import HANG_SECONDS
from tests.terminal.test_cards import resize
from tests.terminal.test_steering import Terminal

QUESTION = "y = approve,"
DONE = {"text": "Done."}


def runs(*commands: str) -> dict[str, Any]:
    return {"calls": [{"tool": "execute", "arguments": {"command": command}} for command in commands]}


def writes(*paths: str, content: str = "x\n") -> dict[str, Any]:
    return {"calls": [{"tool": "write_file", "arguments": {"path": path, "content": content}} for path in paths]}


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


@contextmanager
def conversation(command: Command, *answers: dict[str, Any]) -> Iterator[Terminal]:
    terminal = Terminal(command, "--mode", "supervised", "--model", command.script(*answers))
    resize(terminal, 50, 160)
    try:
        terminal.wait_for(" › ")
        yield terminal
    finally:
        terminal.close()


def answer(terminal: Terminal, line: str) -> str:
    """Answer the next card. Returns the output since the previous answer."""
    shown = terminal.wait_for(QUESTION) + terminal.wait_for("later > ")
    terminal.type(line)
    return shown


def files(command: Command) -> set[str]:
    return {path.name for path in command.workspace.rglob("*") if path.is_file() and path.name != "a.txt"}


def test_decisions_before_quitting_the_cards_are_applied_and_the_rest_waits(command: Command) -> None:
    with conversation(command, writes("one", "two", "three", "four"), DONE) as terminal:
        terminal.type("go")
        for line in ("y", "n", "q"):
            answer(terminal, line)
        output = terminal.wait_for(" › ")
        assert "Applied: 1 approved, 1 rejected." in output
        assert "✓ write_file one: Wrote 2 bytes" in output
        assert "need approval (2):\r\n│ · write_file three\r\n│ · write_file four\r\n" in output
        assert files(command) == {"one"}
        terminal.type("")
        assert "+++ three" in answer(terminal, "y")
        assert "+++ four" in answer(terminal, "n")
        terminal.wait_for("Done.")
    assert files(command) == {"one", "three"}


def test_a_call_approved_before_quit_finishes(command: Command) -> None:
    line = "echo under$((1+1))way; until test -e seen; do sleep 0.01; done; touch ended"
    with conversation(command, runs(line, "touch other"), DONE) as terminal:
        terminal.type("go")
        answer(terminal, "y")
        answer(terminal, "/quit")
        terminal.wait_for("Applied: 1 approved.")
        terminal.wait_for("under2way")
        (command.workspace / "seen").touch()
        output = terminal.wait_for("pilothouse --context")
        assert "│ · execute touch other" in output
        assert terminal.process.wait(20) == 0
    assert files(command) == {"seen", "ended"}


def test_ctrl_c_at_a_card_applies_nothing(command: Command) -> None:
    with conversation(command, writes("one", "two"), DONE) as terminal:
        terminal.type("go")
        answer(terminal, "y")
        terminal.wait_for("later > ")
        terminal.process.send_signal(signal.SIGINT)
        assert "decisions on these actions (1) weren't applied" in terminal.wait_for("Cancelled.")
        terminal.wait_for(" › ")
    assert files(command) == set()


def test_ctrl_c_at_the_list_of_rules_does_not_make_leaving_a_cancel(command: Command) -> None:
    with conversation(command, writes("one"), DONE) as terminal:
        terminal.type("go")
        answer(terminal, "!")
        terminal.wait_for("Which rule?")
        terminal.process.send_signal(signal.SIGINT)
        answer(terminal, "q")
        assert "Cancelled." not in terminal.wait_for("Press Enter to review")


def test_decisions_before_the_end_of_the_input_are_applied(command: Command) -> None:
    model = command.script(writes("one", "two"), DONE)
    code, output, _ = command.run("--mode", "supervised", "--model", model, stdin="go\ny\n")
    assert (code, "Applied: 1 approved." in output, files(command)) == (0, True, {"one"})


def test_an_edit_that_is_refused_costs_no_other_decision(command: Command) -> None:
    model = command.script(writes("one", "two"), DONE)
    stdin = 'go\ny\ne\n{"path": "two", "text": "no such argument"}\ny\no\ny\n/quit\n'
    code, output, _ = command.run("--mode", "supervised", "--model", model, stdin=stdin)
    assert (code, files(command)) == (0, {"one", "two"})
    assert output.count("+++ one") == 1
    assert output.count("+++ two") == 2


def test_approve_all_approves_only_the_first_call_unless_confirmed(command: Command) -> None:
    model = command.script(writes("one", "two", "three"), writes("four", "five"), DONE)
    stdin = "go\na\nq\n/cancel\ngo\na\nn\n/quit\n"
    _, output, _ = command.run("--mode", "supervised", "--model", model, stdin=stdin)
    assert files(command) == {"one", "four"}
    assert output.count("Applied: 1 approved.") == 2


@pytest.mark.parametrize("rule", ["! 2", "! 5"], ids=["in this conversation", "permanently"])
def test_a_rule_given_at_a_card_answers_the_other_cards_that_it_covers(command: Command, rule: str) -> None:
    calls = [*writes("docs/one", "docs/two", "elsewhere", "docs/three")["calls"]]
    overwrite = writes("docs/old", content="gone\n")["calls"]
    (command.workspace / "docs").mkdir()
    (command.workspace / "docs/old").write_text("kept")
    with conversation(command, {"calls": [*calls, *overwrite]}, DONE) as terminal:
        terminal.type("go")
        answer(terminal, rule)
        shown = answer(terminal, "n")
        for path in ("docs/two", "docs/three"):
            card = shown[shown.index(f"+++ {path}") :]
            assert "Your rule allows this action:\r\n│ always allow write_file [docs/]" in card[: card.index("▸")]
        assert shown.rindex("+++ elsewhere") > shown.rindex("Your rule")
        assert files(command) == {"old"}, "nothing starts while the person reads"
        assert "+++ docs/old" in answer(terminal, "q"), "what is dangerous has an answer of its own"
        output = terminal.wait_for(" › ")
        assert "Applied: 1 approved, 1 rejected, 2 allowed by your rule." in output
        assert "│ · write_file docs/old" in output
        terminal.type("/why")
        assert "Allowed by a rule" in terminal.wait_for(" › ")
    assert files(command) == {"one", "two", "three", "old"}
    assert (command.workspace / "docs/old").read_text() == "kept"


def test_a_call_that_only_a_person_may_allow_is_asked_about_whatever_rule_was_given(command: Command) -> None:
    with conversation(command, writes("docs/one", ".vscode/tasks.json", "docs/two"), DONE) as terminal:
        terminal.type("go")
        answer(terminal, "! 3")
        shown = answer(terminal, "n")
        assert shown.index("Your rule allows this action") < shown.index("+++ .vscode/tasks.json")
        terminal.wait_for("Done.")
    assert files(command) == {"one", "two"}


def test_a_rule_starts_no_call_that_was_not_read_to_its_end(command: Command) -> None:
    long = writes("docs/long", content="line\n" * 200)["calls"]
    with conversation(command, {"calls": [*writes("docs/one", "docs/two")["calls"], *long]}, DONE) as terminal:
        terminal.type("go")
        answer(terminal, "! 2")
        terminal.wait_for("More to read")
        terminal.wait_for("later > ")
        terminal.press(" ")
        terminal.wait_for("next page (2 of")
        terminal.wait_for("later > ")
        terminal.type("q")
        output = terminal.wait_for(" › ")
        assert "Applied: 1 approved, 1 allowed by your rule." in output
        assert "│ · write_file docs/long" in output
    assert files(command) == {"one", "two"}


def test_leaving_the_cards_of_a_sub_agent_applies_nothing_with_a_notice(command: Command) -> None:
    outer = {"calls": [{"tool": "delegate", "arguments": {"task": "write"}}]}
    model = command.script(outer, writes("one", "two"), DONE)
    _, output, _ = command.run("--mode", "review", "--model", model, stdin="go\ny\nq\n/quit\n")
    assert "decisions on these actions (1) weren't applied" in output
    assert "Cancelled." in output
    assert files(command) == set()


class _ApprovesAtCards:
    """Lines of a person who approves every card; `meanwhile` happens before the first answer."""

    was_interrupted = is_asking = False

    def __init__(self, meanwhile: Callable[[], Awaitable[object]]) -> None:
        self._meanwhile = [meanwhile]

    async def ask_now(self, _: str) -> str:
        while self._meanwhile:
            await self._meanwhile.pop()()
        return "y"

    ask_page = ask_now

    def is_leaving(self, _: str) -> bool:
        return False

    async def next_unprompted_line(self) -> str:
        await asyncio.Event().wait()
        return ""


async def test_a_call_that_was_decided_elsewhere_meanwhile_costs_no_other_decision(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = tuple(ScriptedCall(tool="change", arguments={"text": text}) for text in ("one", "two", "three"))
    world = World(tmp_path, Answer(text="I will", calls=calls), Answer(text="done"))
    async with world.runtime, asyncio.timeout(HANG_SECONDS):
        context_id = await world.start("supervised")
        await world.turn(context_id)
        _, second, _ = await world.runtime.calls.pending(context_id)
        rejects = [PersonsDecision(second.id, "reject", second.digest)]
        lines = _ApprovesAtCards(lambda: world.runtime.calls.decide(context_id, rejects))
        monkeypatch.setattr(repl, "LineReader", lambda: lines)
        conversation = repl.Conversation(world.runtime, context_id, "en")
        await conversation._show_until_idle(branch_end(await world.runtime.contexts.get(context_id)))
        assert capsys.readouterr().out.count("already decided") == 1, "the refusal is told once"
        statuses = {call.arguments["text"]: call.status for call in await world.dependencies.store.calls(context_id)}
        assert statuses == {"one": "executed", "two": "rejected", "three": "executed"}


def test_the_exact_rule_is_shown_whole_before_it_is_given_and_marked_in_the_list(command: Command) -> None:
    line = f"touch {'a' * 100} {'b' * 100} {'c' * 100}; touch END"
    with conversation(command, runs(line), DONE) as terminal:
        terminal.type("go")
        answer(terminal, "!")
        assert "touch END" in terminal.wait_for("Which rule?")
        terminal.type("1")
        terminal.wait_for("Done.")
        terminal.wait_for(" › ")
        terminal.type("/rules")
        terminal.wait_for("… (")
        terminal.wait_for("characters)]")


def test_a_card_offers_no_rule_where_none_can_allow_the_call(command: Command) -> None:
    terminal = Terminal(command, "--mode", "review", "--model", command.script(writes("one"), DONE))
    try:
        terminal.wait_for(" › ")
        terminal.type("go")
        assert "always" not in answer(terminal, "!")
        terminal.wait_for("No rule can allow this action")
    finally:
        terminal.close()
