"""Collect the answer of a model as one text, for requests outside turns: titles and summaries."""

from contextlib import aclosing

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ModelRefused, ModelUnavailable
from pilothouse.domain.messages import Usage
from pilothouse.llm.base import Adapter, Finished, ModelRequest, ReasoningTextDelta, TextDelta, UsageReported

_MAX_REASONING_CHARACTERS = 1_000_000


async def collect_text(adapter: Adapter, request: ModelRequest, *, characters: int) -> tuple[str, Usage]:
    """The text and the usage of an answer. An answer that reached the model's output limit is accepted.

    Raises: ModelError, also for an answer that was cut, filtered, refused or is longer than `characters`.
    """
    text, usage, finish, reasoning_characters = "", Usage(), None, 0
    async with aclosing(adapter.stream(request)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                text += event.text
                if len(text) > characters:
                    raise ModelRefused(Code.MODEL_ENDLESS, limit=characters)
            elif isinstance(event, ReasoningTextDelta):
                reasoning_characters += len(event.text)
                if reasoning_characters > _MAX_REASONING_CHARACTERS:
                    raise ModelRefused(Code.MODEL_ENDLESS, limit=_MAX_REASONING_CHARACTERS)
            elif isinstance(event, UsageReported):
                usage = event.usage
            elif isinstance(event, Finished):
                finish = event.reason
    if finish is None:
        raise ModelUnavailable(Code.MODEL_CUT)
    if finish in ("content_filter", "refusal"):
        raise ModelRefused(Code.ANSWER_FILTERED)
    return text, usage
