"""The lines of the tests of the shell classifier, by kind: dangerous, held by a sandbox, harmless."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.security import lines_benign, lines_git, lines_options, lines_programs, lines_review, lines_shell


@dataclass(frozen=True)
class Line:
    """A command line. `runs`: the line can be run for real here, and was observed to have the stated effect."""

    command: str
    group: str
    runs: bool = True

    @property
    def starts_touch(self) -> bool:
        """Whether the harm is done by starting `touch`, or the script that does: a rule on that word must see it."""
        return "touch" in self.command or "evil.sh" in self.command


def _read(blocks: Mapping[str, str], many: Mapping[str, tuple[str, ...]] | None = None) -> Iterator[Line]:
    for group, block in blocks.items():
        yield from (Line(command, group) for command in block.split("\n") if command)
    for group, commands in (many or {}).items():
        yield from (Line(command, group) for command in commands)


def _not_run(blocks: Mapping[str, str]) -> Iterator[Line]:
    return (Line(line.command, line.group, runs=False) for line in _read(blocks))


# Lines with effects: each of `runs` leaves a marker, removes the victim or changes the folder.
DANGEROUS: tuple[Line, ...] = (
    *_read(lines_shell.LINES, lines_shell.MANY),
    *_read(lines_programs.LINES, lines_programs.MANY),
    *_read(lines_git.LINES),
    *_read(lines_options.LINES, lines_options.MANY),
    *_read(lines_review.LINES, lines_review.MANY),
    *_not_run(lines_review.NOT_RUN),
    *_not_run(lines_programs.NOT_RUN),
    *_not_run(lines_git.NOT_RUN),
)

# Reading, but what lies in the folder may make more of it. Never strict.
HELD_BY_SANDBOX: tuple[Line, ...] = tuple(_read({"held by a sandbox": lines_git.HELD_BY_SANDBOX}))

# Lines that only read: nothing changes.
BENIGN: tuple[Line, ...] = (
    *_read(lines_benign.LINES, lines_benign.MANY),
    *_not_run({"endless": lines_benign.NOT_RUN}),
)
