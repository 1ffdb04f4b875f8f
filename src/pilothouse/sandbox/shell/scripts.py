"""Commands with small languages of their own: test, find, sed, awk. Their expressions and scripts are parsed."""

import re
from collections.abc import Sequence

from pilothouse.sandbox.shell.effects import LINE, PROGRAM, STRICT, CommandEffect, Level, SimpleCommand, writes
from pilothouse.sandbox.shell.options import Options, names, parse_options
from pilothouse.sandbox.shell.words import Word, literal

Args = Sequence[Word]

_UNARY = re.compile(r"-[bcdefghknprstuwxzLNOSG]")
_BINARY = re.compile(r"=|==|!=|<|>|-(eq|ne|lt|le|gt|ge|ef|nt|ot)")


def test(args: Args) -> CommandEffect:
    """All operators must be literal: a value in their place could be `-v`, which evaluates a subscript."""
    words = list(args)
    for index, word in enumerate(words):
        if word.exact:
            if word.text in ("-v", "-R") or "$(" in word.text or "`" in word.text:
                return LINE
        elif not word.single or not (_after_operator(words, index) or _before_operator(words, index)):
            return LINE
    return STRICT


def _after_operator(words: list[Word], index: int) -> bool:
    before = words[index - 1] if index else None
    return before is not None and before.exact and bool(_UNARY.fullmatch(before.text) or _BINARY.fullmatch(before.text))


def _before_operator(words: list[Word], index: int) -> bool:
    after = words[index + 1] if index + 1 < len(words) else None
    return after is not None and after.exact and bool(_BINARY.fullmatch(after.text))


_FIND_TESTS = names(
    """
    -H -L -P -name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime
    -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer -newermt -newerct -newerat -maxdepth -mindepth -print -print0
    -printf -ls -prune -not -o -or -a -and -empty -perm -user -group -nouser -nogroup -uid -gid -links -inum -samefile
    -depth -d -mount -xdev -follow -quit -readable -writable -executable -true -false -regextype -daystart -noleaf
    -ignore_readdir_race -O1 -O2 -O3 ! ( ) ,
    """
)
_FIND_VALUED = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -size -mtime -mmin -newer "
    "-maxdepth -mindepth -printf -perm -user -group"
)
_FIND_WRITES = names("-delete -fprint -fprint0 -fprintf -fls")
_FIND_RUNS = names("-exec -execdir -ok -okdir")


def find(args: Args) -> CommandEffect:
    level, inner, dangers = Level.STRICT, [], set()
    words = list(args)
    while words:
        word = words.pop(0)
        if word.exact and word.text in _FIND_RUNS:
            if not _ends_plainly(words):
                level = Level.LINE
            command, words = _until_end(words)
            inner.append(command)
            level = max(level, Level.STRICT if word.text == "-exec" else Level.WRITES)
        elif word.exact and word.text in _FIND_WRITES:
            level = max(level, Level.WRITES)
            dangers.add("delete" if word.text == "-delete" else "overwrite")
        elif word.exact and word.text in _FIND_VALUED and words and words[0].single:
            words.pop(0)  # the value that the test compares with
        elif not word.operand and not (word.exact and (word.text in _FIND_TESTS or _is_number(word.text))):
            level = Level.LINE if not word.exact else max(level, Level.WRITES)
    return CommandEffect(level, inner=inner, dangers=frozenset(dangers))


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"-\d+[bcwkMG]?|-[0-7]+|-\d+\.\d+", text))


def _ends_plainly(words: list[Word]) -> bool:
    """Whether no unknown word before the literal end could be the end."""
    for index, word in enumerate(words):
        if word.exact and (word.text == ";" or (word.text == "+" and index and words[index - 1].text == "{}")):
            return True
        if not word.exact and (not word.operand or word.text[:1] in ("", ";", "+")):
            return False
    return False


def _until_end(words: list[Word]) -> tuple[SimpleCommand, list[Word]]:
    """The command of an -exec: up to `;`, or to `{} +`."""
    for index, word in enumerate(words):
        if word.exact and (word.text == ";" or (word.text == "+" and index and words[index - 1].text == "{}")):
            return _command(words[:index]), words[index + 1 :]
    return _command(words), []


def _command(words: list[Word]) -> SimpleCommand:
    """The command of an -exec. `{}` becomes names of files, which begin with the searched folder and never with a
    dash."""
    file_names = Word("", exact=False, single=False, operand=True)
    # A name inside a word may have any meaning.
    replaced = [
        file_names if word.text == "{}" else _with_file_name(word) if "{}" in word.text else word for word in words
    ]
    return SimpleCommand(replaced[0], tuple(replaced[1:])) if replaced else SimpleCommand(literal(""))


def _with_file_name(word: Word) -> Word:
    return Word("", exact=False, operand=word.operand)


