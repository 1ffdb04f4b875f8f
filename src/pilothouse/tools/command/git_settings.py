"""Settings of a git repository: whether its commands start nothing but hooks, whatever other files hold."""

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from pilothouse.domain.git_configuration import Kind, Setting, is_address, is_switch, parse, starts_nothing
from pilothouse.sandbox.shell.global_options import parse_git
from pilothouse.sandbox.shell.options import names
from pilothouse.system.regular_file import open_regular_file

MAX_SETTINGS_BYTES = 64 * 1024
_UNREADABLE = b"[core] unknown\n"
_PERSONAL = ("~/.gitconfig", "~/.config/git/config", "/etc/gitconfig")
# Sections of a person's settings that no plain command reads.
_UNREAD_SECTIONS = names("alias delta difftool gitk gui guitool instaweb man mergetool safe sendemail")
_UNREAD = names("diff.tool diff.guitool merge.tool merge.guitool")
# Settings that name programs, and the values with which they start an installed one that runs no code of a workspace.
_PAGER = frozenset({"cat", "less", "less -R", "less -FRX", "more", "delta", "diff-so-fancy"})
_EDITOR = frozenset({"vi", "vim", "nvim", "nano", "emacs", "code --wait"})
_PROGRAMS = {
    "core.pager": _PAGER,
    "core.editor": _EDITOR,
    "core.sshcommand": frozenset({"ssh"}),
    "gpg.format": frozenset({"openpgp", "ssh", "x509"}),
    "gpg.program": frozenset({"gpg", "gpg2"}),
    "interactive.difffilter": frozenset({"delta --color-only"}),
    "sequence.editor": _EDITOR,
    "filter.lfs.clean": frozenset({"git-lfs clean -- %f"}),
    "filter.lfs.smudge": frozenset({"git-lfs smudge -- %f"}),
    "filter.lfs.process": frozenset({"git-lfs filter-process"}),
}
_HELPER = re.compile(r"credential\.(?:.*\.)?helper")
_HELPER_NAME = re.compile(r"(?:[A-Za-z][\w.-]*)?")
"""git starts the program `git-credential-NAME` of the PATH."""
_COMMENT_MARKS = "#;"
_INSTEAD = re.compile(r"url\..*\.(?:push)?insteadof")
_ELSEWHERE = (".git/modules", ".gitmodules", ".git/commondir")
"""Files in whose presence git takes settings from submodules, or from another folder."""
_PLAIN_COMMANDS = names(
    """
    add am annotate apply blame branch cat-file check-attr check-ignore check-ref-format checkout cherry cherry-pick
    clean commit commit-tree config count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref
    format-patch fsck gc grep hash-object init log ls-files ls-remote ls-tree merge merge-base merge-file mv
    name-rev notes pack-refs prune pull push range-diff read-tree rebase reflog remote repack reset restore rev-list
    rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stash status switch symbolic-ref tag
    update-index update-ref var verify-commit verify-tag version whatchanged worktree write-tree
    """
)
_WITH_REMOTES = names("fetch ls-remote pull push")
# Options that take no value from the next word: the first other word is the remote.
_REMOTE_OPTION = re.compile(
    r"-[afnpqtuvd]+|--(?:all|atomic|autostash|delete|dry-run|ff|ff-only|follow-tags|force|heads|no-edit|no-ff|"
    r"no-rebase|no-tags|no-verify|progress|prune|quiet|rebase|set-upstream|tags|unshallow|verbose|depth=\d+|"
    r"force-with-lease(?:=[\w./:-]+)?)"
)
# git accepts any prefix of a long option.
_PROGRAM_OPTIONS = (
    *("--exec", "--upload-pack", "--receive-pack", "--ext-diff", "--textconv", "--open-files-in-pager", "--extcmd"),
    *("--template", "--recurse-submodules", "--filters", "--separate-git-dir", "--web", "--edit", "--strategy"),
    *("--continue", "--skip"),  # a rebase goes on with a list of commands that lies in a file
)
_PROGRAM_LETTERS = {"rebase": "xsi", "grep": "O", "ls-remote": "u", "merge": "s", "pull": "s", "config": "e"}


class GitSettings(NamedTuple):
    """The settings that hold in one repository."""

    are_plain: bool
    """Whether each setting of the repository, of the person and of the system holds data, names a repository on another
    machine, or starts one of a few known programs of the PATH. A file that cannot be read, or that includes another
    file, is not plain."""
    remotes: frozenset[str] = frozenset()
    """Names of the repositories on other machines."""


