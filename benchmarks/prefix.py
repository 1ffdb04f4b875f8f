"""Figures about the prompt prefix: the part of each request with which the next one begins. Providers bill a repeated
prefix at a fraction."""

from collections.abc import Sequence
from pathlib import Path

from tests.support.mcp_tools import builtin_tools_for_world
from tests.support.prompt_prefixes import RecordingProvider

from benchmarks.figures import Row
from pilothouse.domain.budgets import OverviewSettings
from pilothouse.domain.payloads import ClientMetadata, DataContext, MessageAttachments
from pilothouse.llm.openai import OpenAIAdapter
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.testing.world import World

_ROUNDS = 20
_TURNS = 10
_DONE = Answer(text="Done. " * 20)
_DATA = MessageAttachments(DataContext("a table", "t.csv", "x,y\n" * 100))


async def shares(folder: Path) -> list[Row]:
    """Each round writes a file, so that the overview is made again before each request; each turn has other open
    files."""
    within = await _shares(folder / "within", [_ROUNDS])
    between = await _shares(folder / "between", [1] * _TURNS)
    attached = await _shares(folder / "attached", [_ROUNDS], attached=_DATA)
    switched = await _shares(folder / "switched", [1, 1], modes=("agent", "plan"))
    goal = ">= 0.99"
    return [
        _row(f"prefix kept, {_ROUNDS} rounds that write files", min(within), goal),
        _row(f"prefix kept, {_TURNS} turns, other open files", min(between), goal),
        _row("the same rounds with attached data", min(attached), "printed only"),
        _row("prefix kept at a switch of the mode", switched[1], "printed only"),
    ]


def _row(name: str, share: float, goal: str) -> Row:
    return Row(name=name, unit="", ours=share, goal=goal)


async def _shares(
    folder: Path,
    rounds: Sequence[int],
    *,
    modes: Sequence[str | None] = (),
    attached: MessageAttachments | None = None,
) -> list[float]:
    """The shares of a conversation with one turn for each number of rounds."""
    folder.mkdir()
    answers = [answer for turn, count in enumerate(rounds) for answer in (*_writes(turn, count), _DONE)]
    async with RecordingProvider(*answers) as provider:
        world = World(
            folder,
            adapter=OpenAIAdapter(provider.base_url, None),
            tools=builtin_tools_for_world(),
            overview=OverviewSettings(every=1),
        )
        async with world.runtime:
            context_id = await world.start()
            for turn in range(len(rounds)):
                opened = ClientMetadata(extra={"open_files": [f"n{turn}.py"]})
                mode = modes[turn] if modes else None
                await world.turn(context_id, client_metadata=opened, mode=mode, attached=attached)
    return provider.shares()


def _writes(turn: int, count: int) -> list[Answer]:
    paths = [f"n{turn}-{number}.py" for number in range(count)]
    return [
        Answer(calls=(ScriptedCall(tool="write_file", arguments={"path": path, "content": path}),)) for path in paths
    ]
