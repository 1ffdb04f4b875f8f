"""The entry point of the command line. Imports are deferred, so that `pilothouse --version` loads nothing else."""

import os
import sys

from pilothouse import __version__


def main() -> int:
    """Run the command line. Return the exit code: 1 if the reader of the output ends early (`| head`)."""
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
