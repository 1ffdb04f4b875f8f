"""Prints every figure as a ratio to a baseline of the same run. Machines are noisy: under 1.5 is a tie."""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from benchmarks import figures, overview, page, prefix, server, steering, tokens, tools, window

Figure = Callable[[Path], Awaitable[figures.Row | list[figures.Row]]]

ALL: list[Figure] = [
    figures.delta,
    figures.first_token,
    figures.tool_round,
    figures.tool_round_in_process,
    figures.approval,
    figures.history_warm,
    figures.history_cold,
    figures.history_huge,
    figures.bytes_per_turn,
    figures.hundred_streams,
    figures.start_up,
    figures.idle_memory,
    steering.decision,
    steering.listing,
    steering.merging,
    steering.delegation,
    tools.judging,
    tools.commands,
    tools.remembering,
    tools.searching,
    window.rounds,
    window.deciding,
    prefix.shares,
    tokens.counting,
    overview.workspace_overview,
    server.chat_stream,
    server.one_pull,
    server.served_streams,
    server.delta_to_client,
    server.served_memory,
    server.served_start,
    page.page,
]


async def main(names: list[str]) -> None:
    print(f"{'figure':<44}{'ours':>14}{'floor':>14}{'x floor':>9}{'LangGraph':>14}{'ahead':>9}  goal")
    for figure in ALL:
        if names and figure.__name__ not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            rows = await figure(Path(folder))
        for row in rows if isinstance(rows, list) else [rows]:
            print(row.line(), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
