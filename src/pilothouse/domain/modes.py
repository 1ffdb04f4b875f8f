"""Modes: how much the agent may do. A mode is data; only the gate interprets it."""

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Literal

import msgspec

from pilothouse.domain.codes import Code, Language
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.value import Value


class Verdict(IntEnum):
    """The outcome of a decision. The values order the verdicts by strictness."""

    ALLOW = 0
    ASK = 1
    DENY = 2

    @property
    def audit_word(self) -> str:
        """The verdict in an audit entry: `run`, `wait` or `deny`.

        These words stay although the verdicts have other names: entries are hash-chained and never rewritten, and
        readers of earlier versions know these words only.
        """
        return {Verdict.ALLOW: "run", Verdict.ASK: "wait", Verdict.DENY: "deny"}[self]


class Mode(Value, kw_only=True):
    """How one mode decides calls, and which tools it offers."""

    name: str
    base: str = ""
    """The built-in mode from which a custom mode is derived; empty for a built-in mode."""
    titles: Mapping[Language, str] = {}
    """Titles of a custom mode; `i18n` holds those of the built-in modes."""
    descriptions: Mapping[Language, str] = {}
    """Descriptions of a custom mode; `i18n` holds those of the built-in modes."""
    icon: str
    aliases: tuple[str, ...] = ()
    """Other names under which the mode can be chosen."""
    offers: Literal["all", "read_only", "none"]
    """Which tools requests offer to the model."""
    read_only: Verdict
    """The verdict on calls that only read."""
    mutating: Verdict
    """The verdict on calls that may change something."""
    withholds: frozenset[str] = frozenset()
    """Tools that are neither offered nor run, whatever effect they declare."""
    only_beneath: tuple[str, ...] = ()
    """The only folders in which calls may change files; empty for no such restriction."""
    allowed_tools: frozenset[str] = frozenset()
    """Mutating tools that are decided like read-only ones."""
    also_offered_tools: frozenset[str] = frozenset()
    """Mutating tools that are offered in spite of `offers`."""
    elevates: bool = False
    """Whether a person can elevate the mode: allow several mutating calls at once. Rules cannot allow any then."""
    denial_ends_turn: bool = False
    """Whether a call that the mode denies ends the turn."""
    denial_hint: str = "agent"
    """The mode that a denial proposes to switch to."""
    prompt: str = ""
    """The mode's part of the system prompt."""


_BUILT_IN = (
    Mode(
        name="agent",
        icon="⚡",
        aliases=("build", "code", "act", "actor"),
        offers="all",
        read_only=Verdict.ALLOW,
        mutating=Verdict.ALLOW,
    ),
    Mode(
        name="supervised",
        icon="🛡️",
        offers="all",
        read_only=Verdict.ASK,
        mutating=Verdict.ASK,
    ),
    Mode(
        name="review",
        icon="🔎",
        offers="all",
        read_only=Verdict.ALLOW,
        mutating=Verdict.ASK,
        allowed_tools=frozenset({"undo"}),
        elevates=True,
        prompt=(
            "You are in review mode: it is read-only. Look and check as much as you need. "
            "Explain what should be changed and why instead of changing it. "
            "A call that waits for the person's approval is an offer, which they may leave out."
        ),
    ),
    Mode(
        name="plan",
        icon="🧠",
        aliases=("planner",),
        offers="read_only",
        read_only=Verdict.ALLOW,
        mutating=Verdict.DENY,
        withholds=frozenset({"execute"}),
        denial_ends_turn=True,
        prompt=(
            "You are in plan mode. Observe, analyse, plan, and ask the person where something is unclear. "
            "You cannot run commands, write or edit anything: such a call is denied and ends the turn. "
            "Lay out a plan of concrete steps, then wait until the person switches the mode."
        ),
    ),
    Mode(
        name="ask",
        icon="💬",
        offers="none",
        read_only=Verdict.DENY,
        mutating=Verdict.DENY,
        denial_ends_turn=True,
        prompt=(
            "You are in ask mode: only answer questions. You have no tools and cannot read, write or run "
            "anything. If the person wants something done, say that they can switch the mode."
        ),
    ),
)

DEFAULT_MODE = "agent"


def with_plan_commands(modes: "Modes") -> "Modes":
    """The same modes, with a plan mode that may run read-only commands."""
    plan = modes.all["plan"]
    restriction = "run commands that change anything, write or edit anything"
    changed = msgspec.structs.replace(
        plan,
        withholds=plan.withholds - {"execute"},
        also_offered_tools=plan.also_offered_tools | {"execute"},
        prompt=plan.prompt.replace("run commands, write or edit anything", restriction),
    )
    return Modes([changed, *(mode for name, mode in modes.all.items() if name not in _BUILT_IN_NAMES)])


_OFFERS = {"none": 2, "read_only": 1, "all": 0}


def strictness(mode: Mode) -> tuple[int, int, int]:
    """Sort key of modes: the verdict on mutating calls counts most, then the tools offered, then the verdict on
    read-only calls."""
    return (mode.mutating, _OFFERS[mode.offers], mode.read_only)


def is_looser(mode: Mode, other: Mode) -> bool:
    """Whether a mode allows or offers anything that another mode does not."""
    return (
        mode.read_only < other.read_only
        or mode.mutating < other.mutating
        or _OFFERS[mode.offers] < _OFFERS[other.offers]
        or (mode.offers != "none" and not mode.withholds >= other.withholds)
        or (other.mutating is not Verdict.ALLOW and not mode.allowed_tools <= other.allowed_tools)
        or (other.offers != "all" and not mode.also_offered_tools <= other.also_offered_tools)
        or (
            other.elevates and not mode.elevates and mode.mutating is not Verdict.DENY
        )  # rules can allow calls in only one of the modes
        or (bool(other.only_beneath) and mode.only_beneath != other.only_beneath)
    )


_BUILT_IN_NAMES = frozenset(mode.name for mode in _BUILT_IN)


class Modes:
    """All modes by name or alias: the built-in ones, then the custom ones."""

    def __init__(self, own: Iterable[Mode] = ()) -> None:
        self.all: Mapping[str, Mode] = {mode.name: mode for mode in (*_BUILT_IN, *own)}
        self._by_any_name = {alias: mode for mode in self.all.values() for alias in (mode.name, *mode.aliases)}

    def named(self, name: str) -> Mode:
        """Raises: InvalidInput for a name that no mode has."""
        mode = self._by_any_name.get(name)
        if mode is None:
            raise InvalidInput(Code.UNKNOWN_MODE, mode=name, allowed=", ".join(self.all))
        return mode

    def has(self, name: str) -> bool:
        return name in self._by_any_name

    def stored(self, name: str) -> Mode:
        """The mode under a stored name. A mode that is no longer configured denies everything."""
        mode = self._by_any_name.get(name)
        return mode or msgspec.structs.replace(self.all["ask"], name=name, base="ask", aliases=())
