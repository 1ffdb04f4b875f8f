"""Rules: a person's refinements of the mode. Each rule has an effect, a scope, a lifetime and an origin."""

import hashlib
import shlex
from collections.abc import Iterable, Mapping
from typing import Literal, NewType

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.command_line import UNKNOWN_WORD, Certainty, CommandLine, may_contain_command, starts_with_words
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.touched_paths import Touches, clean_folder, is_beneath, may_touch, stays_within
from pilothouse.domain.value import CallId, ContextId, Timestamp, Value

RuleId = NewType("RuleId", str)
RuleEffect = Literal["allow", "ask", "deny"]
RuleOption = Literal[
    "exact", "words", "folder", "tool", "exact_for_good", "words_for_good", "folder_for_good", "tool_for_good"
]
ANY_TOOL = "*"
_PERMANENT_OPTION: Mapping[RuleOption, RuleOption] = {
    "exact": "exact_for_good",
    "words": "words_for_good",
    "folder": "folder_for_good",
    "tool": "tool_for_good",
}
MAX_RULE_WORDS = 10
_MAX_ARGUMENTS_CHARACTERS = 200
_SUBSTITUTE_PREFIX = "damaged-"
_RUNTIME = "runtime"

MAX_RULES_PER_CONTEXT = 50
MAX_RULES_PER_USER = 1000


class Scope(Value, kw_only=True):
    """The calls that a rule applies to. Every field that is set must match."""

    tool: str = ANY_TOOL
    fingerprint: str | None = None
    """The fingerprint of the one call with exactly these arguments."""
    arguments: str | None = None
    """The arguments behind `fingerprint`, shortened, for display."""
    words: tuple[str, ...] = ()
    """The leading words of a command. An allow rule matches a line that is this one command; an ask or deny rule
    matches any command in the line."""
    folder: str | None = None
    workspace: str | None = None
    """None for a rule that applies in every workspace."""

    @property
    def width(self) -> tuple[int, int]:
        """The sort key of scopes, narrowest first: exact arguments, leading words (more words are narrower), a folder
        (a deeper one is narrower), a tool, all tools."""
        if self.fingerprint is not None:
            return (0, 0)
        if self.words:
            return (1, -len(self.words))
        if self.folder is not None:
            depth = 0 if clean_folder(self.folder) == "." else self.folder.count("/") + 1
            return (2 if self.tool != ANY_TOOL else 3, -depth)
        return (4 if self.tool != ANY_TOOL else 5, 0)


class Lifetime(Value):
    """How long a rule applies. Without either bound the rule is permanent."""

    context: ContextId | None = None
    """Bounds the rule to one conversation and its sub-agents."""
    until: Timestamp | None = None


class Origin(Value, kw_only=True):
    """The origin of a rule: its author, time and call, or the file that defines it."""

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


class RuleOptionOffer(Value):
    """An "always allow" option of a pending call, and the rule that choosing it creates."""

    scope: RuleOption
    rule: Rule


def substitute_rule(damage: Reason, context: ContextId | None = None) -> Rule:
    """The rule in place of a damaged part of the rule log. The lost entries may have denied anything or revoked an
    allow rule, so every call requires approval until the person revokes the substitute."""
    digest = hashlib.sha256(msgspec.json.encode(damage)).hexdigest()[:12]
    return Rule(
        id=RuleId(f"{_SUBSTITUTE_PREFIX}{digest}"),
        effect="ask",
        scope=Scope(),
        lifetime=Lifetime(context=context),
        origin=Origin(by=_RUNTIME),
    )


def is_substitute(rule: Rule) -> bool:
    return rule.id.startswith(_SUBSTITUTE_PREFIX) and rule.origin.by == _RUNTIME


def applicable_rules(
    rules: Iterable[Rule], *, contexts: Iterable[ContextId], workspace: str | None, now: Timestamp
) -> list[Rule]:
    """The rules that apply now: made for one of these contexts or for all, for this workspace or all, not expired."""
    family = frozenset(contexts)
    return [
        rule
        for rule in rules
        if (rule.lifetime.context is None or rule.lifetime.context in family)
        and (rule.lifetime.until is None or now < rule.lifetime.until)
        and (rule.scope.workspace is None or rule.scope.workspace == workspace)
    ]


def matches(rule: Rule, *, tool: str, fingerprint: str, touches: Touches, line: CommandLine | None = None) -> Certainty:
    """Whether a rule applies to a call. In doubt about what a call does, ask and deny rules apply and allow rules do
    not."""
    scope = rule.scope
    if scope.tool not in (ANY_TOOL, tool) or scope.fingerprint not in (None, fingerprint):
        return "no"
    if scope.folder is not None:
        inside = stays_within(touches, [scope.folder]) if rule.effect == "allow" else may_touch(touches, scope.folder)
        if not inside:
            return "no"
    if not scope.words:
        return "yes"
    if line is None:
        return "no"
    if rule.effect == "allow":
        return "yes" if starts_with_words(line, scope.words) else "no"
    return may_contain_command(line, scope.words)


