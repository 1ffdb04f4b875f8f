"""Converts configuration files to domain values: modes, models, budgets, roots and the policy of a workspace."""

import hashlib
import os
import re
import shlex
from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any

import msgspec

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
from pilothouse.config.toml_document import KeyPath, TomlDocument
from pilothouse.domain.base_path import BASE_PATH_FORM, base_path_of
from pilothouse.domain.budgets import Budget, OverviewSettings
from pilothouse.domain.command_variables import MAX_LISTED_VARIABLES, Refusal, refusal_of
from pilothouse.domain.decisions import FolderMode
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.modes import DEFAULT_MODE, Mode, Modes, Verdict, is_looser, with_plan_commands
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import MAX_RULES_PER_USER, Origin, Rule, RuleId, Scope, check_scope
from pilothouse.domain.touched_paths import relative_to_workspace
from pilothouse.domain.workspace_policy import WorkspacePolicy
from pilothouse.llm.model_catalog import ModelCatalog, ModelFacts
from pilothouse.llm.prices import Price
from pilothouse.llm.providers import key_variables

_VERDICTS = {"allow": Verdict.ALLOW, "ask": Verdict.ASK, "deny": Verdict.DENY}
_VERDICTS |= {"run": Verdict.ALLOW, "wait": Verdict.ASK}  # the verdicts of earlier versions
_RESTRICTING_EFFECTS = ("ask", "deny")
_MEANING_FIELDS = {"en": "meaning", "zh": "meaning_zh"}
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}|[0-9a-fA-F:]{2,45}")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,30}")
_REFUSED_VARIABLES: Mapping[Refusal, tuple[str, str]] = {
    "no_name": (
        "{name!r} isn't the name of a variable. Patterns aren't possible.",
        "names of letters, digits and '_', each written in full",
    ),
    "own": ("{name!r} is a variable of Pilothouse's own, which commands never get.", "other variables"),
    "key": ("{name!r} holds the API key of a provider, which commands never get.", "other variables"),
    "set": ("{name!r} has a fixed value in commands, because their output goes to no terminal.", "other variables"),
    "shell": (
        "{name!r} changes what the shell runs, or how it reads a command, so that another command would run than the "
        "one that you approve.",
        "other variables",
    ),
}


def modes_of(document: TomlDocument, file: UserFile) -> Modes:
    """Return the built-in modes and the user's own. Raises: InvalidInput."""
    built_in = Modes()
    user_modes: list[Mode] = []
    names = {name for mode in built_in.all.values() for name in (mode.name, *mode.aliases)}
    for name, table in file.modes.items():
        at = ("modes", name)
        fields = document.validate(table, ModeTable, at)
        mode = _mode(document, at, name, fields, built_in)
        for each in (mode.name, *mode.aliases):
            if not _NAME.fullmatch(each):
                document.fail(at, f"{each!r} isn't a valid mode name.", "up to 30 letters, digits, '-' and '_'")
            if each.casefold() in names:
                document.fail(at, f"Another mode already has the name {each!r}.", "an unused name")
            names.add(each.casefold())
        for field in ("title", "title_zh", "icon", "meaning", "meaning_zh"):
            if not (getattr(fields, field) or "").isprintable():
                document.fail((*at, field), "The text has characters that can't be shown.", "one line of text")
        user_modes.append(mode)
    modes = Modes(user_modes)
    if file.plan_commands == "read_only":
        modes = with_plan_commands(modes)
    for mode in user_modes:
        if mode.denial_hint not in names:
            document.fail(("modes", mode.name, "denial_hint"), "Unknown mode.", ", ".join(modes.all))
    return modes


def _mode(document: TomlDocument, at: KeyPath, name: str, table: ModeTable, built_in: Modes) -> Mode:
    base = built_in.all.get(table.base)
    if base is None:
        document.fail((*at, "base"), "Unknown mode.", ", ".join(built_in.all))
    fields = _set_fields(table)
    fields.pop("base", None)
    titles = {"en": fields.pop("title", name), "zh": fields.pop("title_zh", name)}
    meanings = {language: fields.pop(field) for language, field in _MEANING_FIELDS.items() if field in fields}
    changes: dict[str, Any] = {"base": base.name, "titles": titles, "descriptions": meanings, "aliases": (), **fields}
    changes.update({field: _VERDICTS[fields[field]] for field in ("read_only", "mutating") if field in fields})
    if "withholds" in fields:
        changes["withholds"] = frozenset(fields["withholds"])
    mode: Mode = msgspec.structs.replace(base, name=name, **changes)
    return mode


def budget_of(document: TomlDocument, file: UserFile) -> Budget:
    """Raises: InvalidInput."""
    fields = _set_fields(file.window)
    fields.pop("token_budget", None)
    scorer = fields.pop("scorer", None)
    budget = Budget(**fields)
    if budget.target >= budget.trigger:
        document.fail(("window", "target"), "The target must be below the trigger.", f"less than {budget.trigger}")
    if scorer is not None and budget.strategy != "importance":
        document.fail(("window", "scorer"), "Only the strategy importance has a scorer.", 'strategy = "importance"')
    return budget


