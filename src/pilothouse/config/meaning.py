"""What a file says, as the domain's values: modes, models, and the steering of a workspace."""

import hashlib
import os
import re
import shlex
from typing import Any

import msgspec

from pilothouse.config.reading import Document, KeyPath
from pilothouse.config.schema import (
    ApprovalTable,
    ModelTable,
    ModeTable,
    ProjectFile,
    RootTable,
    RuleTable,
    ServerUserTable,
    UserFile,
)
from pilothouse.domain.budgets import Budget, OverviewSettings
from pilothouse.domain.decisions import DirectoryMode
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.models import Catalogue, ModelFacts
from pilothouse.domain.modes import DEFAULT_MODE, Mode, Modes, Verdict, is_looser, with_plan_commands
from pilothouse.domain.places import below_workspace
from pilothouse.domain.policies import Policy
from pilothouse.domain.prices import Price
from pilothouse.domain.rules import RULES_PER_USER, Origin, Rule, RuleId, Scope, check_scope
from pilothouse.domain.steering import Steering

_VERDICTS = {"run": Verdict.RUN, "wait": Verdict.WAIT, "deny": Verdict.DENY}
_STRICTER = ("ask", "deny")
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}|[0-9a-fA-F:]{2,45}")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,30}")


def modes_of(document: Document, file: UserFile) -> Modes:
    """The built-in modes and the person's own. Raises: InvalidInput."""
    built_in = Modes()
    own: list[Mode] = []
    taken = {name for mode in built_in.all.values() for name in (mode.name, *mode.aliases)}
    for name, table in file.modes.items():
        at = ("modes", name)
        mode = _mode(document, at, name, document.checked(table, ModeTable, at), built_in)
        for each in (mode.name, *mode.aliases):
            if not _NAME.fullmatch(each):
                document.fail(at, f"{each!r} is no name for a mode.", "up to 30 letters, digits, '-' and '_'")
            if each.casefold() in taken:
                document.fail(at, f"The name {each!r} is taken by another mode.", "a new name")
            taken.add(each.casefold())
        for field in ("title", "title_zh", "icon", "meaning", "meaning_zh"):
            if not getattr(mode, field).isprintable():
                document.fail((*at, field), "It holds what cannot be shown.", "one line of text")
        own.append(mode)
    modes = Modes(own)
    if file.plan_commands == "read_only":
        modes = with_plan_commands(modes)
    for mode in own:
        if mode.denial_hint not in taken:
            document.fail(("modes", mode.name, "denial_hint"), "There is no such mode.", ", ".join(modes.all))
    return modes


def _mode(document: Document, at: KeyPath, name: str, table: ModeTable, built_in: Modes) -> Mode:
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


def budget_of(document: Document, file: UserFile) -> Budget:
    """Raises: InvalidInput."""
    given = _given(file.window)
    given.pop("token_budget", None)
    budget = Budget(**given)
    if budget.target >= budget.trigger:
        document.fail(("window", "target"), "It is not below the trigger.", f"less than {budget.trigger}")
    return budget


def overview_of(file: UserFile) -> OverviewSettings:
    given = _given(file.overview)
    if "parts" in given:
        given["parts"] = frozenset(given["parts"])
    return OverviewSettings(**given)


def _given(table: msgspec.Struct) -> dict[str, Any]:
    return {field: value for field, value in msgspec.structs.asdict(table).items() if value is not None}


def check_server(document: Document, file: UserFile, modes: Modes) -> None:
    """Raises: InvalidInput."""
    try:
        modes.named(file.server.completions_mode)
    except InvalidInput:
        document.fail(("server", "completions_mode"), "There is no such mode.", ", ".join(modes.all))
    for name in file.server.hosts:
        if not _HOST.fullmatch(name):
            document.fail(("server", "hosts"), f"{name!r} is no name of a host.", "a name without a port")


def catalogue_of(document: Document, file: UserFile) -> Catalogue:
    """What the person says of models; what they leave out is what is known of that name. Raises: InvalidInput."""
    built_in = Catalogue()
    own = {}
    for name, table in file.models.items():
        at = ("models", name)
        own[name] = _model(document, at, document.checked(table, ModelTable, at), built_in.facts(name))
    return Catalogue(own)


def _model(document: Document, at: KeyPath, table: ModelTable, known: ModelFacts) -> ModelFacts:
    given = {field: value for field, value in msgspec.structs.asdict(table).items() if value is not None}
    prices = {field: given.pop(field) for field in ("input", "output") if field in given}
    if len(prices) == 1:
        missing = "output" if "input" in prices else "input"
        document.fail((*at, missing), "It is missing.", "input and output, or neither")
    if prices:
        given["price"] = Price(**prices)
    facts: ModelFacts = msgspec.structs.replace(known, **given)
    return facts


def user_steering(document: Document, file: UserFile, modes: Modes, workspace: str | None) -> Steering:
    """What the person's own file says for a workspace. Raises: InvalidInput."""
    return Steering(
        mode=_named_mode(document, file.mode, modes),
        preference=_policy(file.approval) if file.approval is not None else Policy(),
        rules=_rules(document, file, workspace, allowed=("allow", *_STRICTER)),
        directories=_directories(document, file, modes, workspace),
    )


