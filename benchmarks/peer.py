"""LangGraph as a peer, in an environment of its own: peer.py ADDRESS MEASURE [--messages N]. Prints one JSON line.

Each turn runs on a thread of its own that already holds N messages, saved with durability="sync" into a SQLite
file on disk, and is consumed as a stream of messages.
"""

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

os.environ |= dict.fromkeys(("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"), "false")

from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, interrupt

RUNS = {"delta": 5, "tool_round": 15, "approval": 15, "history": 3, "bytes": 1}
PROMPTS = {"tool_round": "tool please", "approval": "tool please"}


class Peer:
    """The graph agent -> noop -> agent; when approvals are measured, noop interrupts first."""

    def __init__(self, arguments: argparse.Namespace, saver: AsyncSqliteSaver, path: Path) -> None:
        def noop(text: str) -> str:
            """Do nothing."""
            return str(interrupt({"text": text}) if arguments.measure == "approval" else text)

        async def agent(state: Any) -> Any:
            return {"messages": [await model.ainvoke(state["messages"])]}

        client: dict[str, Any] = {"base_url": arguments.address, "api_key": "unused", "max_retries": 0}
        model = ChatOpenAI(model="fake", streaming=True, timeout=60, **client).bind_tools([noop])
        graph = StateGraph(MessagesState).add_node("agent", agent).add_node("tools", ToolNode([noop]))
        graph.add_edge(START, "agent").add_conditional_edges("agent", tools_condition).add_edge("tools", "agent")
        self.graph = graph.compile(checkpointer=saver)
        self.messages, self.saver, self.path = arguments.messages, saver, path

    async def thread(self) -> Any:
        """A new thread holding the wanted number of messages of 200 characters."""
        config = {"configurable": {"thread_id": uuid4().hex}, "recursion_limit": 10}
        kinds = (HumanMessage, AIMessage)
        messages = [kinds[number % 2]("x" * 200, id=uuid4().hex) for number in range(self.messages)]
        if messages:
            await self.graph.aupdate_state(config, {"messages": messages}, as_node="agent")
        return config

    async def turn(self, config: Any, graph_input: Any) -> tuple[float, int]:
        """Milliseconds until the graph stopped, and the pieces of text that arrived."""
        value = {"messages": [HumanMessage(graph_input)]} if isinstance(graph_input, str) else graph_input
        pieces, began = 0, time.perf_counter()
        async for message, _ in self.graph.astream(value, config, stream_mode="messages", durability="sync"):
            pieces += isinstance(message, AIMessageChunk) and bool(message.content)
        return (time.perf_counter() - began) * 1000, pieces

    async def log_bytes(self) -> int:
        """Bytes in the write-ahead log since the last checkpoint."""
        await self.saver.setup()
        log = Path(f"{self.path}-wal").stat().st_size
        for pragma in ("wal_autocheckpoint=0", "wal_checkpoint(TRUNCATE)"):
            await (await self.saver.conn.execute(f"PRAGMA {pragma}")).close()
        return log


async def measure(peer: Peer, name: str) -> dict[str, float]:
    """Run one turn to warm up, then the counted ones."""
    taken, pieces, written = [], 1, 0
    for _ in range(RUNS[name] + 1):
        config = await peer.thread()
        if name == "bytes":
            await peer.log_bytes()
        milliseconds, pieces = await peer.turn(config, PROMPTS.get(name, "words please"))
        if name == "tool_round":
            plain, _ = await peer.turn(await peer.thread(), "words please")
            milliseconds -= plain
        if name == "approval":
            milliseconds, pieces = await peer.turn(config, Command(resume="yes"))
        if name == "bytes":
            written = await peer.log_bytes()
        taken.append(milliseconds)
    middle = statistics.median(taken[1:])
    return {"ms": middle, "us_per_delta": middle * 1000 / max(1, pieces), "bytes": written}


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("measure", choices=RUNS)
    parser.add_argument("--messages", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "peer.sqlite")
        async with asyncio.timeout(300), AsyncSqliteSaver.from_conn_string(str(path)) as saver:
            print(json.dumps(await measure(Peer(arguments, saver, path), arguments.measure)))


if __name__ == "__main__":
    asyncio.run(main())
