"""What a file says, as the domain's values: modes, personas, prices, and the steering of a workspace."""

import hashlib
from typing import Any

import msgspec

from pilothouse.config.reading import Document, KeyPath
from pilothouse.config.schema import (
    ApprovalTable,
    ModeTable,
    PersonaTable,
    PriceTable,
    ProjectFile,
    RuleTable,
    UserFile,
)
from pilothouse.domain.branches import check_name
from pilothouse.domain.decisions import DirectoryMode
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.modes import DEFAULT_MODE, Mode, Modes, Verdict, is_looser
from pilothouse.domain.personas import Persona, ToolPolicy
from pilothouse.domain.places import below_workspace
from pilothouse.domain.policies import Policy
from pilothouse.domain.prices import Price
from pilothouse.domain.rules import Origin, Rule, RuleId, Scope, check_scope
from pilothouse.domain.steering import Steering

_VERDICTS = {"run": Verdict.RUN, "wait": Verdict.WAIT, "deny": Verdict.DENY}
_STRICTER = ("ask", "deny")


def modes_of(document: Document, file: UserFile) -> Modes:
    """The built-in modes and the person's own. Raises: InvalidInput."""
    built_in = Modes()
    own: list[Mode] = []
    taken = {name for mode in built_in.all.values() for name in (mode.name, *mode.aliases)}
    for name, table in file.modes.items():
        at = ("modes", name)
        mode = _mode(document, at, name, document.checked(table, ModeTable, at), built_in)
        for each in (mode.name, *mode.aliases):
            if each in taken:
                document.fail(at, f"The name {each!r} is taken by another mode.", "a new name")
            taken.add(each)
        own.append(mode)
    modes = Modes(own)
    for mode in own:
        if mode.denial_hint not in taken:
            document.fail(("modes", mode.name, "denial_hint"), "There is no such mode.", ", ".join(modes.all))
    return modes


def _mode(document: Document, at: KeyPath, name: str, table: ModeTable, built_in: Modes) -> Mode:
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii() or len(name) > 30:
        document.fail(at, "That is no name for a mode.", "up to 30 letters, digits, '-' and '_'")
    base = built_in.all.get(table.base)
    if base is None:
        document.fail((*at, "base"), "There is no such mode.", ", ".join(built_in.all))
    given = {field: value for field, value in msgspec.structs.asdict(table).items() if value is not None}
    given.pop("base", None)
    changed: dict[str, Any] = {"title": name, "title_zh": name, "aliases": (), **given}
    changed.update({field: _VERDICTS[given[field]] for field in ("read_only", "mutating") if field in given})
    if "withholds" in given:
        changed["withholds"] = frozenset(given["withholds"])
    mode: Mode = msgspec.structs.replace(base, name=name, **changed)
    return mode


def personas_of(document: Document, file: UserFile) -> dict[str, Persona]:
    """Raises: InvalidInput."""
    found = {}
    for name, table in file.personas.items():
        at = ("personas", name)
        try:
            check_name(name)
        except InvalidInput as error:
            document.fail(at, str(error), "a name")
        checked = document.checked(table, PersonaTable, at)
        fields = {field: frozenset(value) for field, value in msgspec.structs.asdict(checked).items()}
        found[name] = Persona(name, ToolPolicy(**fields))
    return found


def prices_of(document: Document, file: UserFile) -> dict[str, Price]:
    """Raises: InvalidInput."""
    checked = {name: document.checked(table, PriceTable, ("prices", name)) for name, table in file.prices.items()}
    return {name: Price(input=price.input, output=price.output) for name, price in checked.items()}


def user_steering(document: Document, file: UserFile, modes: Modes, workspace: str | None) -> Steering:
    """What the person's own file says for a workspace. Raises: InvalidInput."""
    return Steering(
        mode=_named_mode(document, file.mode, modes),
        preference=_policy(file.approval) if file.approval is not None else Policy(),
        rules=_rules(document, file, allowed=("allow", *_STRICTER)),
        directories=_directories(document, file, modes, workspace),
        disabled=frozenset(file.tools.disabled),
    )


def with_project(user: Steering, document: Document, file: ProjectFile, modes: Modes, workspace: str) -> Steering:
    """The person's steering with what a folder's own file adds: it can only make things stricter.

    Raises: InvalidInput for anything that would make them looser.
    """
    rules = _rules(document, file, allowed=_STRICTER)
    mode = _named_mode(document, file.mode, modes)
    if mode is not None:
        own = modes.named(user.mode or DEFAULT_MODE)
        if is_looser(modes.named(mode), own):
            strict = ", ".join(name for name, each in modes.all.items() if not is_looser(each, own))
            document.fail(("mode",), f"It is looser than your own ({own.name}): a project may not set it.", strict)
    for number, rule in enumerate(rules):
        if rule.scope.workspace not in (None, workspace):
            document.fail(("rules", str(number), "workspace"), "A project speaks of itself only.", "leave it out")
    return msgspec.structs.replace(
        user,
        mode=mode or user.mode,
        policies=(*user.policies, _policy(file.approval)) if file.approval is not None else user.policies,
        rules=(*user.rules, *rules),
        directories=(*user.directories, *_directories(document, file, modes, workspace)),
        disabled=user.disabled | frozenset(file.tools.disabled),
    )


def _named_mode(document: Document, name: str | None, modes: Modes) -> str | None:
    if name is None:
        return None
    try:
        return modes.named(name).name
    except InvalidInput:
        document.fail(("mode",), "There is no such mode.", ", ".join(modes.all))


def _policy(table: ApprovalTable) -> Policy:
    return Policy(
        kind=table.policy, tools=frozenset(table.tools), depth=table.depth, always_ask=frozenset(table.always_ask)
    )


def _rules(document: Document, file: ProjectFile, *, allowed: tuple[str, ...]) -> tuple[Rule, ...]:
    found = []
    for number, data in enumerate(file.rules):
        at = ("rules", str(number))
        table = document.checked(data, RuleTable, at)
        if table.effect not in allowed:
            document.fail((*at, "effect"), "A project's file may not allow anything.", ", ".join(allowed))
        scope = Scope(tool=table.tool, folder=table.folder, workspace=table.workspace)
        try:
            check_scope(scope)
        except InvalidInput as error:
            document.fail(at, str(error), "a folder below the workspace")
        origin = document.origin(at)
        rule_id = RuleId(f"file-{hashlib.sha256(f'{origin} {table}'.encode()).hexdigest()[:12]}")
        found.append(Rule(id=rule_id, effect=table.effect, scope=scope, origin=Origin(by="file", file=origin)))
    return tuple(found)


def _directories(
    document: Document, file: ProjectFile, modes: Modes, workspace: str | None
) -> tuple[DirectoryMode, ...]:
    found = []
    for folder, name in file.directories.items():
        at = ("directories", folder)
        if not isinstance(name, str) or name not in modes.all:
            document.fail(at, "There is no such mode.", ", ".join(modes.all))
        if ".." in folder.split("/"):
            document.fail(at, "A folder is named without '..'.", "a folder of the workspace, or an absolute one")
        below = below_workspace(folder, workspace or "/")
        if below is not None:
            found.append(DirectoryMode(folder=below, mode=modes.all[name]))
    return tuple(found)
