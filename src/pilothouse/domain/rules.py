"""Rules: a person's own refinements of the mode. All have one shape: effect, scope, lifetime, origin."""

import hashlib
import shlex
from collections.abc import Iterable, Mapping
from typing import Literal, NewType

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.lines import UNKNOWN_WORD, CommandLine, Sure, is_led_by, may_hold
from pilothouse.domain.places import Touches, clean_folder, is_beneath, reaches, stays_within
from pilothouse.domain.values import CallId, ContextId, Timestamp, Value

RuleId = NewType("RuleId", str)
RuleEffect = Literal["allow", "ask", "deny"]
Rung = Literal[
    "exact", "words", "folder", "tool", "exact_for_good", "words_for_good", "folder_for_good", "tool_for_good"
]
ANY = "*"
_FOR_GOOD: Mapping[Rung, Rung] = {
    "exact": "exact_for_good",
    "words": "words_for_good",
    "folder": "folder_for_good",
    "tool": "tool_for_good",
}
WORDS_AT_MOST = 10
_SHOWN = 200
_STAND_IN = "damaged-"
_RUNTIME = "runtime"

RULES_PER_CONTEXT = 50
RULES_PER_USER = 1000


class Scope(Value, kw_only=True):
    """All that is given must fit. `tool` may be `*`. `arguments` are words for the fingerprint, to be shown.
    `words` are the leading words of a command: to allow, of the only one; to ask or deny, of any in the line.
    `workspace` is None where the rule holds in every workspace."""

    tool: str = ANY
    fingerprint: str | None = None
    arguments: str | None = None
    words: tuple[str, ...] = ()
    folder: str | None = None
    workspace: str | None = None

    @property
    def width(self) -> tuple[int, int]:
        """How much it covers: exact arguments, then leading words (the more the less), then a folder (the deeper the
        less), then a tool, then all tools."""
        if self.fingerprint is not None:
            return (0, 0)
        if self.words:
            return (1, -len(self.words))
        if self.folder is not None:
            depth = 0 if clean_folder(self.folder) == "." else self.folder.count("/") + 1
            return (2 if self.tool != ANY else 3, -depth)
        return (4 if self.tool != ANY else 5, 0)


class Lifetime(Value):
    """Both open: for good. `context` bounds it to one conversation and its sub-agents, `until` to a time."""

    context: ContextId | None = None
    until: Timestamp | None = None


class Origin(Value, kw_only=True):
    """Who gave the rule, when, and at which call; or which file it stands in."""

    by: str
    at: Timestamp = ""
    call: CallId | None = None
    context: ContextId | None = None
    file: str | None = None


class Rule(Value, kw_only=True):
    id: RuleId
    effect: RuleEffect
    scope: Scope
    lifetime: Lifetime = Lifetime()
    origin: Origin


class RuleOffer(Value):
    """A rung of the ladder that a pending call is shown with, and the rule that taking it would give."""

    scope: Rung
    rule: Rule


def stand_in(damage: Reason, context: ContextId | None = None) -> Rule:
    """The rule for what a log no longer says. That may have forbidden anything, or revoked a rule that allows: until
    the person has looked and revoked it, every call waits for them."""
    digest = hashlib.sha256(msgspec.json.encode(damage)).hexdigest()[:12]
    return Rule(
        id=RuleId(f"{_STAND_IN}{digest}"),
        effect="ask",
        scope=Scope(),
        lifetime=Lifetime(context=context),
        origin=Origin(by=_RUNTIME),
    )


def is_stand_in(rule: Rule) -> bool:
    return rule.id.startswith(_STAND_IN) and rule.origin.by == _RUNTIME


def in_force(
    rules: Iterable[Rule], *, contexts: Iterable[ContextId], workspace: str | None, now: Timestamp
) -> list[Rule]:
    """Those that count here and now: for this context or one above it, in this workspace, not run out."""
    family = frozenset(contexts)
    return [
        rule
        for rule in rules
        if (rule.lifetime.context is None or rule.lifetime.context in family)
        and (rule.lifetime.until is None or now < rule.lifetime.until)
        and (rule.scope.workspace is None or rule.scope.workspace == workspace)
    ]


