"""Command lines from a grammar of the shell: every construct at every place, most of them harmless, some not.

The effect of a line is not known here. The classifier decides which lines only read; running them shows whether that
is true.
"""

import random
from collections.abc import Callable, Iterator

from tests.security.line_corpus import BENIGN, DANGEROUS

MAX_DEPTH = 3
MAX_LINE_LENGTH = 400
_CORPUS = tuple(line.command for line in (*DANGEROUS, *BENIGN) if line.runs and len(line.command) < MAX_LINE_LENGTH)

_COMMANDS = (
    *("cat f.txt", "ls", "ls -la sub", "head -n 1 f.txt", "wc -l f.txt", "grep -n hello f.txt", "echo a", "echo a b"),
    *("true", "false", ":", "printf %s a", "printf '%s\\n' x", "test -f f.txt", "pwd", "sort f.txt", "uniq f.txt"),
    *("cut -d: -f1 g.txt", "tr a b", "find . -name f.txt", "sed -n 1p f.txt", "awk 1 f.txt", "stat f.txt", "cd sub"),
    *(
        "basename a/b",
        "dirname a/b",
        "seq 3",
        "date +%s",
        "env",
        "command -v ls",
        "type ls",
        "xargs echo",
        "tee /dev/null",
    ),
    *("read -r x", "git status", "git log -1", "jq . data.json", "diff f.txt g.txt", "rev f.txt", "tac f.txt", "id"),
)
# Lines that leave a mark, wherever the shell reads them as commands.
_PAYLOADS = ("touch PWNED", "./evil.sh", "rm victim", "evil.sh", "touch", "> PWNED", "echo x > PWNED", "cp f.txt PWNED")
_PARTS = ("a", "f.txt", "sub", "x y", "b*", "-n", "--", "1", "=", "]", "]]", "PWNED", "a=b", "é", "!", "{", "}", "in")
# Blanks that are part of a word for the shell, and that a grammar may divide words at.
_ODD_BLANKS = ("\u00a0", "\u2009", "\u3000", "\u1680")
_ODD_PARTS = tuple(form.format(blank) for blank in _ODD_BLANKS for form in ("a{}b", "{}", "f.txt{}", "{};", "-n{}"))
_SIGNS = (
    *("'", '"', "`", "\\", "\\\n", "\n", " ", "\t", ";", "&", "|", "<", ">", "(", ")", "{", "}", "[", "]", "[[", "]]"),
    *(
        "$(",
        "${",
        "$((",
        "))",
        "((",
        "#",
        " #",
        "$'",
        '$"',
        "$",
        "*",
        "?",
        "~",
        "!",
        "=",
        "+=",
        ",",
        ":",
        "@",
        "%",
        "^",
    ),
    *("<(", ">(", "<<", "<<-", "<<<", ">>", ">|", ">&", "<&", "&>", "&>>", "<>", "|&", "&&", "||", ";;", ";&", ";;&"),
    *(
        "2>",
        "2>&1",
        "1>&2",
        "{x}>",
        "> PWNED",
        ">PWNED",
        "<PWNED",
        "; touch PWNED",
        "\ntouch PWNED\n",
        "EOF",
        "\nEOF\n",
    ),
    *(
        " do ",
        " done ",
        " then ",
        " fi ",
        " esac ",
        " in ",
        " if ",
        " case ",
        " for ",
        " while ",
        " function ",
        " time ",
    ),
)
# Signs that a grammar may take, with what stands behind them, for the beginning of a variable.
_LONE_DOLLARS = (
    "$ ",
    "$",
    "$  ",
    "$.",
    "$%",
    "5$",
    "$,",
    "$/",
    "$\t",
    "$\n",
    "$\\",
    "\\$",
    "$$ ",
    "$5",
    "$=",
    "$+",
    "$~",
    "$^",
)
_REDIRECTS = ("> {}", ">{}", ">> {}", "2> {}", "&> {}", "&>> {}", ">| {}", "<> {}", ">& {}", "{{x}}> {}", "9>{}")
_READING_REDIRECTS = ("< f.txt", "<f.txt", "2>/dev/null", "2>&1", ">/dev/null", "0<&0", "<<< a", ">&2", "<&-", "2>&-")
_HERE_STRINGS = ("<<< {}", "<<<{}", '<<< "$ {}"', "<<<${}", '<<<"{}$"')


