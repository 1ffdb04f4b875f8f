"""OpenTelemetry traces of turns, rounds and tool calls, following the GenAI conventions, without any content.

Needs the extra `pilothouse[otel]`; OpenTelemetry's own environment variables enable it.
"""

import atexit
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.contexts import Change
from pilothouse.domain.messages import Message, Text, ToolRequest
from pilothouse.domain.states import (
    Failed,
    PreparingLLMRequest,
    ProcessingLLMResponse,
    State,
    TransientError,
    is_resting,
    name_of,
)
from pilothouse.domain.value import CallId, ContextId
from pilothouse.system.ambient import Ambient

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Span, Tracer

MAX_FLUSH_SECONDS = 1.0
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_LOG = logging.getLogger("pilothouse")


class _OpenTurn:
    """The open spans of a turn."""

    def __init__(self, span: "Span", context: Any) -> None:
        self.span = span
        self.context = context
        self.round: Span | None = None
        self.round_ended: int | None = None
        self.calls: dict[CallId, Span] = {}


class Tracing:
    """Receives every entered state and every commit. A turn that waits for a person ends its span and starts another
    one when it continues, so that no span includes waiting times."""

    def __init__(self, tracer: "Tracer", ambient: Ambient, model_of: Callable[[ContextId], str]) -> None:
        self._tracer = tracer
        self._ambient = ambient
        self._model_of = model_of
        self._turns: dict[ContextId, _OpenTurn] = {}

    def entered(self, context_id: ContextId, state: State) -> None:
        turn = self._turns.get(context_id)
        if is_resting(state):
            if turn is not None:
                self._end(self._turns.pop(context_id), state)
            return
        if turn is None:
            turn = self._turns[context_id] = self._begin(context_id)
        match state:
            case PreparingLLMRequest():
                self._end_round(turn)
                model = self._model_of(context_id)
                attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model}
                turn.round = self._start(f"chat {model}", turn, attributes)
            case ProcessingLLMResponse():
                turn.round_ended = self._now()
            case TransientError(error_type=reason) if turn.round is not None:
                turn.round.set_attribute("error.type", reason.code)
                self._end_round(turn)

    def committed(self, context_id: ContextId, change: Change) -> None:
        turn = self._turns.get(context_id)
        if turn is None:
            return
        for message in change.messages:
            self._record_answer(turn, message)
        for call in change.calls:
            self._record_call(turn, call)

    def _begin(self, context_id: ContextId) -> _OpenTurn:
        from opentelemetry.trace import set_span_in_context

        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "pilothouse",
            "gen_ai.conversation.id": context_id,
        }
        span = self._tracer.start_span("invoke_agent pilothouse", attributes=attributes, start_time=self._now())
        return _OpenTurn(span, set_span_in_context(span))

    def _start(self, name: str, turn: _OpenTurn, attributes: dict[str, str]) -> "Span":
        return self._tracer.start_span(name, context=turn.context, attributes=dict(attributes), start_time=self._now())

    def _record_answer(self, turn: _OpenTurn, message: Message) -> None:
        if turn.round is None or not isinstance(message, Text | ToolRequest) or message.role != "assistant":
            return
        if message.usage is not None:
            turn.round.set_attribute("gen_ai.usage.input_tokens", message.usage.input_tokens)
            turn.round.set_attribute("gen_ai.usage.output_tokens", message.usage.output_tokens)
        if message.finish_reason is not None:
            turn.round.set_attribute("gen_ai.response.finish_reasons", [message.finish_reason])
        self._end_round(turn)

    def _record_call(self, turn: _OpenTurn, call: CallRecord) -> None:
        if call.status == "executing" and call.id not in turn.calls:
            attributes = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": call.tool,
                "gen_ai.tool.call.id": call.id,
                "pilothouse.decided_by": call.decided_by or "",
            }
            turn.calls[call.id] = self._start(f"execute_tool {call.tool}", turn, attributes)
        elif not call.is_open and call.id in turn.calls:
            span = turn.calls.pop(call.id)
            span.set_attribute("pilothouse.status", call.status)
            if call.exit_status is not None:
                span.set_attribute("process.exit.code", call.exit_status)
            if call.status != "executed":
                span.set_attribute("error.type", call.reason.code if call.reason is not None else call.status)
            span.end(end_time=self._now())

    def _end_round(self, turn: _OpenTurn) -> None:
        if turn.round is not None:
            turn.round.end(end_time=turn.round_ended or self._now())
        turn.round = turn.round_ended = None

    def _end(self, turn: _OpenTurn, state: State) -> None:
        self._end_round(turn)
        for span in turn.calls.values():
            span.end(end_time=self._now())
        turn.span.set_attribute("pilothouse.state", name_of(state))
        if isinstance(state, Failed):
            turn.span.set_attribute("error.type", state.error_message.code)
        turn.span.end(end_time=self._now())

    def _now(self) -> int:
        return int(self._ambient.now() * 1_000_000_000)


def tracing_from(
    environment: Mapping[str, str], ambient: Ambient, model_of: Callable[[ContextId], str]
) -> Tracing | None:
    """Set up tracing if the environment names an endpoint and the extra is installed; else return None."""
    if not any(environment.get(name) for name in _ENDPOINTS):
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
    except ImportError:
        _LOG.warning("traces were asked for, but the extra is not installed: pip install pilothouse[otel]")
        return None

    class Exporter(SpanExporter):
        """Warns once about an unreachable collector, not at every batch and every attempt."""

        def __init__(self) -> None:
            self._exporter = OTLPSpanExporter()
            self._is_failing = False

        def export(self, spans: "Sequence[ReadableSpan]") -> SpanExportResult:
            result = self._exporter.export(spans)
            has_failed = result is not SpanExportResult.SUCCESS
            if has_failed and not self._is_failing:
                _LOG.warning("the OpenTelemetry collector cannot be reached: traces are lost until it can")
            self._is_failing = has_failed
            return result

        def shutdown(self) -> None:
            self._exporter.shutdown()  # type: ignore[no-untyped-call]

    logging.getLogger("opentelemetry.exporter").setLevel(logging.CRITICAL)
    provider = TracerProvider(resource=Resource.create({"service.name": "pilothouse"}), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(Exporter()))
    _flush_at_exit(provider.shutdown)
    return Tracing(provider.get_tracer("pilothouse"), ambient, model_of)


def _flush_at_exit(flush: Callable[[], object]) -> None:
    """Export the remaining spans at exit, within MAX_FLUSH_SECONDS: the collector may be unreachable.

    The thread is started now, because no thread can be started while the interpreter shuts down.
    """
    exiting, is_flushed = threading.Event(), threading.Event()

    def wait_and_flush() -> None:
        exiting.wait()
        flush()
        is_flushed.set()

    def flush_with_timeout() -> None:
        exiting.set()
        if not is_flushed.wait(MAX_FLUSH_SECONDS):
            _LOG.warning("the OpenTelemetry collector did not answer: the last traces are lost")

    threading.Thread(target=wait_and_flush, name="flush traces", daemon=True).start()
    atexit.register(flush_with_timeout)
