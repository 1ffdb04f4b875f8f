"""The entry point. It loads nothing before it knows that it must: asking for the version is asking for no more."""

import os
import sys

from pilothouse import __version__


def main() -> int:
    """Run the command line. Gives the exit code: 1 where nobody reads the output to its end (`| head`)."""
    try:
        try:
            return _run()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more
        return 1


def _run() -> int:
    if sys.argv[1:] == ["--version"]:
        print(f"pilothouse {__version__}")
        return 0
    from pilothouse.cli.main import run_command_line

    return run_command_line(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
