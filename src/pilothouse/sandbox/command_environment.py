"""`CommandEnvironment`: the environment variables that commands get of those of a process."""

import os
from collections.abc import Mapping, Sequence

from pilothouse.domain.command_variables import SET_VARIABLES, makes_programs_run_code
from pilothouse.domain.value import Value
from pilothouse.sandbox.locales import is_locale_variable, with_usable_locales

# Variables by which a program finds its home, its language and its tools. None of them holds a key.
INHERITED_VARIABLES = (
    *("HOME", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER"),
    # the folders of version managers, whose shims start the real programs
    *("ASDF_DATA_DIR", "ASDF_DIR", "CARGO_HOME", "MISE_DATA_DIR", "NODENV_ROOT", "PYENV_ROOT", "RBENV_ROOT"),
    *("RUSTUP_HOME", "VOLTA_HOME"),
)


class CommandEnvironment(Value):
    """The environment of the commands of a workspace."""

    inherited: Mapping[str, str]
    """The variables that every command gets. PATH is always among them: without one, a shell takes a path of its own,
    which may lead into the working directory."""
    listed: Mapping[str, str] = {}
    """The variables that the person has listed, as far as they are set. A command that runs without approval because
    it only reads gets none of them: they may hold secrets, and make programs run code."""
    names: tuple[str, ...] = ()
    """The names that the person has listed."""

    @classmethod
    def of(cls, environment: Mapping[str, str], names: Sequence[str] = ()) -> "CommandEnvironment":
        """The environment that commands get of a process's own. `names` are those that the person has listed, none of
        which `refusal_of` refuses."""
        inherited = {name: environment[name] for name in INHERITED_VARIABLES if name in environment}
        # A command line is classified as UTF-8; the shell must decode it in the same way.
        locales = with_usable_locales(environment)
        names = tuple(name for name in names if name not in INHERITED_VARIABLES and not is_locale_variable(name))
        return cls(
            inherited={"PATH": os.defpath, **inherited, **locales, **SET_VARIABLES},
            listed={name: environment[name] for name in names if name in environment},
            names=names,
        )

    @property
    def path(self) -> str:
        return self.inherited["PATH"]

    @property
    def runs_code(self) -> bool:
        """Whether a listed variable may make installed programs run other code than their own."""
        return any(value and makes_programs_run_code(name) for name, value in self.listed.items())


NOTHING_INHERITED = CommandEnvironment.of({})