# Words of the lines that are no names of programs: a program that starts by such a name was taken for a command.
MARKS = ("a", "b", "c", "x", "y", "sub", "in", "PWNED", "f.txt", "1", "2", "0", "EOF", "é", "hello")


class Generator:
    """Draws lines from one seeded random source. A `wild` line has constructs that are never read-only; the
    others are built of what may be, so that most of the misreadings are in reach of a few changed signs."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._wild = False

    def lines(self) -> Iterator[str]:
        """Lines without end; the same for the same seed."""
        while True:
            self._wild = self._chance.random() < 0.2
            line = self._chance.choice(_CORPUS) if self._chance.random() < 0.1 else self.list(0)
            for _ in range(self._chance.choice((0, 0, 1, 1, 1, 2, 3))):
                line = self._mutated(line)
            if len(line) <= MAX_LINE_LENGTH and "\0" not in line:
                yield line

    def _one(self, *makers: Callable[[int], str]) -> Callable[[int], str]:
        return self._chance.choice(makers)

    def _mutated(self, line: str) -> str:
        at = self._chance.randrange(len(line) + 1)
        end = min(len(line), at + self._chance.choice((1, 1, 2, 4, 8)))
        kind = self._chance.random()
        if kind < 0.6:
            signs = _ODD_BLANKS if self._chance.random() < 0.05 else _SIGNS
            return line[:at] + self._chance.choice(signs) + line[at:]
        if kind < 0.8:
            return line[:at] + line[end:]
        return line[:at] + line[end:] + line[at:end]

    def list(self, depth: int) -> str:
        parts = [self.pipeline(depth)]
        for _ in range(self._chance.choice((0, 0, 0, 0, 0, 1, 1, 2))):
            parts += [
                self._chance.choice((" && ", " || ", "; ", "\n", " ;", "&&", "||", " & ", "&")),
                self.pipeline(depth),
            ]
        return "".join(parts) + self._chance.choice(("",) * 12 + (";", " # c", "\n", " &", " \\\n", "#"))

    def pipeline(self, depth: int) -> str:
        parts = [self.command(depth)]
        for _ in range(self._chance.choice((0,) * 8 + (1, 1, 2))):
            parts += [self._chance.choice((" | ", "|", " |& ", " |\n")), self.command(depth)]
        return self._chance.choice(("",) * 20 + ("! ", "time ", "time -p ", "!")) + "".join(parts)

    def command(self, depth: int) -> str:
        if depth >= MAX_DEPTH or self._chance.random() < 0.55:
            return self.simple(depth)
        kinds = (self.test, self.test, self.compound, self.compound, self.arithmetic, self.masked)
        return self._one(*kinds)(depth + 1)

    def masked(self, depth: int) -> str:
        """A command with a substitution behind a sign that a grammar may take together with what follows."""
        dollar = self._chance.choice(("$ ", "$ ", "$  ", "$\t", *_LONE_DOLLARS))
        form: str = self._chance.choice(
            ("$({})", "$({})", "`{}`", "<({})", "${{x:-$({})}}", "$((1+2))", "$(echo $({}))")
        )
        inner = form.format(self.simple(MAX_DEPTH))
        before, after = (self._chance.choice(("", "", "a", "a ", "$x ", "'", "(", "b=")) for _ in range(2))
        text = f'"{before}{dollar}{inner}{after}"'
        glued = f"{self._chance.choice(('a', 'f.txt', '$x', '1', dollar))}{self._chance.choice('<>')}({inner})"
        return self._chance.choice(
            (
                *(f"echo {text}", f"cat <<< {text}", f"[ a = {text} ]", f"[[ -n {text} ]]", f'echo "$(echo {text})"'),
                *(f"[[ {glued} ]]", f"[[ a == {glued} ]]", f"[[ ! {glued} ]]", f"[[ a && {glued} ]]", f"echo {glued}"),
                *(f"x={text}; echo a", f"case {text} in a) ls;; esac", f"for x in {text}; do echo $x; done"),
            )
        )

    def simple(self, depth: int) -> str:
        if self._wild and self._chance.random() < 0.2:
            return self._chance.choice(_PAYLOADS)
        words = self._chance.choice(_COMMANDS).split(" ")
        for _ in range(self._chance.choice((0, 0, 0, 1, 1, 2))):
            words.insert(self._chance.randrange(1, len(words) + 1), self.word(depth))
        if self._chance.random() < 0.25:
            words.insert(self._chance.randrange(len(words) + 1), self.redirect(depth))
        if self._chance.random() < 0.1:
            name = self._chance.choice(("x", "y", "a[0]", "x+") if self._wild else ("LC_ALL", "LANG", "TZ"))
            words.insert(0, f"{name}={self.word(depth) if self._wild else 'C'}")
        line = " ".join(words)
        return line + self.heredoc(depth) if self._chance.random() < 0.1 else line

    def redirect(self, depth: int) -> str:
        if self._chance.random() < 0.2:
            return self._chance.choice(_HERE_STRINGS).format(self.word(depth))
        if not self._wild or self._chance.random() < 0.5:
            return self._chance.choice(_READING_REDIRECTS)
        target = "PWNED" if self._chance.random() < 0.7 else self.word(depth)
        return self._chance.choice(_REDIRECTS).format(target)

    def heredoc(self, depth: int) -> str:
        end = self._chance.choice(("EOF", "'EOF'", '"EOF"', "\\EOF", "E'O'F", "EOF"))
        wild = ("$(echo a)", "`echo a`", "a\\", "\tEOF", " EOF", "$(touch PWNED)")
        body = self._chance.choice(
            (*("a", "$x", "'", "", '"', "${x}", "\\$x", "(", "# a", "echo '", "\n"), *(wild if self._wild else ()))
        )
        rest = self._chance.choice(("", "", "", " | cat", " && ls", " |", " &&", " ||", "; ls", " # c", " &", " <<EOG"))
        after = self._chance.choice(
            ("", "\necho b", "\n", "\ncat f.txt", "\ntouch PWNED\n: '\nEOF", "\nls '\nEOF", "\nEOG")
        )
        return f" {self._chance.choice(('<<', '<<-', '<< '))}{end}{rest}\n{body}\nEOF{after}"

    def word(self, depth: int) -> str:
        if depth < MAX_DEPTH and self._chance.random() < 0.3:
            kinds = (self.substitution, self.substitution, self.quoted, self.quoted, self.expansion, self.glued)
            return self._one(*kinds)(depth + 1)
        part = self._chance.choice(_ODD_PARTS if self._chance.random() < 0.1 else _PARTS)
        form: str = self._chance.choice(
            ("{}", "'{}'", "'{}'", '"{}"', '"{}"', "$'{}'", '$"{}"', "\\{}", "{}''", "~/{}", "${{x:-{}}}")
        )
        return form.format(part)

    def quoted(self, depth: int) -> str:
        inner = "".join(
            self._one(self.substitution, self.expansion, lambda _: self._chance.choice(_PARTS))(depth)
            for _ in range(self._chance.choice((1, 1, 2)))
        )
        if self._chance.random() < 0.4:
            dollar = self._chance.choice(_LONE_DOLLARS)
            inner = self._chance.choice((f"{dollar}{inner}", f"{inner}{dollar}", f"{dollar}{inner}{dollar}"))
        form: str = self._chance.choice(
            ('"{}"',) * 8 + ("'{}'", "{}", "\"a'{}'\"", '"$(echo "{}")"', "\"$(echo '{}')\"")
        )
        return form.format(inner)

    def glued(self, depth: int) -> str:
        """A word of which a substitution is a part, with what may stand before it."""
        before = self._chance.choice((*_LONE_DOLLARS, "a", "a=", "-n", "''", '"a"', "\\", "$x", "${x}", "1", "f.txt"))
        form: str = self._chance.choice(("<({})", ">({})", "$({})", "`{}`", "$((1+2))", "${{x:-{}}}"))
        return before + form.format(self.list(depth)) + self._chance.choice(("", "", "a", "$", "''", "\\"))

    def substitution(self, depth: int) -> str:
        inner = self.list(depth)
        form: str = self._chance.choice(
            ("$({})", "$({})", "`{}`", "<({})", "$( {} )", "$(\n{}\n)", "${{ {};}}" if self._wild else "$({})")
        )
        return form.format(inner)

    def expansion(self, depth: int) -> str:
        word = self.word(depth)
        calm = (
            "$x",
            "${{x}}",
            "${{x:-{}}}",
            "${{x-{}}}",
            "${{x#{}}}",
            "${{x%{}}}",
            "${{x/a/{}}}",
            "${{#x}}",
            "${{x:1}}",
            "$((1+2))",
        )
        wild = ("${{x:={}}}", "${{x:{}}}", "${{!x}}", "${{x@P}}", "${{x[{}]}}", "$(({}))", "$[1]", "{{a,{}}}")
        form: str = self._chance.choice(wild if self._wild else calm)
        return form.format(word)

    def test(self, depth: int) -> str:
        left, right = self.word(depth), self.word(depth)
        calm = ("=", "==", "!=", "-eq", "-lt", "-nt", "-ef", "-a", "-o", "=~")
        operator = self._chance.choice(
            (*calm, *(("<", ">", ">>", "&&", "||", "|", "&", "\\<", "\\>") if self._wild else ()))
        )
        file_test = self._chance.choice(
            ("-f", "-d", "-n", "-z", "-e", "!", "! -f", "-L", *(("-v",) if self._wild else ()))
        )
        inner = self._chance.choice(
            (
                *(
                    f"{left} {operator} {right}",
                    f"{file_test} {left}",
                    f"{left}",
                    f"{file_test} {left} {operator} {right}",
                ),
                *(
                    f"( {left} {operator} {right} )",
                    f"\\( {left} \\) {operator} {file_test} {right}",
                    f"{left}{operator}{right}",
                ),
                *(f"{file_test} {left} {operator} {file_test} {right}", f"{left} {operator}\n{right}"),
            )
        )
        form: str = self._chance.choice(
            (
                "[ {} ]",
                "[ {} ]",
                "[[ {} ]]",
                "[[ {} ]]",
                "test {}",
                "[\t{}\t]",
                *(("[{}]", "[ {}]") if self._wild else ()),
            )
        )
        return form.format(inner) + (f" {self.redirect(depth)}" if self._chance.random() < 0.1 else "")

    def arithmetic(self, depth: int) -> str:
        if not self._wild:
            return self._chance.choice(
                ("echo $((1+2))", "echo $(( 1 ))", "cat <(ls)", "for x in 1 2; do echo $x; done")
            )
        inner = self._chance.choice(
            ("1+2", "x>1", "x=1", "1 > 2", "x", "1)) ; ((2", "a[$(touch PWNED)0]", self.word(depth))
        )
        return self._chance.choice(("(({}))", "(( {} ))", "echo $(({}))", "echo $[{}]", "let {}")).format(inner)

    def compound(self, depth: int) -> str:
        body, other = self.list(depth), self.list(depth)
        word, pattern = (
            self.word(depth),
            self._chance.choice(("a", "*", "a|b", "(a", "[ab]", "$x", "'a'", "?(a)", "a b")),
        )
        calm = (
            *(
                f"if {body}; then {other}; fi",
                f"if {body}\nthen {other}\nelse {body}\nfi",
                f"while {body}; do {other}; break; done",
            ),
            *(f"for x in a {word}; do {body}; done", f"for x in {word}\ndo {body}\ndone", f"( {body} )", f"({body})"),
            *(f"case {word} in {pattern}) {body};; esac", f"{{ {body}; }}", f"{{ {body}\n}}", f"{{\n{body}\n}}"),
            *(f"case {word} in {pattern}) {body};; *) {other};; esac", f"x={word}; {body}", f"{{ {body}; }} | {other}"),
        )
        wild = (
            *(f"f() {{ {body}; }}; {other}", f"f() ( {body} ); f", f"function f {{ {body}; }}", f"coproc {body}"),
            *(f"for ((x=0;x<1;x++)); do {body}; done", f"select x in a; do {body}; break; done", f"x=( {word} )"),
            *(f"eval {word}", f"bash -c {word}", f"case {word} in {pattern}) {body};& *) {other};; esac"),
            *(f"until {body}; do break; done", f"for x; do {body}; done"),
        )
        forms = (*calm, *wild) if self._wild else calm
        return self._chance.choice(forms) + (f" {self.redirect(depth)}" if self._chance.random() < 0.12 else "")
