"""Generates parts of the documentation and of the web client from the code: `make docs`. A test fails when a generated
file is not current."""

import json
import re
from pathlib import Path
from typing import Any

from reference import with_reference
from typescript import typescript

from pilothouse.domain.codes import LANGUAGES, Language
from pilothouse.domain.contexts import CONTINUABLE_ENDS
from pilothouse.domain.states import RESTING, WORKING, ProcessingUserMessage, name_of
from pilothouse.domain.transitions import STEP_OF, TRANSITIONS, diagram
from pilothouse.i18n import catalog_of
from pilothouse.sandbox.code_files import programs
from pilothouse.server.api_docs import document

HERE = Path(__file__).parent
WEB = HERE.parent / "web/src"
_QUOTED = re.compile(r"\{(\w+)!r\}")
INTRODUCTION = """# The states of a context

Generated from the transition table in `src/pilothouse/domain/transitions.py`. Do not edit; run `make docs`.

The diagram leaves out transitions that exist everywhere: a cancel leads from every state except Idle to Cancelling, a
refused write leads from every state to WaitingForRecovery, a bug leads from every state to Failed, and every working
state of a turn can be paused. Recovery after a crash is not a transition: it rewrites the stored state before the
machine runs again.

"""


def states_page() -> str:
    rows = "\n".join(f"| {state.__name__} | {STEP_OF[state]} |" for state in WORKING)
    resting = ", ".join(state.__name__ for state in RESTING)
    table = f"Resting states: {resting}.\n\n| working state | step |\n| --- | --- |\n{rows}\n"
    return f"{INTRODUCTION}```mermaid\n{diagram()}```\n\n{table}"


def states_for_web() -> dict[str, list[str]]:
    """Return the resting states, the states that accept a message at once, and the turn ends that can be continued."""
    accepting = [state for state, row in TRANSITIONS.items() if ProcessingUserMessage in row]
    return {
        "resting": sorted(map(name_of, RESTING)),
        "taking_messages": sorted(map(name_of, accepting)),
        "continuable": sorted(CONTINUABLE_ENDS),
    }


def texts(language: Language) -> dict[str, dict[str, str]]:
    """Return the texts of every code, state and built-in mode. Parameters with `!r` are written in quotes."""
    catalog = catalog_of(language)
    return {
        "codes": {code.value: _QUOTED.sub(r"'{\1}'", text) for code, text in catalog.codes.items()},
        "states": dict(catalog.states),
        "modes": dict(catalog.mode_titles),
    }


CODE_FILES = """# Files that make programs run code

Generated from `src/pilothouse/sandbox/code_files.toml`. Do not edit; run `make docs`.

The agent changes these files only with your approval, in every mode and whatever your rules allow. This covers file
tools, notebook edits, and every command line in which such a name can be read, also behind braces, patterns and
variables that the line sets, and in scripts of `sed`, `awk` or Python. Names count at any depth, in any case, and where
links lead.

- **No approval is needed** for a command that only reads such a file, records it (`git add`, `git commit`), or is given
  it as its configuration (`eslint -c`).
- **Approval is also needed** for commands that change such files without naming them: `git config` (except for a short
  list of harmless settings such as `user.name`), `git clone -c` and `--template`, `git submodule add`,
  `npm config set`, `pre-commit install`, `crontab` and the like, and for writing `HEAD`, or `config` and `hooks/` of a
  bare repository.

## Which files are listed

A file is listed if a program that people use for something else (opening a folder, entering it, committing, installing,
pushing, debugging, logging in) loads it by its name, and it contains code or commands, or says which program to run.
These are not listed:

- ordinary source, even where a tool runs it: `Makefile`, `package.json`, `pyproject.toml`, `setup.py`, `conftest.py`,
  `build.rs`, `Dockerfile`, `docker-compose.yml`, `Vagrantfile`, `flake.nix`. Changing it is the agent's daily work, and
  running it takes a separate command.
- instructions for agents: `AGENTS.md`, `CLAUDE.md`, `.cursorrules`. They steer an agent, which has its own gate.
- linter settings that hold data and at most name modules to load (`.eslintrc.json`, `.prettierrc`, `.rubocop.yml`,
  `.flake8`, `.rspec`): the modules are ordinary source or installed packages. `mypy.ini` and `.pylintrc` are listed,
  because they name a program or hold code.
- settings of build and test tools (`vite.config.ts`, `webpack.config.js`, `jest.config.js`, `babel.config.js`,
  `tox.ini`, `pytest.ini`, `setup.cfg`, `Rakefile`): like `Makefile`, they run with a separate command. A linter setting
  in `setup.cfg`, `tox.ini` or `pyproject.toml` can do what one in a listed file can, but these files change too often
  to ask each time.
- `.env` files.

`.git`, `.envrc`, `.ssh` and the start-up files of common shells are refused altogether inside a workspace; a command
that names such a file outside the workspace needs your approval. An undo restores what was there before the agent's
change, without asking again.

## What remains

A script or program can write these files without its command line showing it; that needs no approval. In the
workspace, the result and the conversation tell you afterwards which of these files a command has changed, and whether
hooks or settings of a repository were changed. Changes in `node_modules`, `site-packages`, `.gradle`, `.hg` and `.jj`
are not reported. Only `sandbox = "workspace"` keeps a command from such files outside the workspace.

## The list

"""


def code_files_page() -> str:
    rows = [f"| {each.name} | {' '.join(f'`{path}`' for path in each.paths)} | {each.source} |" for each in programs()]
    return "\n".join([f"{CODE_FILES}| program | files and folders | documented in |", "| --- | --- | --- |", *rows, ""])


def generated() -> dict[Path, str]:
    return {
        HERE / "states.md": states_page(),
        HERE / "code-files.md": code_files_page(),
        HERE / "library.md": with_reference((HERE / "library.md").read_text()),
        WEB / "api/schema.ts": typescript(document()),
        WEB / "api/states.json": _json(states_for_web()),
        **{WEB / f"i18n/words.{language}.json": _json(texts(language)) for language in LANGUAGES},
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    for path, text in generated().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
