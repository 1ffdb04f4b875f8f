"""Rewrites a dangerous line so that bash does the same: other quotes, other spaces, wrapped, chained, indirect.

Each rewriting keeps the meaning by construction, and a sample is run for real. The seed determines all choices.
"""

import random
import shlex
from collections.abc import Callable, Iterator

from tests.security.line_corpus import DANGEROUS, Line

Rewrite = Callable[[str, random.Random], str]

HARMLESS = ("ls", "pwd", "true", "echo hi", "cat f.txt", "git status", "grep hello f.txt", ":", "test -f f.txt")
# Simple commands that a word-wise rewriting understands: no quotes, no operators, no expansions.
PLAIN = (
    "touch PWNED",
    "touch -- PWNED",
    "cp f.txt PWNED",
    "mv victim PWNED",
    "rm victim",
    "rm -f victim",
    "mkdir PWNED",
    "ln -s f.txt PWNED",
    "tee PWNED",
    "sort -o PWNED f.txt",
    "uniq f.txt PWNED",
    "truncate -s 0 PWNED",
    "dd if=f.txt of=PWNED",
    "find . -name victim -delete",
    "find . -fprint PWNED",
    "git tag PWNED",
    "git branch PWNED",
    "git diff --output=PWNED",
    "git archive -o PWNED HEAD",
    "env touch PWNED",
    "nice -n 5 touch PWNED",
    "timeout 5 touch PWNED",
    "sed -i.PWNED p f.txt",
    "awk -f evil.awk",
    "sh evil.sh",
    "./evil.sh",
    "xxd f.txt PWNED",
    "python3 evil.py",
    "rg --pre ./evil.sh hello f.txt",
)


def _sq(text: str) -> str:
    return shlex.quote(text)


# Rewrite one word.
def _single(word: str, _: random.Random) -> str:
    return f"'{word}'"


def _double(word: str, _: random.Random) -> str:
    return f'"{word}"'


def _ansi(word: str, chance: random.Random) -> str:
    def one(letter: str) -> str:
        return chance.choice((letter, f"\\x{ord(letter):02x}", f"\\{ord(letter):03o}", f"\\u{ord(letter):04x}"))

    return "$'" + "".join(map(one, word)) + "'"


def _escaped(word: str, chance: random.Random) -> str:
    return "".join("\\" + letter if chance.random() < 0.5 else letter for letter in word)


def _split(word: str, chance: random.Random) -> str:
    at = chance.randrange(len(word) + 1)
    return word[:at] + chance.choice(("''", '""', "$''", '$""', "\\\n", "$@", "${nothing}", "``", "$()")) + word[at:]


def _pieces(word: str, chance: random.Random) -> str:
    at = chance.randrange(1, len(word)) if len(word) > 1 else 1
    return _sq_always(word[:at]) + (f'"{word[at:]}"' if word[at:] else "")


def _sq_always(text: str) -> str:
    return f"'{text}'"


def _default(word: str, _: random.Random) -> str:
    return "${nothing:-" + word + "}"


def _printed(word: str, chance: random.Random) -> str:
    return chance.choice((f"$(echo {_sq(word)})", f"`echo {_sq(word)}`", f'"$(printf %s {_sq(word)})"'))


WORDS: tuple[Rewrite, ...] = (_single, _double, _ansi, _escaped, _split, _pieces, _default, _printed)
BETWEEN = (" ", "  ", "\t", " \t ", " \\\n", " \\\n  ", "\t\\\n\t", " " * 40)


def reworded(plain: str, chance: random.Random) -> str:
    """The same simple command in other letters."""
    words = plain.split(" ")
    changed = [chance.choice(WORDS)(word, chance) if chance.random() < 0.6 else word for word in words]
    line = changed[0]
    for word in changed[1:]:
        line += chance.choice(BETWEEN) + word
    return line


def indirect(plain: str, chance: random.Random) -> str:
    """The same simple command by way of a variable, an array, the arguments, or a read."""
    first, _, rest = plain.partition(" ")
    return chance.choice(
        (
            f"x={first}; $x {rest}",
            f"x={_sq(plain)}; $x",
            f"x={_sq(plain)}; eval $x",
            f'x={_sq(plain)}; eval "$x"',
            f'x={_sq(plain)}; bash -c "$x"',
            f'x=({plain}); "${{x[@]}}"',
            f'set -- {plain}; "$@"',
            f"set -- {plain}; $*",
            f"read -r -a x <<< {_sq(plain)}; ${{x[@]}}",
            f"printf -v x %s {first}; $x {rest}",
            f"for x in {first}; do $x {rest}; done",
            f"for x in {_sq(plain)}; do $x; done",
            f'f() {{ "$@"; }}; f {plain}',
            f"ls() {{ {plain}; }}; ls",
            f"{{ x={first}; }} && ${{x}} {rest}",
            f"declare -n y=x; x={first}; $y {rest}",
            f": ${{x:={first}}}; $x {rest}",
            f"IFS=,; x={plain.replace(' ', ',')}; $x",
            f"{{{plain.replace(' ', ',')}}}" if rest and "," not in plain else f"x={first}; $x {rest}",
            f"trap {_sq(plain)} EXIT; ls",
            f"alias x={_sq(plain)}; shopt -s expand_aliases; eval x",
        )
    )


