"""The scripted model: plays a script in process and records the requests."""

import asyncio
from collections.abc import AsyncGenerator

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ModelError, ModelRefused, ModelTooLong, ModelUnavailable
from pilothouse.llm.base import Connected, ModelEvent, ModelRequest, WireFormat
from pilothouse.llm.chat_completions import CHAT_COMPLETIONS
from pilothouse.llm.script import Player, Script, ScriptedError


class ScriptedAdapter:
    name = "scripted"

    def __init__(self, script: Script, wire_format: WireFormat = CHAT_COMPLETIONS) -> None:
        self._player = Player(script)
        self.format = wire_format
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        answer = self._player.answer(request.purpose)
        await asyncio.sleep(answer.delay)
        if answer.error is not None:
            raise scripted_error(answer.error)
        yield Connected()
        if answer.raw is not None:
            raise ModelUnavailable(Code.MODEL_GARBLED, detail="raw lines only work over HTTP")
        for number, event in enumerate(answer.events()):
            if number == answer.cut:
                raise ModelUnavailable(Code.MODEL_CUT)
            if number == answer.silence:
                await asyncio.Event().wait()
            await asyncio.sleep(answer.delta_delay)
            yield event

    async def close(self) -> None:
        pass


def scripted_error(error: ScriptedError) -> ModelError:
    """The error that a real adapter would raise for this answer."""
    detail = error.message
    if error.status == 429:
        seconds = float(error.retry_after) if error.retry_after else None
        return ModelUnavailable(Code.MODEL_RATE_LIMITED, retry_after=seconds, detail=detail)
    if error.status >= 500:
        return ModelUnavailable(Code.MODEL_OVERLOADED, status=error.status, detail=detail)
    if error.status == 400 and "context_length_exceeded" in detail:
        return ModelTooLong(Code.MODEL_TOO_LONG, detail=detail)
    code = Code.MODEL_AUTH if error.status in (401, 403) else Code.MODEL_REFUSED
    return ModelRefused(code, status=error.status, detail=detail)