def with_project(user: Steering, document: Document, file: ProjectFile, modes: Modes, workspace: str) -> Steering:
    """The person's steering with what a folder's own file adds: it can only make things stricter.

    Raises: InvalidInput for anything that would make them looser.
    """
    rules = _rules(document, file, workspace, allowed=_STRICTER)
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
    )


def _named_mode(document: Document, name: str | None, modes: Modes) -> str | None:
    if name is None:
        return None
    return mode_called(document, ("mode",), name, modes).name


def mode_called(document: Document, at: KeyPath, name: str, modes: Modes) -> Mode:
    """Raises: InvalidInput."""
    try:
        return modes.named(name)
    except InvalidInput:
        document.fail(at, "There is no such mode.", ", ".join(modes.all))


def _policy(table: ApprovalTable) -> Policy:
    return Policy(
        kind=table.policy, tools=frozenset(table.tools), depth=table.depth, always_ask=frozenset(table.always_ask)
    )


def _rules(
    document: Document, file: ProjectFile, workspace: str | None, *, allowed: tuple[str, ...]
) -> tuple[Rule, ...]:
    if len(file.rules) > RULES_PER_USER:
        document.fail(("rules",), "There are too many of them.", f"up to {RULES_PER_USER}")
    found = []
    for number, data in enumerate(file.rules):
        at = ("rules", str(number))
        table = document.checked(data, RuleTable, at)
        if table.effect not in allowed:
            document.fail((*at, "effect"), "A project's file may not allow anything.", ", ".join(allowed))
        scope = Scope(
            tool=table.tool,
            folder=_real_folder(table.folder, workspace),
            words=_words(document, at, table.command),
            workspace=_real_workspace(document, at, table.workspace),
        )
        try:
            check_scope(scope)
        except InvalidInput as error:
            document.fail(at, str(error), "a tool or '*', and a folder below the workspace")
        origin = document.origin(at)
        rule_id = RuleId(f"file-{hashlib.sha256(f'{origin} {table}'.encode()).hexdigest()[:12]}")
        found.append(Rule(id=rule_id, effect=table.effect, scope=scope, origin=Origin(by="file", file=origin)))
    return tuple(found)


def _words(document: Document, at: KeyPath, command: str | None) -> tuple[str, ...]:
    if command is None:
        return ()
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        document.fail((*at, "command"), f"{error}.", "the leading words of one command")
    if not words:
        document.fail((*at, "command"), "It has no words.", "the leading words of one command")
    return words


def roots_of(document: Document, file: UserFile) -> list[RootTable]:
    """Raises: InvalidInput."""
    found = []
    for number, data in enumerate(file.roots):
        at = ("roots", str(number))
        table = document.checked(data, RootTable, at)
        path = os.path.expanduser(table.path)
        if not os.path.isabs(path) or "\0" in path:
            document.fail((*at, "path"), "It is no absolute path.", "an absolute path")
        found.append(RootTable(path=path, writable=table.writable))
    return found


def user_roots_of(document: Document, file: UserFile) -> dict[str, list[str]]:
    """The folders of each user of the server who is kept to some. Raises: InvalidInput."""
    found = {}
    for user, data in file.users.items():
        at = ("users", user)
        roots = document.checked(data, ServerUserTable, at).roots
        paths = [os.path.expanduser(root) for root in roots]
        if not paths or not all(os.path.isabs(path) and "\0" not in path for path in paths):
            document.fail((*at, "roots"), "It names no absolute paths.", "a list of absolute paths")
        found[user] = paths
    return found


def _directories(
    document: Document, file: ProjectFile, modes: Modes, workspace: str | None
) -> tuple[DirectoryMode, ...]:
    found = []
    for folder, name in file.directories.items():
        at = ("directories", folder)
        if not isinstance(name, str):
            document.fail(at, "There is no such mode.", ", ".join(modes.all))
        mode = mode_called(document, at, name, modes)
        if ".." in folder.split("/"):
            document.fail(at, "A folder is named without '..'.", "a folder of the workspace, or an absolute one")
        named = os.path.realpath(os.path.expanduser(folder)) if folder.startswith(("/", "~")) else folder
        below = below_workspace(named, workspace or "/")
        if below is not None:
            # As it is written, and where a link leads: what is touched is told in both ways too.
            real = _real_folder(below, workspace) or below
            found += [DirectoryMode(folder=each, mode=mode) for each in dict.fromkeys((below, real))]
    return tuple(found)


def _real_folder(folder: str | None, workspace: str | None) -> str | None:
    """Where a folder of a workspace really lies, if that is inside."""
    if folder is None or workspace is None or folder.startswith("/") or "\0" in folder:
        return folder
    real = os.path.relpath(os.path.realpath(os.path.join(workspace, folder)), workspace)
    return folder if real.startswith("..") else real


def _real_workspace(document: Document, at: KeyPath, workspace: str | None) -> str | None:
    if workspace is None:
        return None
    named = os.path.expanduser(workspace)
    if not named.startswith("/") or "\0" in named:
        document.fail((*at, "workspace"), "It is no absolute path.", "an absolute path")
    return os.path.realpath(named)
