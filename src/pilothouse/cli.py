"""The entry point. It loads nothing before it knows that it must: asking for the version is asking for no more."""

import sys

from pilothouse import __version__


def main() -> int:
    if sys.argv[1:] == ["--version"]:
        print(f"pilothouse {__version__}")
        return 0
    from pilothouse.commands import run_command_line

    return run_command_line(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
