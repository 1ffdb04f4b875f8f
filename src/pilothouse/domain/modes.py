"""Modes: how much the agent may do. A mode is data; the gate reads it, nothing else interprets it."""

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Literal

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.values import Value


class Verdict(IntEnum):
    """Ordered by strictness."""

    RUN = 0
    WAIT = 1
    DENY = 2


class Mode(Value, kw_only=True):
    """`withholds` are tools that are neither offered nor run, whatever they say of themselves. `only_beneath` are the
    folders outside of which nothing may be changed, where there are any. `lets_run` are tools that change something and
    are decided like reading, `offers_also` some that are offered though they may change something."""

    name: str
    title: str
    title_zh: str
    icon: str
    meaning: str
    meaning_zh: str
    aliases: tuple[str, ...] = ()
    offers: Literal["all", "read_only", "none"]
    read_only: Verdict
    mutating: Verdict
    withholds: frozenset[str] = frozenset()
    only_beneath: tuple[str, ...] = ()
    lets_run: frozenset[str] = frozenset()
    offers_also: frozenset[str] = frozenset()
    elevates: bool = False
    denial_ends_turn: bool = False
    denial_hint: str = "agent"
    prompt: str = ""


_BUILT_IN = (
    Mode(
        name="agent",
        title="Agent",
        title_zh="智能体",
        icon="⚡",
        meaning="Runs everything by itself.",
        meaning_zh="自动执行所有操作。",
        aliases=("build", "code", "act", "actor"),
        offers="all",
        read_only=Verdict.RUN,
        mutating=Verdict.RUN,
    ),
    Mode(
        name="supervised",
        title="Supervised",
        title_zh="监督",
        icon="🛡️",
        meaning="Every call waits for you.",
        meaning_zh="每次调用都等待你的批准。",
        offers="all",
        read_only=Verdict.WAIT,
        mutating=Verdict.WAIT,
    ),
    Mode(
        name="review",
        title="Review",
        title_zh="审阅",
        icon="🔎",
        meaning="Reads by itself; asks before each change.",
        meaning_zh="自动读取；每次修改前询问。",
        offers="all",
        read_only=Verdict.RUN,
        mutating=Verdict.WAIT,
        lets_run=frozenset({"undo"}),
        elevates=True,
        prompt=(
            "You are in review mode: it is read-only. Use the reading tools freely to look and to check. "
            "Explain what should be changed and why instead of changing it. "
            "A call that would change something is put before the person, who may leave it out."
        ),
    ),
    Mode(
        name="plan",
        title="Plan",
        title_zh="计划",
        icon="🧠",
        meaning="Reads and plans; changes nothing.",
        meaning_zh="只读取和规划；不做任何修改。",
        aliases=("planner",),
        offers="read_only",
        read_only=Verdict.RUN,
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
        title="Ask",
        title_zh="问答",
        icon="💬",
        meaning="Only talks; has no tools.",
        meaning_zh="只对话；没有工具。",
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
    """The same modes, where a plan may run commands that only read."""
    plan = modes.all["plan"]
    said = "run commands that change anything, write or edit anything"
    changed = msgspec.structs.replace(
        plan,
        withholds=plan.withholds - {"execute"},
        offers_also=plan.offers_also | {"execute"},
        prompt=plan.prompt.replace("run commands, write or edit anything", said),
    )
    return Modes([changed, *(mode for name, mode in modes.all.items() if name not in _BUILT_IN_NAMES)])


_OFFERS = {"none": 2, "read_only": 1, "all": 0}


def strictness(mode: Mode) -> tuple[int, int, int]:
    """For choosing one of several: what a mode says of changes counts most, then what it offers, then reading."""
    return (mode.mutating, _OFFERS[mode.offers], mode.read_only)


def is_looser(mode: Mode, other: Mode) -> bool:
    """Whether a mode lets anything through, or offers anything, that another does not."""
    return (
        mode.read_only < other.read_only
        or mode.mutating < other.mutating
        or _OFFERS[mode.offers] < _OFFERS[other.offers]
        or (mode.offers != "none" and not mode.withholds >= other.withholds)
        or (other.mutating is not Verdict.RUN and not mode.lets_run <= other.lets_run)
        or (other.offers != "all" and not mode.offers_also <= other.offers_also)
        or (other.elevates and not mode.elevates and mode.mutating is not Verdict.DENY)  # rules open the one only
        or (bool(other.only_beneath) and mode.only_beneath != other.only_beneath)
    )


_BUILT_IN_NAMES = frozenset(mode.name for mode in _BUILT_IN)


class Modes:
    """The modes that there are, found by name or alias: the built-in ones, then a person's own."""

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
        """The mode that a context was left in. One that is no longer configured lets nothing through."""
        known = self._by_any_name.get(name)
        return known or msgspec.structs.replace(self.all["ask"], name=name, title=name, title_zh=name, aliases=())