def overview_of(file: UserFile) -> OverviewSettings:
    fields = _set_fields(file.overview)
    if "parts" in fields:
        fields["parts"] = frozenset(fields["parts"])
    return OverviewSettings(**fields)


def _set_fields(table: msgspec.Struct) -> dict[str, Any]:
    """Return the fields of a table that the file sets."""
    return {field: value for field, value in msgspec.structs.asdict(table).items() if value is not None}


def check_server(document: TomlDocument, file: UserFile, modes: Modes) -> None:
    """Check the server table. Raises: InvalidInput."""
    try:
        modes.named(file.server.completions_mode)
    except InvalidInput:
        document.fail(("server", "completions_mode"), "Unknown mode.", ", ".join(modes.all))
    for name in file.server.hosts:
        if not _HOST.fullmatch(name):
            document.fail(("server", "hosts"), f"{name!r} isn't a valid host name.", "a name without a port")
    try:
        base_path_of(file.server.base_path)
    except ValueError as error:
        document.fail(("server", "base_path"), f"{error}.", BASE_PATH_FORM)
    for network in file.server.trusted_proxies:
        try:
            ip_network(network)
        except ValueError as error:
            allowed = 'an address or a network, like "127.0.0.1" or "10.0.0.0/8"'
            document.fail(("server", "trusted_proxies"), f"{str(error)[:200]}.", allowed)


def model_catalog_of(document: TomlDocument, file: UserFile) -> ModelCatalog:
    """Return the model catalog with the user's entries; built-in facts about a model fill in missing fields.

    Raises: InvalidInput.
    """
    built_in = ModelCatalog()
    user_models = {}
    for name, table in file.models.items():
        at = ("models", name)
        user_models[name] = _model(document, at, document.validate(table, ModelTable, at), built_in.facts(name))
    return ModelCatalog(user_models)


def _model(document: TomlDocument, at: KeyPath, table: ModelTable, built_in: ModelFacts) -> ModelFacts:
    fields = _set_fields(table)
    prices = {field: fields.pop(field) for field in ("input", "output") if field in fields}
    if len(prices) == 1:
        missing = "output" if "input" in prices else "input"
        document.fail((*at, missing), "A price is missing.", "input and output, or neither")
    if prices:
        fields["price"] = Price(**prices)
    facts: ModelFacts = msgspec.structs.replace(built_in, **fields)
    return facts


def user_policy(document: TomlDocument, file: UserFile, modes: Modes, workspace: str | None) -> WorkspacePolicy:
    """Return the policy of a workspace as the user's file sets it. Raises: InvalidInput."""
    return WorkspacePolicy(
        mode=_named_mode(document, file.mode, modes),
        preference=_policy(file.approval) if file.approval is not None else Policy(),
        rules=_rules(document, file, workspace, allowed=("allow", *_RESTRICTING_EFFECTS)),
        folder_modes=_folder_modes(document, file, modes, workspace),
    )


def with_project(
    user: WorkspacePolicy, document: TomlDocument, file: ProjectFile, modes: Modes, workspace: str
) -> WorkspacePolicy:
    """Add the restrictions of a folder's own file to the user's policy.

    Raises: InvalidInput for anything that would make the policy less strict.
    """
    rules = _rules(document, file, workspace, allowed=_RESTRICTING_EFFECTS)
    mode = _named_mode(document, file.mode, modes)
    if mode is not None:
        user_mode = modes.named(user.mode or DEFAULT_MODE)
        if is_looser(modes.named(mode), user_mode):
            allowed_modes = ", ".join(name for name, each in modes.all.items() if not is_looser(each, user_mode))
            detail = f"A project can't set a mode that is looser than yours ({user_mode.name})."
            document.fail(("mode",), detail, allowed_modes)
    for number, rule in enumerate(rules):
        if rule.scope.workspace not in (None, workspace):
            document.fail(
                ("rules", str(number), "workspace"),
                "A project's rules only apply to that project.",
                "no value; remove this key",
            )
    return msgspec.structs.replace(
        user,
        mode=mode or user.mode,
        policies=(*user.policies, _policy(file.approval)) if file.approval is not None else user.policies,
        rules=(*user.rules, *rules),
        folder_modes=(*user.folder_modes, *_folder_modes(document, file, modes, workspace)),
    )


def _named_mode(document: TomlDocument, name: str | None, modes: Modes) -> str | None:
    if name is None:
        return None
    return find_mode(document, ("mode",), name, modes).name


def find_mode(document: TomlDocument, at: KeyPath, name: str, modes: Modes) -> Mode:
    """Return the mode that a key names. Raises: InvalidInput."""
    try:
        return modes.named(name)
    except InvalidInput:
        document.fail(at, "Unknown mode.", ", ".join(modes.all))


def _policy(table: ApprovalTable) -> Policy:
    return Policy(
        kind=table.policy, tools=frozenset(table.tools), depth=table.depth, always_ask=frozenset(table.always_ask)
    )


