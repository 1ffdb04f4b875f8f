"""A tool of a server as one of ours: it passes the same gate, and waits for the person again when it has changed."""

import difflib
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import StoreRefused, ToolError
from pilothouse.domain.hidden_characters import visible, without_hidden
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Asked, Category, Job, Prepared
from pilothouse.tools.mcp.connection import Connection
from pilothouse.tools.mcp.values import ToolDefinition

NAME_AT_MOST = 64
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")


class Accepted(Protocol):
    """Remembers in which form a person has accepted a server's tools."""

    def known(self, server: str, tool: str) -> str | None:
        """The whole definition as it was accepted."""

    def knows(self, server: str) -> bool:
        """Whether anything of it was accepted."""

    def accept(self, server: str, definitions: Mapping[str, str]) -> None: ...


class McpTool:
    """`key` names its server among all; `definition` is what the server says of it now."""

    keeps_time = True
    category: Category = "mcp"
    parameters = dict

    def __init__(self, connection: Connection, definition: ToolDefinition, key: str, accepted: Accepted) -> None:
        self._connection = connection
        self._definition = definition
        self._key = key
        self._accepted = accepted
        self.name = tool_name(connection.definition.name, definition.name)
        self.description = without_hidden(definition.description) or definition.name
        self.schema: Mapping[str, Any] = _cleaned(definition.schema)
        # What a server says of itself counts only where the person has said that they trust it.
        trusted = connection.definition.trusted and definition.read_only is True
        self.effect: Effect = "read_only" if trusted else "mutating"
        self.text = msgspec.json.format(msgspec.json.encode(definition, order="sorted"), indent=1).decode()
        self.digest = hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def own_name(self) -> str:
        """As its server calls it."""
        return self._definition.name

    @property
    def server(self) -> str:
        return self._connection.definition.name

    @property
    def has_changed(self) -> bool:
        return self._accepted.known(self._key, self._definition.name) != self.text

    async def prepare(self, arguments: dict[str, Any], workspace: Workspace) -> Prepared:  # noqa: ARG002
        preview = msgspec.json.format(msgspec.json.encode(arguments), indent=2).decode()
        ask = None
        if self.has_changed:
            ask = Reason(Code.TOOL_CHANGED, {"server": self.server, "tool": self._definition.name})
            preview = f"{self._difference()}\n\n{preview}"
        return Prepared(effect=self.effect, preview=preview, basis=self.digest, ask=ask)

    def _difference(self) -> str:
        before = self._accepted.known(self._key, self._definition.name) or ""
        lines = difflib.unified_diff(before.splitlines(), self.text.splitlines(), "before", "now", lineterm="", n=1)
        return visible("\n".join(lines))

    async def run(self, arguments: dict[str, Any], job: Job) -> str:
        if job.basis is not None and job.basis != self.digest:
            raise ToolError(Code.REACH_CHANGED, tool=self.name)
        if self.has_changed:  # it could only come here by a person's own approval of what has changed
            self._accepted.accept(self._key, {self._definition.name: self.text})
        asker = None
        if job.ask is not None:
            ask = job.ask

            async def asker(message: str, schema: dict[str, Any]) -> dict[str, Any] | None:
                asked = questions(f"[{self.server}] {message}", schema)
                answers = await ask(asked)
                return None if answers is None else answered(schema, answers)

        found = await self._connection.call(self._definition.name, arguments, asker=asker)
        if found.is_error:
            raise ToolError(Code.TOOL_FAILED, tool=self.name, detail=without_hidden(found.text) or "no reason given")
        return without_hidden(found.text) + ("\n[cut: the server sent more]" if found.is_cut else "")


def tools_of(connection: Connection, key: str, accepted: Accepted) -> list[McpTool]:
    """All that can be told apart: two names that become one are withheld, both."""
    made = [McpTool(connection, definition, key, accepted) for definition in connection.tools]
    if made and not accepted.knows(key):
        # What a server brings at first is what the person has added it for; what comes later waits for them.
        # Where that cannot be written down, each of them waits for the person when it is called.
        with suppress(StoreRefused):
            accepted.accept(key, {tool.own_name: tool.text for tool in made})
    counts = Counter(_plain(tool.name) for tool in made)
    return [tool for tool in made if counts[_plain(tool.name)] == 1 and len(tool.name) <= NAME_AT_MOST]


def tool_name(server: str, tool: str) -> str:
    return f"{server}__{_NOT_IN_A_NAME.sub('_', tool)}"


def _plain(name: str) -> str:
    return name.replace("-", "_").casefold()


def _cleaned(data: Any) -> Any:
    match data:
        case str():
            return without_hidden(data)
        case dict():
            return {without_hidden(name): _cleaned(value) for name, value in data.items()}
        case list() | tuple():
            return [_cleaned(value) for value in data]
        case _:
            return data


def questions(message: str, schema: Mapping[str, Any]) -> list[Asked]:
    """What a server wants to know, as questions to the person: one for each field of its form."""
    fields: Mapping[str, Any] = schema.get("properties", {})
    if not fields:
        return [Asked(message, options=("yes", "no"))]
    asked = []
    for number, (name, field) in enumerate(fields.items()):
        title = str(field.get("title") or name)
        about = field.get("description")
        text = f"{title}: {about}" if about else title
        options = field.get("enum") or (("true", "false") if field.get("type") == "boolean" else ())
        first = f"{message}\n" if number == 0 else ""
        asked.append(Asked(without_hidden(first + text), options=tuple(str(each) for each in options)))
    return asked


def answered(schema: Mapping[str, Any], answers: Sequence[str]) -> dict[str, Any] | None:
    """A person's answers in the form that was asked for; None where they do not fit it, or say no."""
    fields: Mapping[str, Any] = schema.get("properties", {})
    if not fields:
        return {} if answers and answers[0].strip().casefold() in ("yes", "y", "是", "好") else None
    content: dict[str, Any] = {}
    for (name, field), text in zip(fields.items(), answers, strict=False):
        if not text.strip() and name not in schema.get("required", ()):
            continue
        try:
            content[name] = _typed(text.strip(), field.get("type", "string"))
        except ValueError:
            return None
    return content


def _typed(text: str, kind: str) -> Any:
    if kind == "boolean":
        if text.casefold() not in ("true", "false", "yes", "no"):
            raise ValueError(text)
        return text.casefold() in ("true", "yes")
    return int(text) if kind == "integer" else float(text) if kind == "number" else text