# A whole line, whatever is in it, inside something else. Line breaks keep comments and here-documents whole.
def _newlined(opening: str, closing: str) -> Rewrite:
    return lambda line, _: f"{opening}\n{line}\n{closing}"


def _passed(shell: str) -> Rewrite:
    return lambda line, _: f"{shell} {_sq(line)}"


def _after(line: str, chance: random.Random) -> str:
    return chance.choice(HARMLESS) + chance.choice(("; ", "\n", ";", " && ", " & ", "\n\n", " # remark\n")) + line


def _after_a_failure(line: str, chance: random.Random) -> str:
    return chance.choice(("false", "! true", "ls nope 2>/dev/null", "[ a = b ]")) + " || {\n" + line + "\n}"


def _before(line: str, chance: random.Random) -> str:
    return line + "\n" + chance.choice(HARMLESS)


def _named(line: str, chance: random.Random) -> str:
    # A function that calls a command of its own name would call itself.
    name = chance.choice(
        [name for name in ("f", "my-function", "ls", "cat", "git") if name[0] == "f" or name not in line]
    )
    return chance.choice((f"{name}() {{\n{line}\n}}\n{name}", f"function {name} {{\n{line}\n}}\n{name}"))


def _heredoc(line: str, chance: random.Random) -> str:
    ends = f"ENDS{chance.randrange(10**6)}"
    return f"{chance.choice(('bash', 'bash -s', '. /dev/stdin'))} <<'{ends}'\n{line}\n{ends}"


def _substituted_heredoc(line: str, chance: random.Random) -> str:
    ends = f"ENDS{chance.randrange(10**6)}"
    return f"cat <<{ends}\n$(\n{line}\n)\n{ends}"


WRAPPED: tuple[Rewrite, ...] = (
    _newlined("{", "}"),
    _newlined("(", ")"),
    _newlined("if true; then", "fi"),
    _newlined("if false; then :; else", "fi"),
    _newlined("for i in 1; do", "done"),
    _newlined("while true; do", "break; done"),
    _newlined("until false; do", "break; done"),
    _newlined("case a in a)", ";; esac"),
    _newlined("for ((i=0;i<1;i++)); do", "done"),
    _newlined("echo $(", ")"),
    _newlined('echo "$(', ')"'),
    _newlined("cat <(", ")"),
    _newlined("x=$(", ")"),
    _newlined("[[ -n $(", ") ]]"),
    _newlined("cat f.txt | {", "}"),
    _newlined("{", "} | cat"),
    _newlined("{", "} 2>/dev/null"),
    _newlined("echo ${nothing:-$(", ")}"),
    _newlined("a=( $(", ") )"),
    _newlined("coproc {", "}; wait"),
    _newlined("! {", "}"),
    _passed("eval"),
    _passed("bash -c"),
    _passed("bash -ec"),
    _passed("bash --norc -c"),
    _passed("env bash -c"),
    _passed("command eval"),
    _passed("builtin eval"),
    _passed("timeout 8 bash -c"),
    _passed("nice bash -c"),
    _passed("time bash -c"),
    _passed("bash <<<"),
    _passed("source /dev/stdin <<<"),
    _after,
    _after_a_failure,
    _before,
    _named,
    _heredoc,
    _substituted_heredoc,
)
PREFIXES = (
    "env ",
    "command ",
    "nice ",
    "nohup ",
    "timeout 5 ",
    "setsid -w ",
    "stdbuf -oL ",
    "exec ",
    "xargs -a /dev/null ",
)
SUFFIXES = (" # a remark", " 2>/dev/null", " < /dev/null", " && ls", " | cat", " || ls", ";", " 2>&1", "\n", " &\nwait")

# Lines that change or end their shell, or are unfinished: nothing can be put around or after them.
_ALONE = (
    "exec",
    "shopt",
    "alias",
    "set -o",
    "history",
    "unset PATH",
    "<<",
    "coproc",
    "ENDS",
    "\n)",
    "\nfi",
    "unfinished",
)
_LONGEST = 2000


def wrappable(line: Line) -> bool:
    return (
        line.runs
        and len(line.command) < _LONGEST
        and not any(part in line.command for part in _ALONE)
        and not any(
            (ord(letter) < 32 and letter not in "\n\t") or 0xD800 <= ord(letter) < 0xE000 for letter in line.command
        )
        and not line.command.endswith("\\")
    )


_WRAPPABLE = tuple(line.command for line in DANGEROUS if wrappable(line))


def mutations(seed: int) -> Iterator[str]:
    """Rewritten dangerous lines without end; the same for the same seed."""
    chance = random.Random(seed)
    while True:
        kind = chance.random()
        if kind < 0.25:
            line = reworded(chance.choice(PLAIN), chance)
        elif kind < 0.4:
            line = indirect(chance.choice(PLAIN), chance)
        elif kind < 0.5:
            line = chance.choice(PREFIXES) + chance.choice(PLAIN)
        elif kind < 0.6:
            line = reworded(chance.choice(PLAIN), chance) + chance.choice(SUFFIXES)
        else:
            line = chance.choice(WRAPPED)(chance.choice(_WRAPPABLE), chance)
        for _ in range(chance.choice((0, 0, 0, 1, 1, 2))):
            line = chance.choice(WRAPPED)(line, chance)
        yield line
