"""The rules for sampling settings of a chat completions request."""

import math
import re
from collections.abc import Iterator
from typing import Any

MAX_TEMPERATURE = 2
_LIMITS = ("max_tokens", "max_completion_tokens")
# OpenAI's reasoning models, also behind OpenRouter. gpt-5-chat does not reason.
_REASONING_MODEL = re.compile(r"(?:.*/)?(?:o[1-9]|gpt-[5-9]|codex)(?![a-z0-9])(?!-chat)")


def sampling_faults(body: dict[str, Any]) -> Iterator[str]:
    """Yield the faults of the temperature and of the limit of an answer."""
    temperature = body.get("temperature")
    is_finite = not isinstance(temperature, float) or math.isfinite(temperature)  # other numbers are no JSON at all
    if temperature is not None and is_finite and not (_is_number(temperature) and 0 <= temperature <= MAX_TEMPERATURE):
        yield f"temperature: is no number from 0 to {MAX_TEMPERATURE}"
    limits = [name for name in _LIMITS if body.get(name) is not None]
    for name in limits:
        if not isinstance(body[name], int) or isinstance(body[name], bool) or body[name] < 1:
            yield f"{name}: is no whole number from 1 on"
    if len(limits) > 1:
        yield "max_completion_tokens: stands beside max_tokens"
    if isinstance(body.get("model"), str) and _REASONING_MODEL.match(body["model"].lower()):
        for name in ("temperature", "max_tokens"):
            if body.get(name) is not None:
                yield f"{name}: is refused by a reasoning model"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