def _rules(
    document: TomlDocument, file: ProjectFile, workspace: str | None, *, allowed: tuple[str, ...]
) -> tuple[Rule, ...]:
    if len(file.rules) > MAX_RULES_PER_USER:
        document.fail(("rules",), "There are too many rules.", f"up to {MAX_RULES_PER_USER}")
    rules = []
    for number, raw_table in enumerate(file.rules):
        at = ("rules", str(number))
        table = document.validate(raw_table, RuleTable, at)
        if table.effect not in allowed:
            document.fail((*at, "effect"), "A project's file can't allow anything.", ", ".join(allowed))
        scope = Scope(
            tool=table.tool,
            folder=_real_folder(table.folder, workspace),
            words=_words(document, at, table.command),
            workspace=_real_workspace(document, at, table.workspace),
        )
        try:
            check_scope(scope)
        except InvalidInput as error:
            document.fail(at, str(error), "a tool or '*', and a folder in the workspace")
        origin = document.origin(at)
        rule_id = RuleId(f"file-{hashlib.sha256(f'{origin} {table}'.encode()).hexdigest()[:12]}")
        rules.append(Rule(id=rule_id, effect=table.effect, scope=scope, origin=Origin(by="file", file=origin)))
    return tuple(rules)


def _words(document: TomlDocument, at: KeyPath, command: str | None) -> tuple[str, ...]:
    if command is None:
        return ()
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        document.fail((*at, "command"), f"{error}.", "the leading words of one command")
    if not words:
        document.fail((*at, "command"), "The command is empty.", "the leading words of one command")
    return words


def roots_of(document: TomlDocument, file: UserFile) -> list[RootTable]:
    """Return the folders outside the workspace that tools may access. Raises: InvalidInput."""
    roots = []
    for number, raw_table in enumerate(file.roots):
        at = ("roots", str(number))
        table = document.validate(raw_table, RootTable, at)
        path = os.path.expanduser(table.path)
        if not os.path.isabs(path) or "\0" in path:
            document.fail((*at, "path"), "The path isn't absolute.", "an absolute path")
        roots.append(RootTable(path=path, writable=table.writable))
    return roots


def command_variables_of(document: TomlDocument, file: UserFile) -> tuple[str, ...]:
    """Return the names of the environment variables that the user lets commands have. Raises: InvalidInput."""
    at, names = ("commands", "environment"), tuple(dict.fromkeys(file.commands.environment))
    if len(names) > MAX_LISTED_VARIABLES:
        document.fail(at, f"There are {len(names)} variables.", f"up to {MAX_LISTED_VARIABLES}")
    for name in names:
        refusal = refusal_of(name, key_variables())
        if refusal is not None:
            detail, allowed = _REFUSED_VARIABLES[refusal]
            document.fail(at, detail.format(name=name), allowed)
    return names


def user_roots_of(document: TomlDocument, file: UserFile) -> dict[str, list[str]]:
    """Return the roots of each user of the server who has roots of their own. Raises: InvalidInput."""
    roots_by_user = {}
    for user, raw_table in file.users.items():
        at = ("users", user)
        table = document.validate(raw_table, ServerUserTable, at)
        paths = [os.path.expanduser(root) for root in table.roots]
        if not paths or not all(os.path.isabs(path) and "\0" not in path for path in paths):
            document.fail((*at, "roots"), "The paths aren't absolute.", "a list of absolute paths")
        roots_by_user[user] = paths
    return roots_by_user


def _folder_modes(
    document: TomlDocument, file: ProjectFile, modes: Modes, workspace: str | None
) -> tuple[FolderMode, ...]:
    folder_modes = []
    for folder, name in file.directories.items():
        at = ("directories", folder)
        if not isinstance(name, str):
            document.fail(at, "Unknown mode.", ", ".join(modes.all))
        mode = find_mode(document, at, name, modes)
        if ".." in folder.split("/"):
            document.fail(at, "The path can't contain '..'.", "a folder in the workspace, or an absolute path")
        path = os.path.realpath(os.path.expanduser(folder)) if folder.startswith(("/", "~")) else folder
        relative = relative_to_workspace(path, workspace or "/")
        if relative is not None:
            # Both the written path and its link target: the touched paths of a call contain both forms too.
            real = _real_folder(relative, workspace) or relative
            folder_modes += [FolderMode(folder=each, mode=mode) for each in dict.fromkeys((relative, real))]
    return tuple(folder_modes)


def _real_folder(folder: str | None, workspace: str | None) -> str | None:
    """Resolve links in a folder's path, if the target is inside the workspace."""
    if folder is None or workspace is None or folder.startswith("/") or "\0" in folder:
        return folder
    real = os.path.relpath(os.path.realpath(os.path.join(workspace, folder)), workspace)
    return folder if real.startswith("..") else real


def _real_workspace(document: TomlDocument, at: KeyPath, workspace: str | None) -> str | None:
    if workspace is None:
        return None
    path = os.path.expanduser(workspace)
    if not path.startswith("/") or "\0" in path:
        document.fail((*at, "workspace"), "The path isn't absolute.", "an absolute path")
    return os.path.realpath(path)
