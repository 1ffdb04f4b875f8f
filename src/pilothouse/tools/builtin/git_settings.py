"""Settings of a git repository: whether its commands start nothing but hooks, whatever other files hold."""

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from pilothouse.regular_file import open_regular_file
from pilothouse.sandbox.shell.options import names

MAX_SETTINGS_BYTES = 64 * 1024
_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)')
_SETTING = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?")
_OWN_HOOKS = re.compile(rb"hookspath|fsmonitor\s*=\s*[^\sft01]|templatedir", re.IGNORECASE)
_PERSONAL = ("~/.gitconfig", "~/.config/git/config", "/etc/gitconfig")

# Settings that name no program and no other file with settings. Keys in small letters, as git compares them.
_PLAIN_SETTINGS = {
    "core": names(
        "abbrev autocrlf bare bigfilethreshold checkstat commentchar compression eol filemode fscache hidedotfiles "
        "ignorecase ignorestat logallrefupdates longpaths precomposeunicode preloadindex protecthfs protectntfs "
        "quotepath repositoryformatversion safecrlf sharedrepository sparsecheckout sparsecheckoutcone symlinks "
        "trustctime untrackedcache warnambiguousrefs whitespace"
    ),
    "user": names("name email"),
    "author": names("name email"),
    "committer": names("name email"),
    "remote": names("url pushurl fetch push tagopt prune prunetags mirror gh-resolved partialclonefilter promisor"),
    "branch": names(
        "remote pushremote merge rebase description autosetuprebase autosetupmerge sort vscode-merge-base "
        "gh-merge-base github-pr-owner-number"
    ),
    "init": names("defaultbranch"),
    "pull": names("rebase ff"),
    "push": names("default autosetupremote followtags"),
    "fetch": names("prune prunetags parallel all"),
    "merge": names("ff conflictstyle renames stat log"),
    "rebase": names("autosquash autostash stat updaterefs"),
    "diff": names("algorithm colormoved renames mnemonicprefix noprefix context indentheuristic"),
    "commit": names("verbose status cleanup"),
    "status": names("short branch showuntrackedfiles relativepaths showstash"),
    "log": names("date decorate follow abbrevcommit"),
    "tag": names("sort"),
    "gc": names("auto autopacklimit pruneexpire reflogexpire"),
    "rerere": names("enabled autoupdate"),
    "column": names("ui branch status tag"),
    "help": names("autocorrect"),
}
_PLAIN_SECTIONS = names("advice color")
_WITH_ADDRESSES = names("url pushurl")
_WITH_REMOTE_NAMES = names("remote pushremote")
_REMOTE_NAME = re.compile(r"\.|\w[\w.-]*")
_REMOTE = re.compile(r'^[ \t]*+\[[ \t]*+remote[ \t]++"([^"\\\n]++)"[ \t]*+\]', re.MULTILINE | re.IGNORECASE)
_ELSEWHERE = (".git/modules", ".gitmodules", ".git/commondir")
"""Where these are, commands enter submodules with settings of their own, or take the settings from elsewhere."""
_ADDRESS = re.compile(r"(?:https?|ssh|git)://.*|(?:[\w.-]+@)?[A-Za-z0-9][\w.-]+:(?!:).*")
"""Another machine. Pushing to a folder runs the hooks in it, and `ext::` runs a program."""

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
# git takes any beginning of a long option for it.
_PROGRAM_OPTIONS = (
    *("--exec", "--upload-pack", "--receive-pack", "--ext-diff", "--textconv", "--open-files-in-pager", "--extcmd"),
    *("--template", "--recurse-submodules", "--filters", "--separate-git-dir", "--web", "--edit", "--strategy"),
    *("--continue", "--skip"),  # a rebase goes on with a list of commands that lies in a file
)
_PROGRAM_LETTERS = {"rebase": "xsi", "grep": "O", "ls-remote": "u", "merge": "s", "pull": "s", "config": "e"}


class GitSettings(NamedTuple):
    """Of one repository."""

    are_plain: bool
    """Whether they, and those of the person, name no program and no other file."""
    remotes: frozenset[str] = frozenset()


def read_settings(repository: str) -> GitSettings:
    if any(os.path.lexists(os.path.join(repository, name)) for name in _ELSEWHERE):
        return GitSettings(False)
    personal = (_content(os.path.expanduser(path)) for path in _PERSONAL)
    if any(_OWN_HOOKS.search(data) for data in personal if data):
        return GitSettings(False)
    data = _content(os.path.join(repository, ".git/config"))
    if data is None:
        return GitSettings(False)
    text = data.decode(errors="replace")
    return GitSettings(_are_plain(text), frozenset(_REMOTE.findall(text)))


def starts_only_hooks(words: Sequence[str], remotes: frozenset[str]) -> bool:
    """Whether git, with these words, starts no program but hooks and those that settings name. A remote that is not
    among the settings may be a folder."""
    rest = list(words[1:])
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "-C":
            rest = rest[1:]
        elif option != "--no-pager":
            return False
    if not rest:
        return True
    command, given = rest[0], rest[1:]
    if command not in _PLAIN_COMMANDS or (command == "config" and not _asks_setting(given)):
        return False
    if any(_names_program(word, _PROGRAM_LETTERS.get(command, "")) for word in given):
        return False
    if command not in _WITH_REMOTES:
        return True
    operands = [word for word in given if not word.startswith("-") and not word.isdecimal()]
    return not operands or operands[0] in remotes or bool(_ADDRESS.fullmatch(operands[0]))


def _names_program(word: str, letters: str) -> bool:
    """Whether a word may be an option that starts a program; `letters` are the short ones of the command."""
    name = word.partition("=")[0]
    if name.startswith("--"):
        return name != "--" and any(option.startswith(name) for option in _PROGRAM_OPTIONS)
    return name.startswith("-") and not set(letters).isdisjoint(name)


def _asks_setting(given: Sequence[str]) -> bool:
    return any(word in ("--get", "--get-all", "--list", "-l", "get", "list") for word in given[:1])


def _are_plain(text: str) -> bool:
    section = ""
    for line in text.splitlines():
        rest = line.strip()
        if rest.endswith("\\"):
            return False
        if (head := _SECTION.fullmatch(rest)) is not None:
            section, rest = head[1].lower(), head[3].strip()
            if section not in _PLAIN_SETTINGS and section not in _PLAIN_SECTIONS:
                return False
        if not rest or rest[0] in "#;":
            continue
        setting = _SETTING.fullmatch(rest)
        if setting is None or not _is_plain(section, setting[1].lower(), (setting[2] or "").strip()):
            return False
    return True


def _is_plain(section: str, key: str, value: str) -> bool:
    if section in _PLAIN_SECTIONS:
        return True
    if key not in _PLAIN_SETTINGS.get(section, ()):
        return False
    if key in _WITH_ADDRESSES:
        return bool(_ADDRESS.fullmatch(value.strip('"')))
    return key not in _WITH_REMOTE_NAMES or bool(_REMOTE_NAME.fullmatch(value))


def _content(path: str) -> bytes | None:
    """None where there is no such file; what is too long or cannot be read counts as not plain."""
    try:
        with open_regular_file(path, follow_links=True) as file:
            data = file.read(MAX_SETTINGS_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError:
        return b"hookspath"
    return data if len(data) <= MAX_SETTINGS_BYTES else b"hookspath"
