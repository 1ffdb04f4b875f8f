"""`CommandEnvironment`: the environment variables that commands get of those of a process."""

import os
from collections.abc import Mapping

from pilothouse.domain.value import Value
from pilothouse.sandbox.locales import with_usable_locales

# Variables by which a program finds its home, its language and its tools. None of them holds a key.
INHERITED_VARIABLES = (
    *("HOME", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER"),
    # the folders of version managers, whose shims start the real programs
    *("ASDF_DATA_DIR", "ASDF_DIR", "CARGO_HOME", "MISE_DATA_DIR", "NODENV_ROOT", "PYENV_ROOT", "RBENV_ROOT"),
    *("RUSTUP_HOME", "VOLTA_HOME"),
)
_WITHOUT_TERMINAL = {"TERM": "dumb", "PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}


class CommandEnvironment(Value):
    """The environment of the commands of a workspace."""

    inherited: Mapping[str, str]
    """The variables that every command gets, with settings for output to no terminal. PATH is always among them:
    without one, a shell takes a path of its own, which may lead into the working directory."""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "CommandEnvironment":
        """The environment that commands get of a process's own."""
        inherited = {name: environment[name] for name in INHERITED_VARIABLES if name in environment}
        # A command line is classified as UTF-8; the shell must decode it in the same way.
        locales = with_usable_locales(environment)
        return cls({"PATH": os.defpath, **inherited, **locales, **_WITHOUT_TERMINAL})

    @property
    def path(self) -> str:
        return self.inherited["PATH"]


NOTHING_INHERITED = CommandEnvironment.of({})
