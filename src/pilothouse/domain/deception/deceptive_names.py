"""Detect names of programs and hosts in a command that can be taken for other names."""

import mimetypes
import re
from collections.abc import Callable, Iterator, Sequence

from pilothouse.domain.deception.ascii_shapes import ascii_form, without_accents
from pilothouse.domain.deception.command_text import CommandPart, Form
from pilothouse.domain.deception.writing_systems import is_native_mark, is_resolved, script_of

IsKnown = Callable[[str], bool]
"""Whether an ASCII name is that of a program or of an existing path."""

_WORD_OR_DIVIDER = re.compile(r"[;|&\n()`]|[^\s'\";|&()`<>]{1,200}")
_DIVIDERS = frozenset(";|&\n()`")
_BEFORE_COMMANDS = frozenset(
    {
        *("", "if", "then", "elif", "else", "while", "until", "do", "!", "{", "time"),
        *("sudo", "env", "exec", "xargs", "nohup", "command"),
    }
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.ASCII)
# Programs whose arguments are text or names of files: an accent is part of a language there.
_TAKES_WORDS = frozenset(
    """
    echo printf cat less more head tail ls tree cd pushd mkdir rmdir touch rm cp mv ln grep egrep fgrep rg ag sed awk
    git for case select export test [ [[ wc sort uniq cut tr diff cmp file stat du df chmod chown tar zip unzip gzip
    open code vim vi nano emacs jq curl wget #
    """.split()  # noqa: SIM905
)
_URL_HOST = re.compile(r"://([^\s/?#'\"`<>|&;]{1,300})")
_ACCOUNT_HOST = re.compile(r"(?<=\w@)(\[?[^\s/?#'\"`<>|&;:@(){}]{1,300})")
_DOTTED_WORD = re.compile(
    r"(?:(?<=[\s='\"(])|\A)([^\s/?#'\"`<>|&;:@=(){}$~*]{1,250}\.([A-Za-z]{2,24}))\.?(?=(?P<end>/)|[^\w.-]|\Z)"
)
# Suffixes of file names besides those of the media types.
_FILE_SUFFIXES = (
    frozenset(
        """
    bak bash bib cc cfg cmake conf config cpp cs dart db diff docker draft el env example ex fish go gradle hpp hs idea
    ini ipynb iso java jl jsonl jsx kt kts less lock log lua map md mdx mjs nix old orig out patch php pid po pot proto
    ps rb rs rst sample sass scala scss sh so sql sqlite srt svelte swift template test tex tf tmp toml ts tsv tsx txt
    vue xz yaml yml zig zsh zst gz bz key pem crt local odt ods odp docx xlsx pptx doc xls ppt epub rtf flac ogg mkv
    """.split()  # noqa: SIM905
    )
    | {suffix[1:] for suffix in mimetypes.MimeTypes(filenames=()).types_map[True]} - {"com"}
)


def has_deceptive_command(text: str, parts: Sequence[CommandPart], is_known: IsKnown) -> bool:
    """Whether the name of a program looks or reads like an ASCII name. Such a name is never an accident."""
    for word, is_first in _possible_commands(text, parts):
        if is_first and ascii_form(word) is not None:
            return True
        plain = without_accents(word)
        if plain is not None and is_known(plain):
            return True
    return False


def _possible_commands(text: str, parts: Sequence[CommandPart]) -> Iterator[tuple[str, bool]]:
    """The non-ASCII words that begin a command (True), and those that another program may run: `timeout 60 WORD`."""
    programs = [""]  # of the command and of those around it
    for part in parts:
        words = _WORD_OR_DIVIDER.findall(text, part.start, part.end) if part.form is not Form.CONTENT else []
        if part.form is Form.TEXT and len(words) > 1:
            continue  # quoted prose
        for word in words:
            if word == "(":
                programs.append("")
            elif word == ")" and len(programs) > 1:
                programs.pop()
            elif word in _DIVIDERS:
                programs[-1] = ""
            elif programs[-1] in _BEFORE_COMMANDS or _ASSIGNMENT.match(programs[-1]):
                programs[-1] = word
                if not word.isascii():
                    yield word, True
            elif not word.isascii() and programs[-1] not in _TAKES_WORDS:
                yield word, False


def has_deceptive_host(text: str, parts: Sequence[CommandPart]) -> bool:
    """Whether a host of a URL, or in code a word that may be one, can be taken for another."""
    if any(is_deceptive_host(match[1]) for match in _URL_HOST.finditer(text)):
        return True
    code = (text[part.start : part.end] for part in parts if part.form is Form.CODE)
    return any(is_deceptive_host(host) for part in code if not part.isascii() for host in _bare_hosts(part))


def _bare_hosts(code: str) -> Iterator[str]:
    """The words of code that may be hosts without a URL."""
    for match in _ACCOUNT_HOST.finditer(code):
        yield match[1]
    for match in _DOTTED_WORD.finditer(code):
        if match["end"] or match[2].lower() not in _FILE_SUFFIXES:
            yield match[1]


def is_deceptive_host(host: str) -> bool:
    """Whether a host can be taken for another. The labels of a trustworthy host are ASCII, or words of one other script
    that cannot be taken for ASCII."""
    if host.isascii():
        return False
    for label in re.split(r"[.:@\[\]]", host):
        scripts = {script_of(character) for character in label} - {""}
        is_foreign_sign = any(
            not character.isascii() and not character.isalnum() and not is_native_mark(character) for character in label
        )
        if label.isascii():
            continue
        if is_foreign_sign or "LATIN" in scripts or not is_resolved(scripts) or ascii_form(label) is not None:
            return True
    return False
