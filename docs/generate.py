"""Writes what is generated from the code, of the documentation and of the page: `make docs`. A test fails when it is
not current."""

import json
import re
from pathlib import Path
from typing import Any

from typescript import typescript

from pilothouse.domain.contexts import CONTINUABLE
from pilothouse.domain.modes import Modes
from pilothouse.domain.state_words import STATE_WORDS
from pilothouse.domain.states import RESTING, WORKING, ProcessingUserMessage, name_of
from pilothouse.domain.transitions import STEP_OF, TRANSITIONS, diagram
from pilothouse.domain.words import WORDS
from pilothouse.sandbox.code_files import programs
from pilothouse.server.documents import document

HERE = Path(__file__).parent
WEB = HERE.parent / "web/src"
_QUOTED = re.compile(r"\{(\w+)!r\}")
INTRODUCTION = """# The states of a context

Generated from the one table that decides it, `src/pilothouse/domain/transitions.py`: do not edit, run `make docs`.

Left out of the picture, because they hold for all: from every state but Idle a cancel leads to Cancelling, from
every state a refused write leads to WaitingForRecovery and a bug to Failed, and every working state of a turn can
be paused. Recovery after a crash is no transition: it rewrites what was found before the machine runs again.

"""


def states_page() -> str:
    rows = "\n".join(f"| {state.__name__} | {STEP_OF[state]} |" for state in WORKING)
    resting = ", ".join(state.__name__ for state in RESTING)
    table = f"Resting states: {resting}.\n\n| working state | step |\n| --- | --- |\n{rows}\n"
    return f"{INTRODUCTION}```mermaid\n{diagram()}```\n\n{table}"


def states_for_the_page() -> dict[str, list[str]]:
    """Which states rest, in which a message is taken at once, and after which ends of a turn one can go on."""
    taking = [state for state, row in TRANSITIONS.items() if ProcessingUserMessage in row]
    return {
        "resting": sorted(map(name_of, RESTING)),
        "taking_messages": sorted(map(name_of, taking)),
        "continuable": sorted(CONTINUABLE),
    }


def words(language: int) -> dict[str, dict[str, str]]:
    """The words of every code, every state and every mode that comes with it, in the language at this place. What
    Python would quote stands in quotes."""
    return {
        "codes": {code.value: _QUOTED.sub(r"'{\1}'", each[language]) for code, each in WORDS.items()},
        "states": {name: each[language] for name, each in STATE_WORDS.items()},
        "modes": {name: (mode.title, mode.title_zh)[language] for name, mode in Modes().all.items()},
    }


CODE_FILES = """# Files that make programs run code

Generated from `src/pilothouse/sandbox/code_files.toml`: do not edit, run `make docs`.

The agent changes these only when you say so, in every mode and whatever rules allow: with a file tool, a notebook edit,
or a command line in which such a name can be read, also behind braces, patterns, variables that the line sets, and in
scripts of `sed`, `awk` or Python. Names count at any depth, in any case, and where links lead. A command that only
reads such a file, records it (`git add`, `git commit`) or is given it as its configuration (`eslint -c`) asks nobody.
Commands that change such files without naming them ask too: `git config` (but for a short list of harmless settings
such as `user.name`), `git clone -c` and `--template`, `git submodule add`, `npm config set`, `pre-commit install`,
`crontab` and the like. So does writing `HEAD`, or `config` and `hooks/` of a bare repository.

**The rule.** A file is listed when a program that people use for something else (opening a folder, entering it,
committing, installing, pushing, debugging, logging in) loads it by its name, and code or commands stand in it, or which
program to run. Not listed:

- ordinary source, even where a tool runs it: `Makefile`, `package.json`, `pyproject.toml`, `setup.py`, `conftest.py`,
  `build.rs`, `Dockerfile`, `docker-compose.yml`, `Vagrantfile`, `flake.nix`. Changing it is the agent's daily work;
  what runs it is a command of its own.
- words for agents: `AGENTS.md`, `CLAUDE.md`, `.cursorrules`. They steer an agent, which has a gate of its own.
- linter settings that hold data and at most name modules to load (`.eslintrc.json`, `.prettierrc`, `.rubocop.yml`,
  `.flake8`, `.rspec`): the modules are ordinary source or installed packages. `mypy.ini` and `.pylintrc` are listed,
  for they name a program or hold code.
- settings of build and test tools (`vite.config.ts`, `webpack.config.js`, `jest.config.js`, `babel.config.js`,
  `tox.ini`, `pytest.ini`, `setup.cfg`, `Rakefile`): like `Makefile`, they run with a command of their own. A linter
  setting in `setup.cfg`, `tox.ini` or `pyproject.toml` can do what one in a listed file can: they change too often to
  ask.
- `.env` files.

`.git`, `.envrc`, `.ssh` and the start-up files of common shells are refused altogether inside a workspace; a command
that names such a file outside of it asks. An undo puts back what stood there before the agent's change, and
does not ask again.

What a script or program writes without its command line showing it asks nobody. In the workspace, the result and the
conversation tell you afterwards which of these files a command has changed, and whether hooks or settings of a
repository were; changes in `node_modules`, `site-packages`, `.gradle`, `.hg` and `.jj` are not told. Only
`sandbox = "workspace"` keeps a command from such files outside the workspace.

"""


def code_files_page() -> str:
    rows = [f"| {each.name} | {' '.join(f'`{path}`' for path in each.paths)} | {each.source} |" for each in programs()]
    return "\n".join([f"{CODE_FILES}| program | files and folders | documented in |", "| --- | --- | --- |", *rows, ""])


def generated() -> dict[Path, str]:
    return {
        HERE / "states.md": states_page(),
        HERE / "code-files.md": code_files_page(),
        WEB / "api/schema.ts": typescript(document()),
        WEB / "api/states.json": _json(states_for_the_page()),
        WEB / "i18n/words.en.json": _json(words(0)),
        WEB / "i18n/words.zh.json": _json(words(1)),
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    for path, text in generated().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
