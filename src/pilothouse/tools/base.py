"""The contract of a tool: `prepare` predicts the effect of a call before the gate decides it; `run` performs the call
after the gate has allowed the call.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Protocol, TypeVar

import msgspec
from msgspec import Meta

from pilothouse.domain.calls import Effect, PreviewKind
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.command_line import CommandLine
from pilothouse.domain.errors import ToolError
from pilothouse.domain.messages import Role
from pilothouse.domain.tool_offers import Category as Category
from pilothouse.domain.value import CallId, Value
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.artifacts import ArtifactStore

A = TypeVar("A", bound=msgspec.Struct, contravariant=True)

MAX_PATH_CHARACTERS = 4096
PathText = Annotated[str, Meta(max_length=MAX_PATH_CHARACTERS)]
"""A path argument of a tool. No system has longer paths, and each part of a path costs one disk access."""


class Arguments(msgspec.Struct, forbid_unknown_fields=True):
    """Base of every tool's parameters: the model's JSON is validated against the subclass."""


class CallPreview(Value):
    """The predicted effect of a call."""

    effect: Effect
    touches: tuple[str, ...] | None = None
    """The paths that the call reads or writes; None where they cannot be known."""
    dangerous: tuple[str, ...] = ()
    """The dangers that a person is warned of, by name."""
    preview: str | None = None
    """The text shown to the person who decides: a diff, a command, the arguments."""
    preview_kind: PreviewKind = "text"
    shown_arguments: tuple[str, ...] = ()
    """The names of the arguments that the preview shows in full, apart from lines of a file that do not change. Clients
    show all others beside the preview."""
    content_hash: str | None = None
    """Identifies the content that the preview was made from; other content at the start stops the call."""
    violation: Reason | None = None
    """The hard limit that the call breaks."""
    ask: Reason | None = None
    """Why only a person can let the call run."""
    command_line: CommandLine | None = None
    """The parsed command line, for calls that run one."""


class UserQuestion(Value):
    """A question to the person: free text, or a choice of options."""

    question: str
    options: tuple[str, ...] = ()
    multiple: bool = False


class ConversationMessage(Value):
    """A message of a conversation, as a tool reads it."""

    role: Role
    content: str
    """The text that the model gets of the message, as far as the message is text."""
    tool: str | None = None
    """The tool whose result the message is."""
    is_cut: bool = False
    """Whether the beginning of the content is left out."""


MAX_READ_MESSAGES = 200
MAX_READ_CHARACTERS = 200_000
ConversationReader = Callable[[int, int], Awaitable[tuple[ConversationMessage, ...]]]


async def _no_conversation(_messages: int, _characters: int) -> tuple[ConversationMessage, ...]:
    return ()


class ToolContext(Value):
    """The surroundings of a running call, and the services that the runtime offers to it."""

    call_id: CallId
    workspace: Workspace
    content_hash: str | None = None
    """The `CallPreview.content_hash` that the call was decided with; None where nobody was shown a preview."""
    seconds: float | None = 120
    """The time limit of the call; None for no limit."""
    delegate: Callable[[str, str | None], Awaitable[str]] | None = None
    """Runs a task in a sub-agent, in the named mode (None: the present mode), and returns the sub-agent's answer."""
    ask: Callable[[Sequence[UserQuestion]], Awaitable[Sequence[str] | None]] | None = None
    """Puts questions to the person and returns the answers; None where the person declines."""
    confined: bool = False
    """Whether the call was allowed only because it reads: the tool must keep it from writing."""
    report_output: Callable[[str], None] = lambda _: None
    """Shows output while the call still runs."""
    artifacts: ArtifactStore | None = None
    """Stores whole results and the contents of changed files."""
    shown_before: frozenset[CallId] = frozenset()
    """The earlier calls of the same round that were shown to a person and executed."""
    executed_before: frozenset[CallId] = frozenset()
    """The earlier calls of the same round that were executed, whether shown or not."""
    add_remark: Callable[[Reason], None] = lambda _: None
    """Adds a remark for the person. The remark is shown whether the call succeeds or fails."""

    conversation: ConversationReader = _no_conversation
    """Reads the conversation for `read_conversation`."""

    async def read_conversation(self, messages: int = 20, characters: int = 20_000) -> tuple[ConversationMessage, ...]:
        """The last messages of the branch that the call belongs to, oldest first: at most so many, and with at most so
        many characters together. Up to MAX_READ_MESSAGES and MAX_READ_CHARACTERS can be read.

        They are the messages that the model gets. Messages that a processor holds or has refused, the model's
        reasoning, and other conversations, also those of sub-agents, are never among them.
        """
        return await self.conversation(
            max(0, min(messages, MAX_READ_MESSAGES)), max(0, min(characters, MAX_READ_CHARACTERS))
        )

    @property
    def tell(self) -> Callable[[str], None]:
        """The former name of `report_output`, for tool files of people that were written for it."""
        return self.report_output


