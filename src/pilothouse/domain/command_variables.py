"""Environment variables by name: those that a person may let commands have, and those that make programs run code."""

import re
from collections.abc import Collection
from typing import Literal

MAX_LISTED_VARIABLES = 50
OWN_PREFIX = "PILOTHOUSE_"
SET_VARIABLES = {"TERM": "dumb", "PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}
"""Variables that every command gets with these values, because its output goes to no terminal."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
# Before the line itself, the shell runs a file that BASH_ENV or ENV names. SHELLOPTS, BASHOPTS, POSIXLY_CORRECT and the
# like change how it reads the line, PS4 and PROMPT_COMMAND hold commands, and CDPATH leads `cd` elsewhere.
_SHELL_VARIABLE = re.compile(
    r"BASH\w*|ENV|SHELLOPTS|POSIXLY_CORRECT|IFS|CDPATH|GLOB(?:IGNORE|SORT)|EXECIGNORE|FIGNORE|FUNCNEST|PS[0-4]|PROMPT_\w*"
    r"|(?:OLD)?PWD|TMOUT|OPT(?:IND|ERR|ARG)|SHLVL|_"
)
# The loader, languages, make, git and other tools; then words at the end of a name for options, programs and paths.
_CODE_VARIABLE = re.compile(
    r"(?:LD_|DYLD_|GLIBC_|NIX_LD|PYTHON|PERL|RUBY|GEM_|BUNDLE_|NODE_|NPM_|LUA_|PHP|TCL|JULIA_|ERL_|R_(?:PROFILE|ENVIRON)|"
    r"MAKE|GIT_|RSYNC_|LESS|TAR_|ZIP|UNZIP|XZ_|OPENSSL_|PIP_|XDG_CONFIG)\w*|CURL_HOME|ZDOTDIR|"
    r"\w*(?:PATH|OPTS?|OPTIONS|FLAGS|COMMAND|WRAPPER|PRELOAD|PAGER|EDITOR|VISUAL|ASKPASS|BROWSER|RSH|STARTUP|_INIT)",
    re.IGNORECASE,
)

Refusal = Literal["no_name", "own", "key", "set", "shell"]


def refusal_of(name: str, key_variables: Collection[str]) -> Refusal | None:
    """Why a person cannot let commands have a variable: its name is none, it belongs to the runtime, it holds the key
    of a provider, the runtime sets it, or it changes what the shell runs. None if commands may have it."""
    if not _NAME.fullmatch(name):
        return "no_name"
    if name.startswith(OWN_PREFIX):
        return "own"
    if name in key_variables:
        return "key"
    if name in SET_VARIABLES:
        return "set"
    return "shell" if _SHELL_VARIABLE.fullmatch(name) else None


def makes_programs_run_code(name: str) -> bool:
    """Whether programs run code that a variable names, or take options from it. Not every such variable is known."""
    return _CODE_VARIABLE.fullmatch(name) is not None
