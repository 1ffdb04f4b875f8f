"""Git configuration files: a parser, and a table of the kinds of settings.

The table lists the settings that hold data, and those that hold the address of a repository. Every other setting is
treated as one that may name a program or a file with more settings.
"""

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import NamedTuple

_HEADER = re.compile(rb'\[\s*([a-z0-9.-]+)\s*(?:"([^"\\\[\]]*)"\s*)?\]', re.IGNORECASE)
_SETTING = re.compile(rb"([a-z][a-z0-9-]*)\s*(?:=\s*([^\0]*))?", re.IGNORECASE)
_BOOLEAN = re.compile(r"true|yes|on|1|false|no|off|0|", re.IGNORECASE)
_FALSE = re.compile(r"false|no|off|0", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:(?:https?|ssh|git)://(?!-)|(?>(?:[\w.-]++@)?)[A-Za-z0-9][\w.-]++:(?!:|//))[^\"\\\s]*+")
"""The address of a repository on another machine. A push to a folder runs the hooks in it, and `ext::` runs a
program."""


class Kind(Enum):
    """The kind of value that a setting holds."""

    DATA = "data"
    """A value that never makes git start a program."""
    ADDRESS = "address"
    """Another repository: its address, the path of a folder, or the name of a remote."""
    PROGRAM = "program"
    """A program, a file with settings, or something unknown."""


class Setting(NamedTuple):
    """A line of a configuration file."""

    name: str
    """`section.key` or `section.subsection.key`, section and key in lower case. Empty for a line that git may read
    differently from this parser."""
    value: str | None
    """The raw value; None where the line has no `=`."""
    line: bytes
    """The section header and the line."""

    @property
    def subsection(self) -> str:
        return self.name.partition(".")[2].rpartition(".")[0]

    @property
    def kind(self) -> Kind:
        return kind_of(self.name)


def parse(config: bytes) -> Iterator[Setting]:
    """The settings of a file. Git never finds more in a line than this parser: settings behind a header on the same
    line and lines that continue or may continue get no name."""
    header, section = b"", ""
    continues = False
    for line in map(bytes.strip, config.split(b"\n")):
        plain_header = _HEADER.fullmatch(line)
        if continues or (plain_header is None and line.startswith(b"[")):
            header, section = b"", ""
        elif plain_header is not None:
            subsection = plain_header[2]
            header, section = line, plain_header[1].decode().lower() + "."
            if subsection is not None:
                section += f"{subsection.decode(errors='replace')}."
            continue
        continues = line.endswith(b"\\")
        if not line or (line[:1] in b"#;" and not continues):
            continue
        setting = _SETTING.fullmatch(line)
        if setting is None or continues or not section:
            yield Setting("", None, header + line)
        else:
            value = None if setting[2] is None else setting[2].decode(errors="replace")
            yield Setting(section + setting[1].decode().lower(), value, header + line)


def kind_of(name: str) -> Kind:
    section, _, rest = name.partition(".")
    _, dot, key = rest.rpartition(".")
    section, key = section.lower(), key.lower()
    if section in _DATA_SECTIONS and key:
        return Kind.DATA
    keys = (_SUBSECTION_KEYS if dot else _KEYS).get(section, {})
    return keys.get(key, Kind.PROGRAM)


def starts_nothing(name: str, value: str | None) -> bool:
    """Whether a setting holds data or switches a feature off."""
    is_off = name.lower() in _SWITCHES and value is not None and _FALSE.fullmatch(value) is not None
    return is_off or kind_of(name) is Kind.DATA


def is_switch(name: str, value: str | None) -> bool:
    """Whether a setting only switches a feature of git on or off that starts no other than an installed program."""
    return name in _SWITCHES and _BOOLEAN.fullmatch(value or "") is not None


def is_address(value: str) -> bool:
    """Whether a value is the address of a repository on another machine."""
    return _ADDRESS.fullmatch(value) is not None


def _table(**sections: str) -> dict[str, dict[str, Kind]]:
    """The kinds of keys by section. In the arguments, `key` holds data and `@key` an address."""
    return {
        section: {word.lstrip("@"): Kind.ADDRESS if word[0] == "@" else Kind.DATA for word in keys.split()}
        for section, keys in sections.items()
    }


_SWITCHES = frozenset({"commit.gpgsign", "tag.gpgsign", "tag.forcesignannotated", "push.gpgsign", "core.fsmonitor"})
"""Switched on, they make git start gpg or its own daemon. `core.fsmonitor` may also name a program."""
_DATA_SECTIONS = frozenset({"advice", "color", "column"})
_KEYS: Mapping[str, Mapping[str, Kind]] = _table(
    author="name email",
    blame="ignorerevsfile date coloring",
    branch="autosetuprebase autosetupmerge sort",
    commit="verbose status cleanup template",
    committer="name email",
    core="""
        abbrev autocrlf bare bigfilethreshold checkstat commentchar compression eol excludesfile filemode fscache
        hidedotfiles ignorecase ignorestat logallrefupdates longpaths precomposeunicode preloadindex quotepath
        repositoryformatversion safecrlf sharedrepository sparsecheckout sparsecheckoutcone symlinks trustctime
        untrackedcache warnambiguousrefs whitespace
    """,
    credential="username usehttppath",
    diff="algorithm colormoved colormovedws context indentheuristic mnemonicprefix noprefix renamelimit renames",
    extensions="objectformat refstorage",
    fetch="all parallel prune prunetags",
    gc="auto autopacklimit pruneexpire reflogexpire",
    help="autocorrect",
    http="lowspeedlimit lowspeedtime postbuffer version",
    init="defaultbranch",
    lfs="repositoryformatversion",
    log="abbrevcommit date decorate follow",
    merge="conflictstyle ff log renamelimit renames stat",
    pull="ff rebase",
    push="autosetupremote default followtags",
    rebase="autosquash autostash stat updaterefs",
    remote="@pushdefault",
    rerere="autoupdate enabled",
    status="""
        aheadbehind branch displaycommentprefix relativepaths renamelimit renames short showstash showuntrackedfiles
    """,
    submodule="active",
    tag="sort",
    user="name email signingkey useconfigonly",
)
_SUBSECTION_KEYS: Mapping[str, Mapping[str, Kind]] = _table(
    branch="""
        @remote @pushremote merge rebase description vscode-merge-base gh-merge-base github-pr-owner-number
    """,
    credential="username usehttppath",
    filter="required",
    remote="@url @pushurl fetch push tagopt prune prunetags mirror gh-resolved partialclonefilter promisor",
    submodule="active @url",
)