_SED = Options(
    flags="nErsuz",
    valued="e",
    long=names("quiet silent regexp-extended separate unbuffered null-data posix debug"),
    long_valued=names("expression"),
)
MAX_SCRIPT_CHARACTERS = 2_000
"""A longer script of sed or awk is not parsed, and may do anything."""
# Every repetition is possessive: with backtracking, the expression would try every way to divide a run of blanks.
_BLANKS = r"[^\S\n]*+"
_ADDRESS = r"(?:\d++(?>(?:~\d++)?)|\$|/(?>(?:[^/\\\n]|\\.)*)/[IM]*+)"
_SED_ADDRESSES = rf"(?>(?:{_ADDRESS}(?>(?:\s*+,\s*+(?:{_ADDRESS}|[+~]\d++))?)\s*+!?+)?)"
_SED_SIMPLE = rf"[pPdDnNgGhHxF=]|[qQlL]{_BLANKS}\d*+"
_SED_CHANGES = "|".join(
    rf"[sy]{mark}(?:[^{mark}\\\n]|\\.)*+{mark}(?:[^{mark}\\\n]|\\.)*+{mark}[gpiIM\d]*+"
    for mark in ("/", r"\|", "#", ",")
)
_SED_COMMAND = re.compile(
    rf"[\s;{{}}]*+{_SED_ADDRESSES}[\s{{]*+(?:{_SED_SIMPLE}|{_SED_CHANGES}){_BLANKS}(?=[;\n}}]|$)[\s;{{}}]*+",
    re.ASCII,
)
_IN_PLACE = re.compile(r"-i[\w.~]*|--in-place(?:=[\w.~]*)?")
_MARKS = frozenset("/|#,")
_CLASS = re.compile(r"\[([:.=])")
_MAX_BRACKETS = 100


def sed(args: Args) -> CommandEffect:
    parts = parse_options(args, _SED)
    if parts is None:
        return CommandEffect(Level.PROGRAM, dangers=frozenset({"overwrite"}))
    scripts = [word for name, word in parts.values if name in ("e", "expression")] or parts.operands[:1]
    if not scripts or not all(word.exact and _only_prints(word.text) for word in scripts):
        return PROGRAM
    return STRICT


def only_edits(words: Sequence[str]) -> bool:
    """Whether sed, with these arguments, changes no files except its operands, and starts nothing."""
    return sed([literal(word) for word in words if not _IN_PLACE.fullmatch(word)]) is STRICT


def _only_prints(script: str) -> bool:
    """Whether no command of a sed script writes or starts anything."""
    # Implementations of sed disagree about the end of a pattern with a bracketed mark.
    if len(script) > MAX_SCRIPT_CHARACTERS or _has_bracketed_mark(script):
        return False
    position = 0
    while position < len(script):
        command = _SED_COMMAND.match(script, position)
        if command is None or command.end() == position:
            return False
        position = command.end()
    return bool(script.strip())


def _has_bracketed_mark(script: str) -> bool:
    """Whether a bracket of a pattern (`[a-z]`, `[]/]`, `[[:alpha:]/]`) may contain the mark that ends the pattern.
    Every `[` counts as the beginning of a bracket, and each bracket as ending as late as in any implementation of sed.
    """
    starts = [index for index, character in enumerate(script) if character == "["]
    if len(starts) > _MAX_BRACKETS:
        return True
    ends = ((start, max(_bracket_end(script, start, escapes=escapes) for escapes in (False, True))) for start in starts)
    return any(not _MARKS.isdisjoint(script[start:end]) for start, end in ends)


def _bracket_end(script: str, start: int, *, escapes: bool) -> int:
    """The end of a bracket; with `escapes`, a backslash in the bracket escapes the next character."""
    position = start + 1
    position += script[position : position + 1] == "^"
    position += script[position : position + 1] == "]"
    while position < len(script) and script[position] != "]":
        if escapes and script[position] == "\\":
            position += 2
        elif (kind := _CLASS.match(script, position)) and (end := script.find(f"{kind[1]}]", kind.end())) >= 0:
            position = end + 2
        else:
            position += 1
    return min(position, len(script))


_AWK = Options(flags="", valued="Fv", long_valued=names("field-separator assign"))
# awk reads names in ARGV like operands; /inet is a connection; SYMTAB contains every variable by its name.
_AWK_REFUSED = re.compile(r"system|getline|\||@|close|fflush|include|load|function|func\b|`|\\|ARG[VC]|SYMTAB|/inet")


def awk(args: Args) -> CommandEffect:
    parts = parse_options(args, _AWK)
    if parts is None or not parts.operands or not parts.operands[0].exact:
        return PROGRAM
    if any(map(_may_be_connection, parts.operands[1:])):
        return PROGRAM
    program = parts.operands[0].text.replace("||", " ")
    if len(program) > MAX_SCRIPT_CHARACTERS:
        return PROGRAM
    inside = program[program.find("{") + 1 : max(program.rfind("}"), 0)]
    if _AWK_REFUSED.search(program.replace("\\n", " ").replace("\\t", " ")):
        return PROGRAM
    if ">" in inside or ">>" in program or ("print" in program and ">" in program.partition("print")[2]):
        return writes("overwrite")
    return STRICT


def _may_be_connection(operand: Word) -> bool:
    """Whether some awks treat a file name as a connection: `/inet/tcp/0/HOST/PORT`. Of an inexact word
    only the first character is certain: `/i$x` and `/i{n,}et` may become such a name."""
    is_absolute = operand.text.startswith("/")
    return not operand.text or operand.text.startswith("/inet") or (is_absolute and not operand.exact)