def covers_whole_tool(scope: Scope) -> bool:
    """Whether a scope covers every call of one tool."""
    return scope.tool != ANY_TOOL and scope.fingerprint is None and scope.folder is None and not scope.words


def is_narrower(scope: Scope, other: Scope) -> bool:
    """Whether `scope` covers a more specific kind of calls than `other`."""
    return scope.width < other.width


def rule_options(
    tool: str,
    fingerprint: str,
    arguments: str,
    touches: Touches,
    *,
    words: tuple[str, ...] = (),
    workspace: str | None,
    origin: Origin,
) -> list[RuleOptionOffer]:
    """The allow rules that a pending call offers, narrowest first: for this conversation, then permanent in this
    workspace. The rules have no id yet: the runtime assigns one to the rule that is chosen."""
    scopes: list[tuple[RuleOption, Scope]] = [
        (
            "exact",
            Scope(tool=tool, fingerprint=fingerprint, arguments=_shorten_arguments(arguments), workspace=workspace),
        )
    ]
    if words:
        scopes.append(("words", Scope(tool=tool, words=words, workspace=workspace)))
    folder = _common_folder(touches)
    if folder is not None:
        scopes.append(("folder", Scope(tool=tool, folder=folder, workspace=workspace)))
    scopes.append(("tool", Scope(tool=tool, workspace=workspace)))
    conversation = Lifetime(context=origin.context)
    return [
        *(RuleOptionOffer(option, _allow_rule(scope, conversation, origin)) for option, scope in scopes),
        *(RuleOptionOffer(_PERMANENT_OPTION[name], _allow_rule(scope, Lifetime(), origin)) for name, scope in scopes),
    ]


def _shorten_arguments(arguments: str) -> str:
    """The beginning of long arguments, with a mark and their length. The fingerprint identifies the whole."""
    if len(arguments) <= _MAX_ARGUMENTS_CHARACTERS:
        return arguments
    return f"{arguments[:_MAX_ARGUMENTS_CHARACTERS]}… ({len(arguments)} characters)"


def _allow_rule(scope: Scope, lifetime: Lifetime, origin: Origin) -> Rule:
    return Rule(id=RuleId(""), effect="allow", scope=scope, lifetime=lifetime, origin=origin)


def _common_folder(touches: Touches) -> str | None:
    """The deepest folder that contains all paths that a call touches; None if that is the whole workspace."""
    if not touches or any(".." in path.split("/") for path in touches):
        return None
    folders = [clean_folder(path).rpartition("/")[0] or "." for path in touches]
    common = folders[0]
    while common != "." and not all(is_beneath(folder, common) for folder in folders):
        common = common.rpartition("/")[0] or "."
    return None if common == "." else common


def check_scope(scope: Scope) -> None:
    """Raises: InvalidInput for a scope without a tool, a folder outside the workspace or invalid leading words."""
    if not scope.tool.strip():
        raise InvalidInput(Code.RULE_WITHOUT_TOOL)
    if scope.folder is not None and (".." in scope.folder.split("/") or scope.folder.startswith("/")):
        raise InvalidInput(Code.RULE_FOLDER, folder=scope.folder)
    if len(scope.words) > MAX_RULE_WORDS or any(not word or word == UNKNOWN_WORD for word in scope.words):
        raise InvalidInput(Code.RULE_WORDS, limit=MAX_RULE_WORDS)


def rule_reason(code: Code, rule: Rule) -> Reason:
    """The reason of a decision by a rule, with the parameters that describe the rule."""
    return Reason(code, {"rule": rule.id, **rule_params(rule)})


def rule_params(rule: Rule) -> dict[str, str]:
    """The parameters that describe a rule in a text."""
    scope, origin = rule.scope, rule.origin
    target = scope.arguments or (f"{clean_folder(scope.folder)}/" if scope.folder is not None else ANY_TOOL)
    if scope.arguments and len(scope.arguments) == _MAX_ARGUMENTS_CHARACTERS and not scope.arguments.endswith("}"):
        target += "…"  # earlier versions cut without a mark
    if scope.words and not scope.arguments:
        target = f"{shlex.join(scope.words)} …"
    source = origin.file or " ".join(filter(None, (origin.by, origin.at)))
    return {"tool": scope.tool, "where": target, "given": source}
