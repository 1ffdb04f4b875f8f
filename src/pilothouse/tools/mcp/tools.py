"""A tool of an MCP server as a tool of the runtime: each call passes the gate, a changed tool needs a new approval."""

import difflib
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from pilothouse.domain.calls import Effect, PreviewKind
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.deception.hidden_characters import visible, without_hidden
from pilothouse.domain.errors import ConnectionLost, StoreRefused, ToolError
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import CallPreview, Category, ToolContext, UserQuestion
from pilothouse.tools.mcp.connection import Connection
from pilothouse.tools.mcp.types import ToolDefinition

MAX_NAME_CHARACTERS = 64
_RECONNECT_SECONDS = 10.0
_INVALID_NAME_CHARACTER = re.compile(r"[^A-Za-z0-9_-]")


class AcceptedDefinitions(Protocol):
    """The definitions in which a person has accepted a server's tools."""

    def accepted_definition(self, mcp_server: str, tool: str) -> str | None:
        """The whole definition that was accepted; None for a new tool."""

    def has_accepted(self, mcp_server: str) -> bool:
        """Whether any tool of the server was accepted."""

    def accept(self, mcp_server: str, definitions: Mapping[str, str]) -> None: ...


class MCPTool:
    """A tool of an MCP server."""

    keeps_time = True
    category: Category = "mcp"
    parameters = dict

    def __init__(
        self, connection: Connection, definition: ToolDefinition, key: str, accepted: AcceptedDefinitions
    ) -> None:
        """`key` identifies the server among all; `definition` is the server's present description of the tool."""
        self._connection = connection
        self._definition = definition
        self._key = key
        self._accepted = accepted
        self.name = tool_name(connection.definition.name, definition.name)
        self.description = without_hidden(definition.description) or definition.name
        self.schema: Mapping[str, Any] = _without_hidden_text(definition.schema)
        # A server's hints count only where the person trusts the server.
        trusted = connection.definition.trusted and definition.read_only is True
        self.effect: Effect = "read_only" if trusted else "mutating"
        self.text = msgspec.json.format(msgspec.json.encode(definition, order="sorted"), indent=1).decode()
        self.digest = hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def own_name(self) -> str:
        """The name that the server gives the tool."""
        return self._definition.name

    @property
    def server(self) -> str:
        return self._connection.definition.name

    @property
    def has_changed(self) -> bool:
        return self._accepted.accepted_definition(self._key, self._definition.name) != self.text

    async def prepare(self, arguments: dict[str, Any], workspace: Workspace) -> CallPreview:  # noqa: ARG002
        preview = msgspec.json.format(msgspec.json.encode(arguments), indent=2).decode()
        ask = None
        kind: PreviewKind = "text"
        if self.has_changed:
            ask = Reason(Code.TOOL_CHANGED, {"server": self.server, "tool": self._definition.name})
            preview, kind = f"{self._difference()}\n\n{preview}", "definition_change"
        return CallPreview(
            effect=self.effect,
            preview=preview,
            preview_kind=kind,
            shown_arguments=tuple(arguments),
            content_hash=self.digest,
            ask=ask,
        )

    def _difference(self) -> str:
        before = self._accepted.accepted_definition(self._key, self._definition.name) or ""
        lines = difflib.unified_diff(before.splitlines(), self.text.splitlines(), "before", "now", lineterm="", n=1)
        return visible("\n".join(lines))

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> str:
        if context.content_hash is not None and context.content_hash != self.digest:
            raise ToolError(Code.REACH_CHANGED, tool=self.name)
        if self.has_changed:  # only a person's approval of the change lets the call run
            self._accepted.accept(self._key, {self._definition.name: self.text})
        asker = None
        if context.ask is not None:
            ask = context.ask

            async def asker(message: str, schema: dict[str, Any]) -> dict[str, Any] | None:
                form_questions = questions(f"[{self.server}] {message}", schema)
                answers = await ask(form_questions)
                return None if answers is None else form_content(schema, answers)

        # The call itself, not the executor, enforces the time limit: it is suspended while a person is asked.
        limits = (self._connection.definition.seconds, context.seconds)
        seconds = min(limit for limit in limits if limit is not None)
        try:
            result = await self._connection.call(self._definition.name, arguments, seconds=seconds, asker=asker)
        except ConnectionLost:
            if self.effect == "read_only":  # the call is tried again, once the server is back
                await self._connection.ready(_RECONNECT_SECONDS)
            raise
        if result.is_error:
            raise ToolError(Code.TOOL_FAILED, tool=self.name, detail=without_hidden(result.text) or "no reason given")
        return without_hidden(result.text) + ("\n[cut: the server sent more]" if result.is_cut else "")


def tools_of(connection: Connection, key: str, accepted: AcceptedDefinitions) -> list[MCPTool]:
    """The tools with distinguishable names: where two names become one, both are withheld."""
    tools = [MCPTool(connection, definition, key, accepted) for definition in connection.tools]
    if tools and not accepted.has_accepted(key):
        # The first tools are those for which the person added the server; later ones wait for the person. Where the
        # acceptance cannot be stored, every tool waits for the person when it is called.
        with suppress(StoreRefused):
            accepted.accept(key, {tool.own_name: tool.text for tool in tools})
    counts = Counter(_comparable(tool.name) for tool in tools)
    return [tool for tool in tools if counts[_comparable(tool.name)] == 1 and len(tool.name) <= MAX_NAME_CHARACTERS]


def tool_name(mcp_server: str, tool: str) -> str:
    return f"{mcp_server}__{_INVALID_NAME_CHARACTER.sub('_', tool)}"


def _comparable(name: str) -> str:
    return name.replace("-", "_").casefold()


def _without_hidden_text(data: Any) -> Any:
    match data:
        case str():
            return without_hidden(data)
        case dict():
            return {without_hidden(name): _without_hidden_text(value) for name, value in data.items()}
        case list() | tuple():
            return [_without_hidden_text(value) for value in data]
        case _:
            return data


def questions(message: str, schema: Mapping[str, Any]) -> list[UserQuestion]:
    """The form of a server as questions to the person, one for each field."""
    fields: Mapping[str, Any] = schema.get("properties", {})
    if not fields:
        return [UserQuestion(message, options=("yes", "no"))]
    result = []
    for number, (name, field) in enumerate(fields.items()):
        title = str(field.get("title") or name)
        description = field.get("description")
        text = f"{title}: {description}" if description else title
        options = field.get("enum") or (("true", "false") if field.get("type") == "boolean" else ())
        first = f"{message}\n" if number == 0 else ""
        result.append(UserQuestion(without_hidden(first + text), options=tuple(str(option) for option in options)))
    return result


def form_content(schema: Mapping[str, Any], answers: Sequence[str]) -> dict[str, Any] | None:
    """The person's answers as the content of the form; None where they do not fit it, or decline."""
    fields: Mapping[str, Any] = schema.get("properties", {})
    if not fields:
        return {} if answers and answers[0].strip().casefold() in ("yes", "y", "是", "好") else None
    content: dict[str, Any] = {}
    for (name, field), text in zip(fields.items(), answers, strict=False):
        if not text.strip() and name not in schema.get("required", ()):
            continue
        try:
            content[name] = _parse_answer(text.strip(), field.get("type", "string"))
        except ValueError:
            return None
    return content


def _parse_answer(text: str, kind: str) -> Any:
    if kind == "boolean":
        if text.casefold() not in ("true", "false", "yes", "no"):
            raise ValueError(text)
        return text.casefold() in ("true", "yes")
    return int(text) if kind == "integer" else float(text) if kind == "number" else text
