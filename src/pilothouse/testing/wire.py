"""The rules of a chat completions request, by the strictest server for each rule.

A rule is checked here if OpenAI, Azure, Mistral, OpenRouter, vLLM, llama.cpp or Ollama refuses requests that break it.
Known rules that are not checked: Mistral requires ids of exactly nine letters and digits, and an assistant message
between a result and a user message; some model templates require user and assistant to alternate; older models of
OpenAI limit an id to 40 characters.
"""

import base64
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from pilothouse.testing.wire_sampling import sampling_faults
from pilothouse.testing.wire_tools import NAME, tool_faults

MAX_ID_CHARACTERS = 64
MAX_MESSAGES = 2048

_BODY_KEYS = {
    *("model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls"),
    *("temperature", "top_p", "n", "stop", "seed", "max_tokens", "max_completion_tokens", "response_format"),
    *("presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs", "reasoning_effort", "user"),
}
_ROLE_KEYS = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls"},
    "tool": {"role", "content", "tool_call_id"},
}
_DATA_URL = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,(.+)", re.DOTALL)
_WEB_URL = re.compile(r"https?://[^\s/?#]+\S*")


class WireFault(AssertionError):
    """A request that some server refuses."""


def check(body: Any) -> None:
    """Raises: WireFault with all faults of a decoded body."""
    body_faults = faults(body)
    if body_faults:
        raise WireFault("\n".join(body_faults))


def faults(body: Any) -> list[str]:
    """Return all faults of a decoded body, each with its place. Never raises."""
    if not isinstance(body, dict):
        return ["body: is not an object"]
    texts = [*_unsendable(body), *_head(body), *_conversation(body), *tool_faults(body)]
    return [each.encode("utf-8", "backslashreplace").decode() for each in texts]  # a response can contain any fault


def _unsendable(body: dict[str, Any]) -> Iterator[str]:
    """Yield faults of values that JSON in UTF-8 cannot represent, anywhere in a body."""
    stack: list[tuple[str, Any]] = [("", body)]
    while stack:
        place, value = stack.pop()
        if isinstance(value, dict):
            for key, inner in value.items():
                inner_place = f"{place}.{key}" if place else str(key)
                stack += [(inner_place, inner), (f"{inner_place}: the key", key)]
        elif isinstance(value, list):
            stack += [(f"{place}[{at}]", inner) for at, inner in enumerate(value)]
        elif isinstance(value, str):
            if not _is_utf8(value):
                yield f"{place}: holds half of a surrogate pair"
        elif isinstance(value, float) and not math.isfinite(value):
            yield f"{place}: {value} is no number of JSON"
        elif value is not None and not isinstance(value, bool | int | float):
            yield f"{place}: a {type(value).__name__} is no value of JSON"


def _is_utf8(text: str) -> bool:
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _head(body: dict[str, Any]) -> Iterator[str]:
    yield from _unknown_keys("body", body, _BODY_KEYS)
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "model: is not a non-empty string"
    yield from sampling_faults(body)
    stream, options = body.get("stream", False), body.get("stream_options")
    if not isinstance(stream, bool):
        yield "stream: is neither true nor false"
    if options is None:
        return
    if stream is not True:
        yield "stream_options: is only allowed where stream is true"
    if not isinstance(options, dict):
        yield "stream_options: is not an object"
        return
    yield from _unknown_keys("stream_options", options, {"include_usage"})
    if not isinstance(options.get("include_usage", False), bool):
        yield "stream_options.include_usage: is neither true nor false"


def _conversation(body: dict[str, Any]) -> Iterator[str]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "messages: is not a non-empty list"
        return
    if len(messages) > MAX_MESSAGES:
        yield f"messages: there are {len(messages)}, and at most {MAX_MESSAGES} are taken"
    valid = []
    for at, message in enumerate(messages):
        place = f"messages[{at}]"
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(role, str) or role not in _ROLE_KEYS:
            yield f"{place}: is no message of a known role ({', '.join(_ROLE_KEYS)})"
            continue
        valid.append((place, message))
        yield from _unknown_keys(place, message, _ROLE_KEYS[role])
        yield from _content(place, message)
        yield from _calls(place, message)
    yield from _ends(messages)
    yield from _answers(valid)
    yield from _ids(valid)
    if "tools" not in body and any(message["role"] == "tool" or "tool_calls" in message for _, message in valid):
        yield "tools: are missing, though there are calls or results in messages"


def _unknown_keys(place: str, value: dict[str, Any], known_keys: set[str]) -> Iterator[str]:
    for key in value:
        if key not in known_keys:
            yield f"{place}: {key!r} is not a known key"


def _ends(messages: list[Any]) -> Iterator[str]:
    """The only system message must be the first one, and the last message must be by user or tool."""
    roles = [message.get("role") if isinstance(message, dict) else None for message in messages]
    if roles[0] != "system":
        yield "messages[0]: is not the system message"
    for at, role in enumerate(roles[1:], start=1):
        if role == "system":
            yield f"messages[{at}]: is a system message that is not the first"
    if len(roles) == 1 and roles[0] == "system":
        yield "messages: there is none after the system message"
    elif roles[-1] == "assistant":
        yield f"messages[{len(roles) - 1}]: is the last and by the assistant, not by user or tool"


