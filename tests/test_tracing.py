"""Traces of turns, rounds and tool calls: their attributes, without any content, and their export."""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pilothouse.domain.messages import Usage
from pilothouse.domain.states import State
from pilothouse.domain.value import ContextId
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.system.ambient import SystemAmbient
from pilothouse.testing.ambient import ManualAmbient
from pilothouse.testing.world import World
from pilothouse.tracing import Tracing, tracing_from
from tests.support.assertions import present
from tests.support.held_store import DONE, calls_answer
from tests.support.scale import HANG_SECONDS

SECRET = "the plum is ripe"


def traced(workspace: Path, *answers: Answer) -> tuple[World, InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing = Tracing(
        provider.get_tracer("test"), ManualAmbient(), lambda named: world.runtime.contexts.model_in_memory(named)
    )
    world = World(workspace, *answers, trace_change=tracing.committed, models=["other"])
    before = present(world.dependencies.trace)

    def trace(context_id: ContextId, state: State) -> None:
        before(context_id, state)
        tracing.entered(context_id, state)

    object.__setattr__(world.dependencies, "trace", trace)
    return world, exporter


def named(exporter: InMemorySpanExporter) -> dict[str, list[ReadableSpan]]:
    by_name: dict[str, list[ReadableSpan]] = {}
    for span in exporter.get_finished_spans():
        by_name.setdefault(span.name, []).append(span)
    return by_name


async def test_a_turn_has_spans_of_its_rounds_and_calls_with_the_conventions_attributes(tmp_path: Path) -> None:
    request = Answer(
        calls=(ScriptedCall(tool="change", arguments={"text": SECRET}),), usage=Usage(input_tokens=9, output_tokens=4)
    )
    world, exporter = traced(tmp_path, request, Answer(text=SECRET))
    async with world.runtime:
        context_id = await world.start()
        await world.turn(context_id, SECRET)
    spans = named(exporter)
    assert {name: len(each) for name, each in spans.items()} == {
        "invoke_agent pilothouse": 1,
        "chat test": 2,
        "execute_tool change": 1,
    }
    (turn,) = spans["invoke_agent pilothouse"]
    assert present(turn.attributes)["gen_ai.conversation.id"] == context_id
    for child in (*spans["chat test"], *spans["execute_tool change"]):
        assert present(child.parent).span_id == turn.context.span_id
    first = present(spans["chat test"][0].attributes)
    assert (first["gen_ai.operation.name"], first["gen_ai.request.model"]) == ("chat", "test")
    assert (first["gen_ai.usage.input_tokens"], first["gen_ai.usage.output_tokens"]) == (9, 4)
    (call,) = spans["execute_tool change"]
    assert (present(call.attributes)["gen_ai.tool.name"], present(call.attributes)["pilothouse.status"]) == (
        "change",
        "executed",
    )
    assert all(SECRET not in span.to_json() for each in spans.values() for span in each)


async def test_a_turn_that_waits_has_a_span_before_and_one_after(tmp_path: Path) -> None:
    world, exporter = traced(tmp_path, calls_answer(("change", "a")), DONE)
    async with world.runtime:
        context_id = await world.start("supervised")
        await world.turn(context_id)
        (before,) = named(exporter)["invoke_agent pilothouse"]
        assert present(before.attributes)["pilothouse.state"] == "awaiting_tool_approval"
        await world.runtime.calls.approve_all(context_id)
        await world.runtime.turns.rested(context_id)
    after = named(exporter)["invoke_agent pilothouse"][1]
    assert present(after.attributes)["pilothouse.state"] == "idle"


async def test_a_span_names_the_model_that_is_asked(tmp_path: Path) -> None:
    world, exporter = traced(tmp_path, Answer(text="x"))
    async with world.runtime:
        context_id = await world.runtime.contexts.create(tmp_path, mode="agent", model="other")
        await world.turn(context_id)
    (span,) = named(exporter)["chat other"]
    assert present(span.attributes)["gen_ai.request.model"] == "other"


async def test_a_model_that_fails_is_an_error_on_its_span(tmp_path: Path) -> None:
    world, exporter = traced(tmp_path)
    async with world.runtime:
        context_id = await world.start()
        await world.turn(context_id)
    assert len(named(exporter)["invoke_agent pilothouse"]) == 1
    assert len(named(exporter)["chat test"]) == 1


async def test_spans_arrive_at_the_endpoint_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrived: asyncio.Queue[bytes] = asyncio.Queue()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        arrived.put_nowait(head.split(b"\r\n")[0] + await reader.readexactly(length))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
    assert tracing_from({}, SystemAmbient(), lambda _: "m") is None
    tracing = tracing_from({"OTEL_EXPORTER_OTLP_ENDPOINT": "x"}, SystemAmbient(), lambda _: "m")
    assert tracing is not None
    world = World(tmp_path, DONE, trace_change=tracing.committed)
    object.__setattr__(world.dependencies, "trace", tracing.entered)
    async with world.runtime, server:
        context_id = await world.start()
        await world.turn(context_id)
        body = await arrived.get()
        assert body.startswith(b"POST /v1/traces")
        assert context_id.encode() in body or b"chat m" in body


DEAD = """
import os
from pilothouse.system.ambient import SystemAmbient
from pilothouse.tracing import tracing_from

tracing = tracing_from(os.environ, SystemAmbient(), lambda: "m")
tracing._tracer.start_span("lost").end()
"""


@pytest.mark.parametrize("kind", ["nobody listens", "nobody answers"])
def test_a_dead_collector_does_not_delay_the_exit_and_is_reported_once(kind: str) -> None:
    """The exporter itself would wait and try again for an hour."""
    with socket.socket() as collector:
        collector.bind(("127.0.0.1", 0))
        if kind == "nobody answers":
            collector.listen()
        address = f"http://127.0.0.1:{collector.getsockname()[1]}"
        completed = subprocess.run(
            [sys.executable, "-c", DEAD],
            env={**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_EXPORTER_OTLP_TIMEOUT": "3600"},
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
        )
    assert completed.returncode == 0
    assert [line for line in completed.stderr.splitlines() if line.strip()] == [
        "the OpenTelemetry collector did not answer: the last traces are lost"
    ]


def test_remaining_spans_are_exported_at_the_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as collector:
        address = f"http://127.0.0.1:{collector.getsockname()[1]}"
        environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}
        with subprocess.Popen([sys.executable, "-c", DEAD], env=environment, stderr=subprocess.PIPE) as process:
            taken, _ = collector.accept()
            with taken:
                data = b""
                while b"lost" not in data:
                    data += taken.recv(65536)
                taken.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
                assert process.stderr is not None
                assert process.stderr.read() == b""
    assert process.returncode == 0