class ToolOutput(Value):
    """The result of a call: a text, and for a command the exit status."""

    content: str
    exit_status: int | None = None
    """The exit status of a command: 0 for success, 128 + N where signal N ended it."""

    def with_remark(self, remark: str) -> "ToolOutput":
        return ToolOutput(f"{self.content}\n[{remark}]", self.exit_status)


class Tool(Protocol[A]):
    """A tool. Optional attributes, each False or empty by default:

    - `effect_varies`: some calls do less than `effect`. A mode that denies `effect` then denies a call only after it
      was prepared.
    - `content_arguments`: the names of arguments that the preview shows as a diff. Such texts get fewer marks, because
      a file may hold any text.
    - `keeps_time`: the tool enforces the time limit itself.
    - `needs`: the names of other tools that must be registered.
    - `start` and `stop`: methods that begin and end with the runtime.
    - `schema`: the JSON schema of the parameters, in place of the one made from `parameters`.
    """

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str:
        """The text that the model reads."""

    @property
    def category(self) -> Category: ...
    @property
    def effect(self) -> Effect:
        """The strongest effect that a call may have."""

    @property
    def parameters(self) -> type[Any]: ...

    async def prepare(self, arguments: A, workspace: Workspace) -> CallPreview:
        """Predict the effect of a call without changing anything. Raises: ToolError for a call that cannot work."""

    async def run(self, arguments: A, context: ToolContext) -> str | ToolOutput:
        """Perform the call and return its result. Must end soon after a cancellation. Raises: ToolError."""


_MIN_WIDE_BOUND = 500


def schema_of(parameters: type[Any]) -> Mapping[str, Any]:
    """The JSON schema of a tool's parameters, with its definitions inlined under `$defs`."""
    (schema,), components = msgspec.json.schema_components([parameters], ref_template="#/$defs/{name}")
    definitions = dict(components)
    root = dict(definitions.pop(parameters.__name__, schema))
    root.pop("title", None)
    complete = {**root, "$defs": definitions} if definitions else root
    result: Mapping[str, Any] = _without_wide_bounds(complete)
    return result


def _without_wide_bounds(schema: Any) -> Any:
    """A schema without the length limits that an ordinary call never reaches: they only cost tokens. Validation still
    enforces them."""
    match schema:
        case dict():
            return {
                key: _without_wide_bounds(value)
                for key, value in schema.items()
                if not (key in ("maxLength", "maxItems") and isinstance(value, int) and value >= _MIN_WIDE_BOUND)
            }
        case list():
            return [_without_wide_bounds(item) for item in schema]
        case _:
            return schema


def parse_arguments(tool: str, parameters: type[Any], data: Any) -> Any:
    """Validate the model's arguments against a tool's parameters. Raises: ToolError with the validator's message."""
    try:
        return msgspec.convert(data, parameters)
    except msgspec.ValidationError as error:
        raise ToolError(Code.INVALID_ARGUMENTS, tool=tool, detail=str(error)) from error


Job = ToolContext
"""The former name, for tool files of people that were written for it."""