def fits(rule: Rule, *, tool: str, fingerprint: str, touches: Touches, line: CommandLine | None = None) -> Sure:
    """Whether a rule speaks of a call. In doubt about what it does, what forbids does and what allows does not."""
    scope = rule.scope
    if scope.tool not in (ANY, tool) or scope.fingerprint not in (None, fingerprint):
        return "no"
    if scope.folder is not None:
        inside = stays_within(touches, [scope.folder]) if rule.effect == "allow" else reaches(touches, scope.folder)
        if not inside:
            return "no"
    if not scope.words:
        return "yes"
    if line is None:
        return "no"
    if rule.effect == "allow":
        return "yes" if is_led_by(line, scope.words) else "no"
    return may_hold(line, scope.words)


def is_of_whole_tool(scope: Scope) -> bool:
    """Whether it speaks of every call of one tool."""
    return scope.tool != ANY and scope.fingerprint is None and scope.folder is None and not scope.words


def is_narrower(one: Scope, other: Scope) -> bool:
    """Whether `one` says something more particular than `other`."""
    return one.width < other.width


def ladder(
    tool: str,
    fingerprint: str,
    arguments: str,
    touches: Touches,
    *,
    words: tuple[str, ...] = (),
    workspace: str | None,
    origin: Origin,
) -> list[RuleOffer]:
    """The allow rules that a call which is shown may be answered with, narrowest first: in this conversation, then for
    good in this workspace. They have no id yet: taking one gives it."""
    scopes: list[tuple[Rung, Scope]] = [
        ("exact", Scope(tool=tool, fingerprint=fingerprint, arguments=_cut(arguments), workspace=workspace))
    ]
    if words:
        scopes.append(("words", Scope(tool=tool, words=words, workspace=workspace)))
    folder = _common_folder(touches)
    if folder is not None:
        scopes.append(("folder", Scope(tool=tool, folder=folder, workspace=workspace)))
    scopes.append(("tool", Scope(tool=tool, workspace=workspace)))
    here = Lifetime(context=origin.context)
    return [
        *(RuleOffer(rung, _allow(scope, here, origin)) for rung, scope in scopes),
        *(RuleOffer(_FOR_GOOD[rung], _allow(scope, Lifetime(), origin)) for rung, scope in scopes),
    ]


def _cut(arguments: str) -> str:
    """A rule stores the beginning of long arguments, marked and with their length; the fingerprint stands for all."""
    if len(arguments) <= _SHOWN:
        return arguments
    return f"{arguments[:_SHOWN]}… ({len(arguments)} characters)"


def _allow(scope: Scope, lifetime: Lifetime, origin: Origin) -> Rule:
    return Rule(id=RuleId(""), effect="allow", scope=scope, lifetime=lifetime, origin=origin)


def _common_folder(touches: Touches) -> str | None:
    """The folder that holds everything a call touches; None where that is the whole workspace."""
    if not touches or any(".." in path.split("/") for path in touches):
        return None
    folders = [clean_folder(path).rpartition("/")[0] or "." for path in touches]
    common = folders[0]
    while common != "." and not all(is_beneath(folder, common) for folder in folders):
        common = common.rpartition("/")[0] or "."
    return None if common == "." else common


def check_scope(scope: Scope) -> None:
    """Raises: InvalidInput for a scope that says nothing, or a folder that is not one of the workspace."""
    if not scope.tool.strip():
        raise InvalidInput(Code.RULE_WITHOUT_TOOL)
    if scope.folder is not None and (".." in scope.folder.split("/") or scope.folder.startswith("/")):
        raise InvalidInput(Code.RULE_FOLDER, folder=scope.folder)
    if len(scope.words) > WORDS_AT_MOST or any(not word or word == UNKNOWN_WORD for word in scope.words):
        raise InvalidInput(Code.RULE_WORDS, limit=WORDS_AT_MOST)


def rule_reason(code: Code, rule: Rule) -> Reason:
    """What a rule did, in a form that can be put into words in any language."""
    return Reason(code, {"rule": rule.id, **rule_params(rule)})


def rule_params(rule: Rule) -> dict[str, str]:
    scope, origin = rule.scope, rule.origin
    where = scope.arguments or (f"{clean_folder(scope.folder)}/" if scope.folder is not None else ANY)
    if scope.arguments and len(scope.arguments) == _SHOWN and not scope.arguments.endswith("}"):
        where += "…"  # earlier versions cut without a mark
    if scope.words and not scope.arguments:
        where = f"{shlex.join(scope.words)} …"
    given = origin.file or " ".join(filter(None, (origin.by, origin.at)))
    return {"tool": scope.tool, "where": where, "given": given}
