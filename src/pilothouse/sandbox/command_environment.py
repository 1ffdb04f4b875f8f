"""`CommandEnvironment`: the environment variables that commands get of those of a process, and of a client's."""

import os
from collections.abc import Mapping, Sequence

from pilothouse.domain.codes import Code
from pilothouse.domain.command_variables import SET_VARIABLES, makes_programs_run_code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.value import Value
from pilothouse.sandbox.locales import is_locale_variable, with_usable_locales

MAX_CLIENT_CHARACTERS = 65_536
"""The variables of a client, all together. They are kept in memory for each conversation."""
MAX_CLIENT_FOLDERS = 1000
"""The entries of a client's PATH. Each is looked up for every program that a command names."""
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

    def with_client(self, variables: Mapping[str, str]) -> "CommandEnvironment":
        """The same environment with PATH and the listed variables as a client has them. Its other variables are left
        out. Raises: InvalidInput."""
        listed = {name: variables[name] for name in self.names if name in variables}
        path = {"PATH": variables["PATH"]} if "PATH" in variables else {}
        _check({**listed, **path})
        return CommandEnvironment(inherited={**self.inherited, **path}, listed=listed, names=self.names)

    @property
    def path(self) -> str:
        return self.inherited["PATH"]

    @property
    def runs_code(self) -> bool:
        """Whether a listed variable may make installed programs run other code than their own."""
        return any(value and makes_programs_run_code(name) for name, value in self.listed.items())


def _check(variables: Mapping[str, str]) -> None:
    """Raises: InvalidInput for variables that no program can get, or that are too long to be kept and looked up."""
    size = sum(map(len, variables.values()))
    if size > MAX_CLIENT_CHARACTERS:
        longest = max(variables, key=lambda name: len(variables[name]))
        raise InvalidInput(Code.ENVIRONMENT_TOO_LONG, name=longest, size=size, most=MAX_CLIENT_CHARACTERS)
    folders = variables.get("PATH", "").count(os.pathsep) + 1
    if folders > MAX_CLIENT_FOLDERS:
        raise InvalidInput(Code.PATH_TOO_LONG, count=folders, most=MAX_CLIENT_FOLDERS)
    for name, value in variables.items():
        try:
            is_valid = b"\0" not in os.fsencode(value)
        except UnicodeEncodeError:  # JSON can contain a lone surrogate
            is_valid = False
        if not is_valid:
            raise InvalidInput(Code.ENVIRONMENT_NOT_TEXT, name=name)


NOTHING_INHERITED = CommandEnvironment.of({})
