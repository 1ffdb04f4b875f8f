"""OpenAI's chat completions format, which most providers understand."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from pilothouse.domain.tool_offers import ToolDescription
from pilothouse.llm.base import (
    AssistantCalls,
    AssistantText,
    CallResult,
    ModelMessage,
    ModelRequest,
    UserImage,
    UserText,
)

_CUT_DESCRIPTION = "… (the system prompt has the full text)"
_REASONING_MODEL = re.compile(r"o[1-9]\b|gpt-(?!5-chat)[5-9]\b|codex-")


class ChatCompletions:
    name = "chat_completions"
    max_description_characters = 1024  # some servers refuse longer ones
    sends_reasoning = False

    def encode(self, message: ModelMessage) -> bytes:
        return msgspec.json.encode(_message_object(message))

    def body(self, request: ModelRequest) -> bytes:
        system = msgspec.json.encode({"role": "system", "content": request.system})
        parts = [
            b'{"model":',
            msgspec.json.encode(request.model),
            b',"stream":true,"stream_options":{"include_usage":true}',
        ]
        if request.tools:
            functions = [{"type": "function", "function": self._function(tool)} for tool in request.tools]
            parts += [b',"tools":', msgspec.json.encode(functions)]
        for name, value in _sampling_fields(request):
            parts += [b',"', name.encode(), b'":', msgspec.json.encode(value)]
        # The messages come last, so that each request begins with the bytes of the one before.
        parts += [b',"messages":[', b",".join([system, *request.messages]), b"]}"]
        return b"".join(parts)

    def _function(self, tool: ToolDescription) -> ToolDescription:
        limit = self.max_description_characters
        if len(tool.description) <= limit:
            return tool
        description = tool.description[: limit - len(_CUT_DESCRIPTION)] + _CUT_DESCRIPTION
        shorter: ToolDescription = msgspec.structs.replace(tool, description=description)
        return shorter


CHAT_COMPLETIONS = ChatCompletions()


def _sampling_fields(request: ModelRequest) -> Iterator[tuple[str, float | int]]:
    """Reasoning models of OpenAI refuse a temperature and `max_tokens`; other servers may not know the newer name."""
    is_reasoning = _REASONING_MODEL.match(request.model.rpartition("/")[2].lower()) is not None
    if request.sampling.temperature is not None and not is_reasoning:
        yield "temperature", request.sampling.temperature
    if request.sampling.max_output_tokens is not None:
        yield "max_completion_tokens" if is_reasoning else "max_tokens", request.sampling.max_output_tokens


def _message_object(message: ModelMessage) -> Mapping[str, Any]:
    match message:
        case UserText(content=content):
            return {"role": "user", "content": content}
        case UserImage(name=name, media_type=media_type, data=data, url=url):
            address = f"data:{media_type};base64,{data}" if data is not None else url
            parts = [{"type": "text", "text": f"[image {name}]"}, {"type": "image_url", "image_url": {"url": address}}]
            return {"role": "user", "content": parts}
        case AssistantText(content=content):
            return {"role": "assistant", "content": content}
        case AssistantCalls(content=content, calls=calls):
            functions = [
                {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": call.arguments}}
                for call in calls
            ]
            return {"role": "assistant", "content": content or None, "tool_calls": functions}
        case CallResult(call_id=call_id, content=content):
            return {"role": "tool", "tool_call_id": call_id, "content": content}
