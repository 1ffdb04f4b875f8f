"""Commands that change code-running configuration without naming its file: `git config`, `npm config set`,
`pre-commit install`, `crontab`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import dropwhile

from pilothouse.domain.command_line import UNKNOWN_WORD
from pilothouse.domain.git_configuration import Kind, is_address, kind_of, starts_nothing
from pilothouse.domain.runner_files import plain_name
from pilothouse.sandbox.shell.git import reads_config
from pilothouse.sandbox.shell.global_options import parse_git
from pilothouse.sandbox.shell.options import Options, names, parse_options
from pilothouse.sandbox.shell.words import literal

RUN_PREFIXES = names(
    "npx pnpx bunx uvx npm pnpm yarn bun corepack exec dlx run uv poetry pdm hatch rye pipenv pipx python python3 "
    "-m --no --yes"
)
"""Words in front of the name of a program that another program starts."""

_SETTING = Options(
    flags="z",
    valued="f",
    long=names(
        "local global system worktree add replace-all unset unset-all all append fixed-value bool int bool-or-int path "
        "includes no-includes null"
    ),
    long_valued=names("file type default comment value"),
)
"""Options of `git config` with which the first operand is the name of the setting."""
_REMOTE_NAME = re.compile(r"\w[\w-]*")
_LOCATIONS = names("--local --global --system --worktree")
_CONFIG = names("config c")
_CHANGES = names("set unset delete edit rm --set --add --append --prepend --remove --remove-key")
_CONFIG_FILES: Mapping[str, str] = {
    "npm": ".npmrc",
    "pnpm": ".npmrc",
    "yarn": ".yarnrc.yml",
    "pip": "pip.conf",
    "bundle": ".bundle/config",
    "conda": ".condarc",
}
_HOOKS = ".git/hooks"
_COMMANDS: Mapping[tuple[str, str], str] = {
    ("pre-commit", "install"): _HOOKS,
    ("lefthook", "install"): _HOOKS,
    ("husky", ""): _HOOKS,
    ("husky", "install"): _HOOKS,
    ("husky", "init"): ".husky",
    ("husky", "add"): ".husky",
    ("overcommit", "--install"): _HOOKS,
    ("simple-git-hooks", ""): _HOOKS,
    ("direnv", "allow"): ".envrc",
    ("direnv", "permit"): ".envrc",
    ("mise", "trust"): "mise.toml",
    ("npm", "set"): ".npmrc",
    ("pnpm", "set"): ".npmrc",
}
_PROGRAMS = frozenset({*_CONFIG_FILES, *(program for program, _ in _COMMANDS)})
SETTING_PROGRAMS = _PROGRAMS | {"git", "crontab"}


def written_setting(words: Sequence[str]) -> str | None:
    """The code-running configuration file that a command changes, by the command's arguments."""
    program = plain_name(words[0]) if words else ""
    if program == "git":
        return _git([word.text for word in parse_git(words).rest])
    if program == "crontab":
        return None if "-l" in (*words[1:2], *(words[3:4] if "-u" in words[1:2] else ())) else "crontab"
    return next(_settings(words), None)


def _settings(words: Sequence[str]) -> Iterator[str]:
    """The files that programs among the leading words change. Options and their possible values may stand anywhere."""
    programs: set[str] = set()
    changes = not _CHANGES.isdisjoint(words)
    for index, word in enumerate((*words, "")):
        for program in programs:
            if word in _CONFIG and program in _CONFIG_FILES:
                is_unknown = UNKNOWN_WORD in words[index + 1 : index + 2]
                if changes or is_unknown or (program == "bundle" and len(words) - index > 2):
                    yield _CONFIG_FILES[program]
            elif (program, word) in _COMMANDS:
                yield _COMMANDS[program, word]
        name = plain_name(word.partition("@")[0]).replace("_", "-")  # `husky@9`, `-m pre_commit`
        if name in _PROGRAMS:
            programs.add(name)
        elif name not in RUN_PREFIXES and not (word[:1] == "-" or (index and words[index - 1][:1] == "-")):
            return


def _git(words: list[str]) -> str | None:
    """The file that a git command writes, by its subcommand and arguments."""
    command, args = (words[0], words[1:]) if words else ("", [])
    if command == "config":
        return _git_config(args)
    if command in ("clone", "init"):
        return ".git/config" if any(map(_is_persistent, args, [*args[1:], ""])) else None
    if words[:2] == ["submodule", "add"]:
        return ".gitmodules"
    if words[:2] == ["lfs", "install"]:
        return _HOOKS
    return "crontab" if words[:2] in (["maintenance", "start"], ["maintenance", "register"]) else None


def _is_persistent(option: str, value: str) -> bool:
    """Whether an option of `clone` or `init` adds persistent settings or hooks."""
    name, equals, glued = option.partition("=")
    if name.startswith("--t") and "--template".startswith(name):
        return (glued if equals else value) != ""
    if name.startswith("--con") and "--config".startswith(name):
        return not _is_harmless_pair(glued if equals else value)
    return option[:2] == "-c" and not _is_harmless_pair(option[2:] or value)


def _git_config(words: list[str]) -> str | None:
    """The file that `git config` writes, unless the command only reads or the setting is harmless."""
    if reads_config([literal(word) for word in words]):
        return None
    file = "~/.gitconfig" if "--global" in words else ".git/config"
    args = list(dropwhile(_LOCATIONS.__contains__, words))
    subcommand = args[0] if args else ""
    if subcommand in ("list", "get"):
        return None
    parts = parse_options([literal(word) for word in (args[1:] if subcommand in ("set", "unset") else words)], _SETTING)
    if parts is None or not parts.operands:
        return file
    setting, value = parts.operands[0].text, parts.operands[1].text if len(parts.operands) > 1 else None
    return None if _is_harmless(setting, value) else file


def _is_harmless(setting: str, value: str | None) -> bool:
    """Whether git starts no program because of this setting."""
    if UNKNOWN_WORD in setting:
        return False
    if kind_of(setting) is Kind.ADDRESS and value is not None:
        return is_address(value) or _REMOTE_NAME.fullmatch(value) is not None
    return starts_nothing(setting, value)


def _is_harmless_pair(pair: str) -> bool:
    setting, equals, value = pair.partition("=")
    return _is_harmless(setting, value if equals else None)
