"""The patterns of the search tools: globs for names, regular expressions for lines."""

import itertools
import re

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox import gitignore

_MAX_BRACES = 16
_MAX_ALTERNATIVES = 256
_MAX_EXPANDED_CHARACTERS = 20_000

# Regular expressions. Python validates the pattern; the table rejects features that only one of the two engines has.
# The remaining differences are rare: whether marks and control characters count for \w and \s, the other case of a few
# letters, and whether `.` matches a byte that is not UTF-8. `grep.scanner` searches patterns that only ripgrep rejects.

_REGEX_PART = re.compile(
    r"\\.|\[\^?+\]?+(?:\\.|[^]\\])*+\]?|\(\?P?<?.?|(?:[*+?]|\{\d+(?:,\d*)?\}|\{,\d*\})[+?]?|.", re.DOTALL
)
_IN_BRACKETS = re.compile(r"\\.|&&|--|~~|\|\||.", re.DOTALL)
_UNSUPPORTED = {
    r"\\[0-9gk]|\(\?P=": "there are no backreferences",
    r"\(\?<?[=!]": "there is no look-around",
    r"\(\?>|[*+?{].*\+": "there are no atomic groups and no possessive repetitions",
    r"\(\?#": "there are no comments",
    r"\(\?(?!:|P<).*": "after '(?' only ':' and 'P<name>' are known, and '(?i)' at the very beginning",
    r"\{,.*": "a repetition begins with a number; write '\\{' for a brace",
    r"\\[AZz]": "use '^' and '$' for the ends of a line",
    r"\\[B<>]": "'\\b' is the only word boundary",
    r"\\[pPN]": "there are no Unicode classes; write the characters in '[...]'",
    r"\\[nr]|[\n\r\0\ud800-\udfff]": "files are searched line by line, and a line can't contain this character",
    r"\[|&&|--|~~|\|\|": "in '[...]' there are no classes by name and no operations; write a backslash before the sign",
}


def regex_for_ripgrep(pattern: str) -> str:
    """The pattern for ripgrep, which needs a backslash before a brace that Python reads as a literal character."""
    return "".join("\\{" if part == "{" else part for part in _REGEX_PART.findall(pattern))


def check_regex(pattern: str) -> None:
    """Raises: ToolError for an invalid or unsupported regular expression."""
    parts = _REGEX_PART.findall(pattern.removeprefix("(?i)"))
    parts += [symbol for part in parts if part[0] == "[" for symbol in _IN_BRACKETS.findall(part[1:])]
    objections = (
        objection
        for part in parts
        for unsupported, objection in _UNSUPPORTED.items()
        if re.fullmatch(unsupported, part, re.DOTALL)
    )
    detail = next(objections, None)
    try:
        if detail is None:  # validity does not depend on case, and wide ranges compile slowly with (?i)
            re.compile(pattern.removeprefix("(?i)"))
    except (re.error, RecursionError, OverflowError) as error:
        detail = str(error)
    if detail is not None:
        raise ToolError(Code.INVALID_PATTERN, pattern=pattern, detail=detail)


def glob_matcher(tool: str, pattern: str) -> gitignore.Matcher:
    """A matcher for paths below the searched folder; a pattern without a slash matches names at any depth. Raises:
    ToolError."""
    try:
        return _matcher(pattern.removeprefix("./"))
    except (gitignore.BadPattern, re.error, RecursionError, OverflowError) as error:
        detail = f"the pattern {pattern!r} can't be used: {error}"
        raise ToolError(Code.INVALID_ARGUMENTS, tool=tool, detail=detail) from error


def _matcher(pattern: str) -> gitignore.Matcher:
    if pattern.count("{") > _MAX_BRACES:
        raise gitignore.BadPattern(f"it has more than {_MAX_BRACES} braces")
    if not pattern or "\0" in pattern:
        raise gitignore.BadPattern("it contains a NUL character" if pattern else "it is empty")
    alternatives = expand_braces(pattern + "**" if pattern.endswith("/") else pattern)
    if any(alternative.startswith("/") or ".." in alternative.split("/") for alternative in alternatives):
        raise gitignore.BadPattern("it leads out of the folder; pass the other folder as path instead")
    by_name = gitignore.any_matcher(
        [gitignore.pattern_regex(alternative) for alternative in alternatives if "/" not in alternative]
    )
    by_path = gitignore.any_matcher(
        [gitignore.pattern_regex(alternative) for alternative in alternatives if "/" in alternative]
    )
    return lambda path: by_name(path.rpartition("/")[2]) or by_path(path)


def expand_braces(pattern: str) -> list[str]:
    """`{a,b}` as separate patterns. Braces without a comma stay literal. Raises: BadPattern."""
    expanded: list[str] = []
    pending = [pattern]
    while pending:
        text = pending.pop()
        braces = _first_braces(text)
        if braces is None:
            expanded.append(text)
        else:
            start, *commas, end = braces
            cuts = itertools.pairwise([start, *commas, end])
            pending += reversed([text[:start] + text[before + 1 : after] + text[end + 1 :] for before, after in cuts])
        if len(pending) + len(expanded) > _MAX_ALTERNATIVES:
            raise gitignore.BadPattern(f"its braces stand for more than {_MAX_ALTERNATIVES} patterns")
        if sum(map(len, pending)) + sum(map(len, expanded)) > _MAX_EXPANDED_CHARACTERS:
            raise gitignore.BadPattern(f"its braces stand for more than {_MAX_EXPANDED_CHARACTERS:,} characters")
    return expanded


def _first_braces(text: str) -> list[int] | None:
    """The offsets of the first braces with alternatives: the opening brace, the commas, the closing brace."""
    symbols = [(match.start(), match[0]) for match in re.finditer(r"\\.|[{},]", text, re.DOTALL)]
    for number, (_, opening) in enumerate(symbols):
        marks: list[int] = []
        depth = 0
        for offset, symbol in symbols[number:] if opening == "{" else ():
            depth += (symbol == "{") - (symbol == "}")
            if (depth == 1 and symbol == ",") or (offset, symbol) == symbols[number] or depth == 0:
                marks.append(offset)
            if depth == 0:
                break
        if depth == 0 and len(marks) > 2:
            return marks
    return None
