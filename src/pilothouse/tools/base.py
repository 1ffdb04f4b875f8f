"""A tool's contract. A tool says what a call would do before it is decided, and does it when the gate has let it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Protocol, TypeVar

import msgspec
from msgspec import Meta

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import ToolError
from pilothouse.domain.lines import CommandLine
from pilothouse.domain.offers import Category as Category
from pilothouse.domain.values import CallId, Value
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.artifacts import ArtifactStore

A = TypeVar("A", bound=msgspec.Struct, contravariant=True)

MAX_PATH_CHARACTERS = 4096
PathText = Annotated[str, Meta(max_length=MAX_PATH_CHARACTERS)]
"""A path as a tool takes it. No system has longer ones, and each part of one costs a look at the disk."""


class Arguments(msgspec.Struct, forbid_unknown_fields=True):
    """Base of a tool's parameters: the model's JSON is checked against it."""


class Prepared(Value):
    """What a call would do. `touches` is None where it cannot be known; `limit` is a hard limit that it breaks; `ask`
    is why only a person can let it run; `line` what stands in a command."""

    effect: Effect
    touches: tuple[str, ...] | None = None
    dangerous: tuple[str, ...] = ()
    preview: str | None = None
    basis: str | None = None
    limit: Reason | None = None
    ask: Reason | None = None
    line: CommandLine | None = None


class Asked(Value):
    """A question to the person, free or with options."""

    question: str
    options: tuple[str, ...] = ()
    multiple: bool = False


class Job(Value):
    """What a running call may use. `basis` is what its preview was made from, `seconds` its time, None without end.
    `delegate` lets a sub-agent do a task in a mode (in the present one) and gives its answer, `ask` puts questions to
    the person and gives their answers, None where they do not want to. `confined`: it runs only because it only reads.
    `tell` shows what it prints meanwhile. `artifacts` is where whole results and what was changed are kept."""

    call_id: CallId
    workspace: Workspace
    basis: str | None = None
    seconds: float | None = 120
    delegate: Callable[[str, str | None], Awaitable[str]] | None = None
    ask: Callable[[Sequence[Asked]], Awaitable[Sequence[str] | None]] | None = None
    confined: bool = False
    tell: Callable[[str], None] = lambda _: None
    artifacts: ArtifactStore | None = None
    shown_before: frozenset[CallId] = frozenset()
    """The calls of the same round that were asked for before this one, shown to a person, and executed."""
    executed_before: frozenset[CallId] = frozenset()
    """The calls of the same round that were asked for before this one and executed, whether shown or not."""
    remark: Callable[[Reason], None] = lambda _: None
    """Tells the person something that they should know, however the call ends."""


class ToolOutput(Value):
    """What a call gave, where there is more to say than a text."""

    content: str
    exit_status: int | None = None
    """How a command ended: 0 for success, 128 + N where signal N ended it."""

    def with_remark(self, remark: str) -> "ToolOutput":
        return ToolOutput(f"{self.content}\n[{remark}]", self.exit_status)


class Tool(Protocol[A]):
    """`effect` is the most that a call may do. A tool whose calls may do less says so by `effect_varies`: a mode that
    denies `effect` does not deny such a call before it was prepared. A tool that shows arguments as a diff names them
    in `content_arguments`: such texts have fewer marks, because a file may hold any text."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def category(self) -> Category: ...
    @property
    def effect(self) -> Effect: ...
    @property
    def parameters(self) -> type[Any]: ...

    async def prepare(self, arguments: A, workspace: Workspace) -> Prepared:
        """Look, change nothing. Raises: ToolError for a call that cannot work."""

    async def run(self, arguments: A, job: Job) -> str | ToolOutput:
        """Do it; the text is the result. Raises: ToolError. Must end soon after it is cancelled."""


_MIN_WIDE_BOUND = 500


def schema_of(parameters: type[Any]) -> Mapping[str, Any]:
    """The JSON schema of a tool's parameters, in one piece."""
    (schema,), components = msgspec.json.schema_components([parameters], ref_template="#/$defs/{name}")
    definitions = dict(components)
    top = dict(definitions.pop(parameters.__name__, schema))
    top.pop("title", None)
    whole = {**top, "$defs": definitions} if definitions else top
    told: Mapping[str, Any] = _without_wide_bounds(whole)
    return told


def _without_wide_bounds(schema: Any) -> Any:
    """Bounds on lengths that an ordinary call never meets only cost tokens. They hold all the same."""
    match schema:
        case dict():
            return {
                key: _without_wide_bounds(value)
                for key, value in schema.items()
                if not (key in ("maxLength", "maxItems") and isinstance(value, int) and value >= _MIN_WIDE_BOUND)
            }
        case list():
            return [_without_wide_bounds(each) for each in schema]
        case _:
            return schema


def parse_arguments(tool: str, parameters: type[Any], data: Any) -> Any:
    """Raises: ToolError, saying what is wrong."""
    try:
        return msgspec.convert(data, parameters)
    except msgspec.ValidationError as error:
        raise ToolError(Code.INVALID_ARGUMENTS, tool=tool, detail=str(error)) from error
