"""Call records: the status and the decision of each tool call. The call as the model sent it is a part of its message
and never changes."""

import hashlib
import re
from typing import Any, Literal

import msgspec

from pilothouse.domain.codes import Reason
from pilothouse.domain.command_line import CommandLine
from pilothouse.domain.value import CallId, ContextId, MessageId, Timestamp, TurnId, Value

Status = Literal[
    "pending", "approved", "executing", "executed", "failed", "rejected", "denied", "cancelled", "interrupted"
]
PARTIAL_HASH_SUFFIX = ":partial"
"""The suffix of the content hash of a command that may run other files than those hashed."""
OPEN_STATUSES: frozenset[Status] = frozenset({"pending", "approved", "executing"})
Effect = Literal["read_only", "mutating", "question", "delegating", "unknown"]
PreviewKind = Literal["text", "file_change", "definition_change"]
"""`file_change`: a diff of the file that the argument `path` names. `definition_change`: a diff of the tool's own
definition, and below it the arguments. `text`: anything else, such as a command or the arguments."""


class Approval(Value):
    """A person's approval of one call. The approval counts only for this digest and under these modes."""

    by: str
    at: Timestamp
    digest: str
    """The digest of the call as it was previewed."""
    mode: str
    """The modes of the context and its ancestors at the time (`PolicySnapshot.modes`)."""


MAX_ORIGIN_CHARACTERS = 100


def is_origin(text: str) -> bool:
    """Whether a text can name the program that proposed a call. People read the name beside the call: plain ASCII
    cannot imitate another text."""
    return text.isascii() and text.isprintable() and text.strip() == text and 1 <= len(text) <= MAX_ORIGIN_CHARACTERS


class CallRecord(Value, kw_only=True):
    """A tool call: its arguments, its properties at inspection, its decision and its outcome."""

    id: CallId
    provider_id: str
    """The provider's id of the call, which may repeat."""
    message_id: MessageId
    """The message of the model that requested the call."""
    turn: TurnId
    round: int
    tool: str
    display_name: str
    arguments: Any
    """The decoded arguments, as the person may have edited them; the raw text where it is no JSON object."""
    digest: str
    """Identifies the call with its arguments and workspace (`call_digest`)."""
    fingerprint: str
    """Identifies the tool and the arguments (`fingerprint_of`)."""
    effect: Effect
    touches: tuple[str, ...] | None = None
    """The paths that the call touches; None where the tool cannot tell."""
    dangerous: tuple[str, ...] = ()
    """Marks of dangerous effects and of deceptive text."""
    preview: str | None = None
    """The text that shows the effect to the person who decides."""
    preview_kind: PreviewKind = "text"
    shown_arguments: tuple[str, ...] = ()
    """The names of the arguments that the preview shows in full, apart from lines of a file that do not change. Clients
    show all others beside the preview."""
    content_hash: str | None = msgspec.field(default=None, name="basis")
    """Identifies the content that the preview was made from. The tool compares it with the content at the start."""
    violation: Reason | None = msgspec.field(default=None, name="limit")
    """The hard limit that the call breaks, if any."""
    ask: Reason | None = None
    """Why only a person can allow the call, if so."""
    command_line: CommandLine | None = msgspec.field(default=None, name="line")
    """The parsed command line of a command."""
    confined: bool = False
    """Whether the call runs in the read-only sandbox."""
    status: Status
    reason: Reason | None = None
    """The reason of the present status."""
    edited: bool = False
    """Whether a person has edited the arguments."""
    approval: Approval | None = None
    requested_at: Timestamp
    decided_at: Timestamp | None = None
    decided_by: str | None = None
    started_at: Timestamp | None = None
    finished_at: Timestamp | None = None
    result_id: MessageId | None = None
    asked_by: CallId | None = None
    """The call during which an MCP server asked the person this question."""
    answers: tuple[str, ...] = ()
    """The person's answers to a question."""
    exit_status: int | None = None
    """The exit status of a command; None for other tools, and for records of format 3 and before."""
    origin: str | None = None
    """The program that proposed the call; None for a call of the model."""
    waited: bool = False
    """Whether the call was shown to a person before it could start. The start then compares the call with its preview,
    whether the person approves the call or releases it by a switch of the mode, a rule or an elevation."""

    @property
    def is_open(self) -> bool:
        return self.status in OPEN_STATUSES

    @property
    def may_change(self) -> bool:
        """Whether files that a command runs may change unnoticed between approval and start."""
        return self.content_hash is not None and self.content_hash.endswith(PARTIAL_HASH_SUFFIX)

    @property
    def is_question(self) -> bool:
        return self.effect == "question"

    def undecided(self) -> "CallRecord":
        """The call before any decision: pending, not started, and waiting for a person, who sees its files as of its
        inspection."""
        no_decision: dict[str, Any] = {"approval": None, "decided_at": None, "decided_by": None, "started_at": None}
        return msgspec.structs.replace(self, status="pending", waited=True, **no_decision)


def fingerprint_of(tool: str, arguments: Any) -> str:
    """The hash of a tool name and arguments, independent of the order of keys."""
    return hashlib.sha256(msgspec.json.encode([tool, arguments], order="sorted")).hexdigest()


def call_digest(context: ContextId, call: CallId, workspace: str | None, fingerprint: str) -> str:
    """The hash of what a preview shows: this call, in this context and workspace, with these arguments."""
    text = "\n".join((context, call, workspace or "", fingerprint))
    return hashlib.sha256(text.encode()).hexdigest()


_WORD = re.compile(r"[A-Z]+\d*(?![a-z])|[A-Z]?[a-z]+\d*|\d+|[^\W\d_a-zA-Z]+")
_ACRONYMS = frozenset(
    {"ai", "api", "csv", "html", "http", "id", "ip", "json", "llm", "mcp", "ocr", "pdf", "sql", "url", "xml"}
)


def display_name(name: str) -> str:
    """The name of a tool for people: read_file and readFile both become "Read File"."""
    return " ".join(_capitalize(word) for word in _WORD.findall(name)) or name


def _capitalize(word: str) -> str:
    letters = word.rstrip("0123456789")
    if word.isupper() or letters.lower() in _ACRONYMS:
        return word.upper()
    return word[:1].upper() + word[1:]
