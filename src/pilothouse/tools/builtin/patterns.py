"""The patterns that people and models write: globs for names, regular expressions for lines."""

import itertools
import re

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox import walking

_BRACES_AT_MOST = 16
_ALTERNATIVES_AT_MOST = 256
_MAX_EXPANDED_CHARACTERS = 20_000

# The pattern. Python decides whether it is one, the table what only one of the two engines has. What still differs is
# rare: whether marks and control characters count for \w and \s, the other case of a few letters, and whether `.` is a
# byte that is no UTF-8. What only ripgrep refuses, `scan` searches.

_PART = re.compile(
    r"\\.|\[\^?+\]?+(?:\\.|[^]\\])*+\]?|\(\?P?<?.?|(?:[*+?]|\{\d+(?:,\d*)?\}|\{,\d*\})[+?]?|.", re.DOTALL
)
_IN_BRACKETS = re.compile(r"\\.|&&|--|~~|\|\||.", re.DOTALL)
_REFUSED = {
    r"\\[0-9gk]|\(\?P=": "there are no backreferences",
    r"\(\?<?[=!]": "there is no look-around",
    r"\(\?>|[*+?{].*\+": "there are no atomic groups and no possessive repetitions",
    r"\(\?#": "there are no comments",
    r"\(\?(?!:|P<).*": "after '(?' only ':' and 'P<name>' are known, and '(?i)' at the very beginning",
    r"\{,.*": "a repetition begins with a number; write '\\{' for a brace",
    r"\\[AZz]": "use '^' and '$' for the ends of a line",
    r"\\[B<>]": "'\\b' is the only word boundary",
    r"\\[pPN]": "there are no Unicode classes; write the characters in '[...]'",
    r"\\[nr]|[\n\r\0\ud800-\udfff]": "a line is searched at a time, and holds no such character",
    r"\[|&&|--|~~|\|\|": "in '[...]' there are no classes by name and no operations; write a backslash before the sign",
}


def regex_for_ripgrep(pattern: str) -> str:
    """A brace that repeats nothing is a character for Python, and must be told to ripgrep."""
    return "".join("\\{" if part == "{" else part for part in _PART.findall(pattern))


def check_regex(pattern: str) -> None:
    """Raises: ToolError."""
    parts = _PART.findall(pattern.removeprefix("(?i)"))
    parts += [sign for part in parts if part[0] == "[" for sign in _IN_BRACKETS.findall(part[1:])]
    found = (words for part in parts for known, words in _REFUSED.items() if re.fullmatch(known, part, re.DOTALL))
    detail = next(found, None)
    try:
        if detail is None:  # whether it is valid does not depend on the case, and wide ranges take long without
            re.compile(pattern.removeprefix("(?i)"))
    except (re.error, RecursionError, OverflowError) as error:
        detail = str(error)
    if detail is not None:
        raise ToolError(Code.INVALID_PATTERN, pattern=pattern, detail=detail)


def glob_matcher(tool: str, pattern: str) -> walking.Matches:
    """For paths below the folder that is searched; without a slash, for names at any depth. Raises: ToolError."""
    try:
        return _matcher(pattern.removeprefix("./"))
    except (walking.BadPattern, re.error, RecursionError, OverflowError) as error:
        detail = f"the pattern {pattern!r} cannot be used: {error}"
        raise ToolError(Code.INVALID_ARGUMENTS, tool=tool, detail=detail) from error


def _matcher(pattern: str) -> walking.Matches:
    if pattern.count("{") > _BRACES_AT_MOST:
        raise walking.BadPattern(f"it has more than {_BRACES_AT_MOST} braces")
    if not pattern or "\0" in pattern:
        raise walking.BadPattern("it holds a NUL character" if pattern else "it is empty")
    alternatives = expand_braces(pattern + "**" if pattern.endswith("/") else pattern)
    if any(one.startswith("/") or ".." in one.split("/") for one in alternatives):
        raise walking.BadPattern("it leads out of the folder; name the folder as path instead")
    by_name = walking.any_of([walking.translate(one) for one in alternatives if "/" not in one])
    by_path = walking.any_of([walking.translate(one) for one in alternatives if "/" in one])
    return lambda path: by_name(path.rpartition("/")[2]) or by_path(path)


def expand_braces(pattern: str) -> list[str]:
    """`{a,b}` as so many patterns. Braces without a comma are what they are. Raises: BadPattern."""
    done: list[str] = []
    todo = [pattern]
    while todo:
        text = todo.pop()
        found = _first_braces(text)
        if found is None:
            done.append(text)
        else:
            start, *commas, end = found
            cuts = itertools.pairwise([start, *commas, end])
            todo += reversed([text[:start] + text[left + 1 : right] + text[end + 1 :] for left, right in cuts])
        if len(todo) + len(done) > _ALTERNATIVES_AT_MOST:
            raise walking.BadPattern(f"its braces stand for more than {_ALTERNATIVES_AT_MOST} patterns")
        if sum(map(len, todo)) + sum(map(len, done)) > _MAX_EXPANDED_CHARACTERS:
            raise walking.BadPattern(f"its braces stand for more than {_MAX_EXPANDED_CHARACTERS:,} characters")
    return done


def _first_braces(text: str) -> list[int] | None:
    """Where the first braces with a choice in them open, where their commas are, where they close."""
    signs = [(found.start(), found[0]) for found in re.finditer(r"\\.|[{},]", text, re.DOTALL)]
    for number, (_, opening) in enumerate(signs):
        marks: list[int] = []
        depth = 0
        for at, sign in signs[number:] if opening == "{" else ():
            depth += (sign == "{") - (sign == "}")
            if (depth == 1 and sign == ",") or (at, sign) == signs[number] or depth == 0:
                marks.append(at)
            if depth == 0:
                break
        if depth == 0 and len(marks) > 2:
            return marks
    return None
