"""A program that parses the text on its standard input; the kernel kills it when parsing takes too long.

For some texts the grammar needs quadratic time, during which it holds the interpreter's lock and cannot be interrupted.
The arguments are the folders of the grammar's packages, so that the program starts without `site`.
"""

import signal
import sys

MAX_CPU_SECONDS = 0.15


def main(folders: list[str]) -> None:
    sys.path.extend(folders)
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    parser = Parser(Language(tree_sitter_bash.language()))
    text = sys.stdin.buffer.read()
    signal.setitimer(signal.ITIMER_VIRTUAL, MAX_CPU_SECONDS)
    parser.parse(text)


if __name__ == "__main__":
    main(sys.argv[1:])