def _content(place: str, message: dict[str, Any]) -> Iterator[str]:
    content, role = message.get("content"), message["role"]
    if "content" not in message:
        yield f"{place}: has no content"
    elif role == "tool":
        if not isinstance(content, str):
            yield f"{place}.content: is not a string"
    elif content is None:
        if role != "assistant" or "tool_calls" not in message:
            yield f"{place}.content: is null, which only an assistant with calls may have"
    elif role == "user" and isinstance(content, list):
        if not content:
            yield f"{place}.content: is an empty list of parts"
        for at, part in enumerate(content):
            yield from _part(f"{place}.content[{at}]", part)
    else:
        yield from _text(f"{place}.content", content)


def _text(place: str, text: Any) -> Iterator[str]:
    # Providers behind OpenRouter also refuse white space only.
    if not isinstance(text, str) or not text.strip():
        yield f"{place}: is not a string with something in it"


def _part(place: str, part: Any) -> Iterator[str]:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "text":
        yield from _unknown_keys(place, part, {"type", "text"})
        yield from _text(f"{place}.text", part.get("text"))
    elif kind == "image_url":
        yield from _unknown_keys(place, part, {"type", "image_url"})
        yield from _image(f"{place}.image_url", part.get("image_url"))
    else:
        yield f"{place}: is neither a text nor an image_url"


def _image(place: str, image: Any) -> Iterator[str]:
    if not isinstance(image, dict):
        yield f"{place}: is not an object"
        return
    yield from _unknown_keys(place, image, {"url", "detail"})
    if image.get("detail", "auto") not in ("auto", "low", "high"):
        yield f"{place}.detail: is not auto, low or high"
    url = image.get("url")
    if not isinstance(url, str) or not (_WEB_URL.fullmatch(url) or _is_data(url)):
        yield f"{place}.url: is neither http(s) nor a data: URL of a png, jpeg, gif or webp in base64"


def _is_data(url: str) -> bool:
    match = _DATA_URL.fullmatch(url)
    try:
        return match is not None and bool(base64.b64decode(match[1], validate=True))
    except ValueError:
        return False


def _calls(place: str, message: dict[str, Any]) -> Iterator[str]:
    if "tool_call_id" in message or message["role"] == "tool":
        yield from _id(f"{place}.tool_call_id", message.get("tool_call_id"))
    if "tool_calls" not in message:
        return
    calls = message["tool_calls"]
    if not isinstance(calls, list) or not calls:
        yield f"{place}.tool_calls: is not a non-empty list"
        return
    for at, call in enumerate(calls):
        yield from _call(f"{place}.tool_calls[{at}]", call)


def _call(place: str, call: Any) -> Iterator[str]:
    if not isinstance(call, dict) or not isinstance(call.get("function"), dict):
        yield f"{place}: is not an object with a function"
        return
    function = call["function"]
    yield from _unknown_keys(place, call, {"id", "type", "function"})
    yield from _unknown_keys(f"{place}.function", function, {"name", "arguments"})
    yield from _id(f"{place}.id", call.get("id"))
    if call.get("type") != "function":
        yield f"{place}.type: is not 'function'"
    if not isinstance(function.get("name"), str) or not NAME.fullmatch(function["name"]):
        yield f"{place}.function.name: is not 1 to 64 letters, digits, _ or -"
    if not _is_json_object(function.get("arguments")):
        yield f"{place}.function.arguments: is not a string that holds a JSON object"


def _id(place: str, value: Any) -> Iterator[str]:
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_ID_CHARACTERS:
        yield f"{place}: is not a string of 1 to {MAX_ID_CHARACTERS} characters"


def _is_json_object(text: Any) -> bool:
    try:
        return isinstance(text, str) and isinstance(msgspec.json.decode(text), dict)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False


def _call_ids(message: dict[str, Any]) -> list[str]:
    calls = message.get("tool_calls")
    ids = [call.get("id") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    return [each for each in ids if isinstance(each, str)]


def _answers(messages: Sequence[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """The results of calls must follow directly, each once, and be nowhere else."""
    open_calls: list[str] = []
    for place, message in messages:
        if message["role"] == "tool":
            if message.get("tool_call_id") in open_calls:
                open_calls.remove(message["tool_call_id"])
            else:
                yield f"{place}: is the result of no call that is still open right before it"
            continue
        if open_calls:
            yield f"{place}: stands where the results of {', '.join(map(repr, open_calls))} should be"
        open_calls = _call_ids(message)
    if open_calls:
        yield f"messages: end without the results of {', '.join(map(repr, open_calls))}"


def _ids(messages: Sequence[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    used: set[str] = set()
    for place, message in messages:
        for call_id in _call_ids(message):
            if call_id in used:
                yield f"{place}.tool_calls: the id {call_id!r} was used before"
            used.add(call_id)