def read_settings(repository: str) -> GitSettings:
    if any(os.path.lexists(os.path.join(repository, name)) for name in _ELSEWHERE):
        return GitSettings(False)
    data = _content(os.path.join(repository, ".git/config"))
    if data is None:
        return GitSettings(False)
    personal = [setting for path in _PERSONAL for setting in parse(_content(os.path.expanduser(path)) or b"")]
    settings = [*parse(data), *(setting for setting in personal if not _is_unread(setting))]
    remotes = frozenset(
        setting.subsection for setting in settings if setting.name.startswith("remote.") and _has_address(setting)
    )
    return GitSettings(all(_is_plain(setting, remotes) for setting in settings), remotes)


class GitCommand(NamedTuple):
    """The words of one git command."""

    folder: str
    """The folder in which git works; relative to the folder in which it is started."""
    name: str
    """Empty for `git` alone."""
    args: tuple[str, ...]


def git_command(words: Sequence[str]) -> GitCommand | None:
    """A git command; None where options of git itself other than `-C` and `--no-pager` stand before the command."""
    parsed, folder = parse_git(words), "."
    for option, value in parsed.options:
        if option == "-C" and value is not None:
            folder = os.path.join(folder, value.text)
        elif option != "--no-pager":
            return None
    subcommand = tuple(word.text for word in parsed.rest)
    return GitCommand(folder, subcommand[0] if subcommand else "", subcommand[1:])


def starts_only_hooks(command: GitCommand, remotes: frozenset[str]) -> bool:
    """Whether git starts no program but hooks and those that settings name. A remote that is not among the settings may
    be a folder, or a file below `.git` that names one."""
    name, args = command.name, command.args
    if not name:
        return True
    if name not in _PLAIN_COMMANDS or (name == "config" and not _reads_setting(args)):
        return False
    if any(_names_program(word, _PROGRAM_LETTERS.get(name, "")) for word in args):
        return False
    if name not in _WITH_REMOTES:
        return True
    operands = [word for word in args if not _REMOTE_OPTION.fullmatch(word)]
    return (operands[0] if operands else "origin") in remotes or bool(operands and is_address(operands[0]))


def _names_program(word: str, letters: str) -> bool:
    """Whether a word may be an option that starts a program; `letters` are the short ones of the command."""
    name = word.partition("=")[0]
    if name.startswith("--"):
        return name != "--" and any(option.startswith(name) for option in _PROGRAM_OPTIONS)
    return name.startswith("-") and not set(letters).isdisjoint(name)


def _reads_setting(args: Sequence[str]) -> bool:
    return any(word in ("--get", "--get-all", "--list", "-l", "get", "list") for word in args[:1])


def _is_unread(setting: Setting) -> bool:
    return setting.name in _UNREAD or setting.name.partition(".")[0] in _UNREAD_SECTIONS


def _is_plain(setting: Setting, remotes: frozenset[str]) -> bool:
    if starts_nothing(setting.name, setting.value):
        return True
    if any(mark in (setting.value or "") for mark in _COMMENT_MARKS):
        return False  # git may take a part of the value for a comment
    name, value = setting.name, (setting.value or "").strip('"')
    if setting.kind is Kind.ADDRESS:
        # A name that is not among the remotes is the path of a folder.
        is_name = not name.endswith("url") and (value == "." or value in remotes)
        return is_name or is_address(value)
    if _INSTEAD.fullmatch(name):
        return is_address(setting.subsection)
    if _HELPER.fullmatch(name):
        return _HELPER_NAME.fullmatch(value) is not None
    return is_switch(name, setting.value) or value in _PROGRAMS.get(name, ())


def _has_address(setting: Setting) -> bool:
    value = (setting.value or "").strip('"')
    return setting.name.endswith(".url") and is_address(value) and not any(mark in value for mark in _COMMENT_MARKS)


def _content(path: str) -> bytes | None:
    """The content of a settings file; None for a missing file. A file that is too long or cannot be read counts as
    settings that are not plain."""
    try:
        with open_regular_file(path, follow_links=True) as file:
            data = file.read(MAX_SETTINGS_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError:
        return _UNREADABLE
    return data if len(data) <= MAX_SETTINGS_BYTES else _UNREADABLE
