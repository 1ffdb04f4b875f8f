"""Tears lines apart and puts them together at random. The result may be harmless, dangerous or no line at all."""

import random
from collections.abc import Iterator

from tests.security.line_corpus import BENIGN, DANGEROUS

PIECES = (
    *(
        "'",
        '"',
        "`",
        "$(",
        ")",
        "${",
        "}",
        "$((",
        "))",
        "((",
        "[[",
        "]]",
        "[",
        "]",
        "\\",
        "\\\n",
        "\n",
        " ",
        "\t",
        "\r",
    ),
    *(";", "&", "&&", "|", "||", "<", ">", "<<EOF", "\nEOF\n", "<<'EOF'", "<<-EOF", "<<<", "#", " #", "$'", '$"', "{"),
    *(",", "*", "?", "=", "a[", "x=", "$x", ":-", ":=", "!", "~", "(", "\\`", "\\$", '\\"', "$[", "@", "--", "-o", "0"),
    *(
        "case x in x)",
        ";; esac",
        "if true; then ",
        "; fi",
        "for x in a; do ",
        "; done",
        "() { ",
        "function ",
        "coproc ",
    ),
    *("touch PWNED", "$(touch PWNED)", "`touch PWNED`", ">PWNED", "<(touch PWNED)", "; touch PWNED", "\ntouch PWNED"),
    *("echo ", "cat ", "ls ", "${x:-", "${x#", "${x/", "${x^", '"$(', '")', "PWNED", "EOF", "-v ", "let ", "time "),
    *("\x0b", "\x0c", "\u00a0", "\u2028", "é"),
)
_LONGEST = 300
_HARSH = tuple(line.command for line in DANGEROUS if line.runs and len(line.command) < _LONGEST)
_MILD = tuple(line.command for line in BENIGN if line.runs)
# Lines that cannot have an effect need not be run.
_TELLING = ("touch", ">", "PWNED", "evil")


def torn_lines_with_effects(seed: int) -> Iterator[str]:
    """Torn lines without end that could leave a mark; the same for the same seed."""
    chance = random.Random(seed)
    while True:
        line = chance.choice(_HARSH if chance.random() < 0.6 else _MILD)
        for _ in range(chance.choice((1, 1, 2, 2, 3, 4, 6))):
            line = _torn(line, chance)
        if any(telling in line for telling in _TELLING):
            yield line


def _torn(line: str, chance: random.Random) -> str:
    at = chance.randrange(len(line) + 1)
    end = min(len(line), at + chance.choice((1, 1, 2, 5, 10)))
    kind = chance.random()
    if kind < 0.55:
        return line[:at] + chance.choice(PIECES) + line[at:]
    if kind < 0.75:
        return line[:at] + line[end:]
    if kind < 0.85:
        other = chance.choice(_HARSH)
        start = chance.randrange(len(other) + 1)
        return line[:at] + other[start : chance.randrange(start, len(other) + 1)] + line[at:]
    return line[:end] + line[at:end] + line[end:]
