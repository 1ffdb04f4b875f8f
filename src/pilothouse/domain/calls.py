"""Call records: what became of a tool call. What the model sent lies in its message and never changes."""

import hashlib
import re
from typing import Any, Literal

import msgspec

from pilothouse.domain.codes import Reason
from pilothouse.domain.lines import CommandLine
from pilothouse.domain.values import CallId, ContextId, MessageId, Timestamp, TurnId, Value

Status = Literal[
    "pending", "approved", "executing", "executed", "failed", "rejected", "denied", "cancelled", "interrupted"
]
PARTIAL_BASIS = ":partial"
"""Ends the basis of a command that may run other files than those that the basis names."""
OPEN: frozenset[Status] = frozenset({"pending", "approved", "executing"})
Effect = Literal["read_only", "mutating", "question", "delegating", "unknown"]


class Approval(Value):
    """A person's leave to run exactly what the digest names, under the modes under which it was given."""

    by: str
    at: Timestamp
    digest: str
    mode: str


class CallRecord(Value, kw_only=True):
    """One call. `basis` names the content that the preview was made from; the tool checks it again. `ask` is why only a
    person can let it run, `line` what a command holds; `confined` says that it runs where it can only read.
    `asked_by` is the call in which a server put this question to the person, `answers` what they said."""

    id: CallId
    provider_id: str
    message_id: MessageId
    turn: TurnId
    round: int
    tool: str
    display_name: str
    arguments: Any
    digest: str
    fingerprint: str
    effect: Effect
    touches: tuple[str, ...] | None = None
    dangerous: tuple[str, ...] = ()
    preview: str | None = None
    basis: str | None = None
    limit: Reason | None = None
    ask: Reason | None = None
    line: CommandLine | None = None
    confined: bool = False
    status: Status
    reason: Reason | None = None
    edited: bool = False
    approval: Approval | None = None
    requested_at: Timestamp
    decided_at: Timestamp | None = None
    decided_by: str | None = None
    started_at: Timestamp | None = None
    finished_at: Timestamp | None = None
    result_id: MessageId | None = None
    asked_by: CallId | None = None
    answers: tuple[str, ...] = ()
    exit_status: int | None = None
    """How a command ended; None for anything else, and for records of format 3 and before."""
    waited: bool = False
    """Whether a person was shown the call before it could start. What they saw is compared when it starts, whether they
    approve the call or release it by a switch of the mode, a rule or an elevation."""

    @property
    def is_open(self) -> bool:
        return self.status in OPEN

    @property
    def may_change(self) -> bool:
        """Whether files that decide what a command runs may change after the approval without being noticed."""
        return self.basis is not None and self.basis.endswith(PARTIAL_BASIS)

    @property
    def is_question(self) -> bool:
        return self.effect == "question"


def fingerprint_of(tool: str, arguments: Any) -> str:
    """The same for the same tool with the same arguments, whatever their order."""
    return hashlib.sha256(msgspec.json.encode([tool, arguments], order="sorted")).hexdigest()


def digest_of(context: ContextId, call: CallId, workspace: str | None, fingerprint: str) -> str:
    """Names what was shown: this call, here, with these arguments. It fits no other call."""
    text = "\n".join((context, call, workspace or "", fingerprint))
    return hashlib.sha256(text.encode()).hexdigest()


_WORD = re.compile(r"[A-Z]+\d*(?![a-z])|[A-Z]?[a-z]+\d*|\d+|[^\W\d_a-zA-Z]+")
_ACRONYMS = frozenset(
    {"ai", "api", "csv", "html", "http", "id", "ip", "json", "llm", "mcp", "ocr", "pdf", "sql", "url", "xml"}
)


def display_name(name: str) -> str:
    """A tool's name in readable words: read_file and readFile are both "Read File"."""
    return " ".join(_shaped(word) for word in _WORD.findall(name)) or name


def _shaped(word: str) -> str:
    letters = word.rstrip("0123456789")
    if word.isupper() or letters.lower() in _ACRONYMS:
        return word.upper()
    return word[:1].upper() + word[1:]
