"""Which environment variables a person may let commands have, and which of them make programs run code."""

import pytest

from pilothouse.domain.command_variables import SET_VARIABLES, makes_programs_run_code, refusal_of

KEYS = frozenset({"OPENAI_API_KEY"})
ALLOWED = (
    *("SSH_AUTH_SOCK", "SSH_AGENT_PID", "VIRTUAL_ENV", "DISPLAY", "NO_COLOR", "CI", "DATABASE_URL", "XDG_RUNTIME_DIR"),
    *("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_CONFIG_FILE", "KUBECONFIG", "DOCKER_HOST", "GITHUB_TOKEN", "GH_TOKEN"),
    *("http_proxy", "HTTPS_PROXY", "JAVA_HOME", "ANDROID_HOME", "LDAP_SERVER", "_x", "a1", "X" * 100),
)
SHELL = (
    *("BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "BASH_COMPAT", "BASH_LOADABLES_PATH", "BASH_XTRACEFD", "BASH"),
    *("PS0", "PS1", "PS4", "PROMPT_COMMAND", "IFS", "CDPATH", "GLOBIGNORE", "EXECIGNORE", "POSIXLY_CORRECT", "PWD"),
    *("OLDPWD", "FUNCNEST", "TMOUT", "SHLVL", "_"),
)
NO_NAMES = ("", " ", "AWS_*", "*", "A B", "A=B", "A-B", "1A", "Ä", "A\0", "A\n", "BASH_FUNC_ls%%", "X" * 101, "🙂")
CODE = """
    LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES GLIBC_TUNABLES GCONV_PATH LOCPATH
    PYTHONPATH PYTHONSTARTUP PYTHONHOME PERL5OPT PERL5LIB PERLLIB RUBYOPT RUBYLIB GEM_PATH BUNDLE_GEMFILE
    NODE_OPTIONS NODE_PATH NPM_CONFIG_SCRIPT_SHELL npm_config_node_options LUA_INIT LUA_PATH PHPRC PHP_INI_SCAN_DIR
    JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH R_PROFILE
    GIT_DIR GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_CONFIG_GLOBAL GIT_EXEC_PATH GIT_ASKPASS SSH_ASKPASS
    EDITOR VISUAL BROWSER MANPAGER BAT_PAGER LESSOPEN LESS RSYNC_RSH CVS_RSH
    MAKEFLAGS MAKEFILES GNUMAKEFLAGS TAR_OPTIONS ZIPOPT XZ_OPT GREP_OPTIONS RIPGREP_CONFIG_PATH
    AWKPATH CURL_HOME OPENSSL_CONF OPENSSL_MODULES XDG_CONFIG_HOME RUSTC_WRAPPER PIP_PYTHON
    """.split()  # noqa: SIM905


@pytest.mark.parametrize("name", [*ALLOWED, *CODE])
def test_commands_may_have_any_variable_that_changes_neither_the_line_nor_the_runtime(name: str) -> None:
    assert refusal_of(name, KEYS) is None


@pytest.mark.parametrize("name", SHELL)
def test_no_command_has_a_variable_that_changes_what_the_shell_runs(name: str) -> None:
    assert refusal_of(name, KEYS) == "shell"


@pytest.mark.parametrize("name", NO_NAMES)
def test_a_pattern_and_anything_else_that_is_no_name_is_refused(name: str) -> None:
    assert refusal_of(name, KEYS) == "no_name"


@pytest.mark.parametrize("name", ["PILOTHOUSE_TOKEN", "PILOTHOUSE_CALL", "PILOTHOUSE_UPLOADS", "PILOTHOUSE_"])
def test_no_command_has_a_variable_of_the_runtime(name: str) -> None:
    assert refusal_of(name, KEYS) == "own"


def test_no_command_has_a_providers_key_or_another_value_of_a_fixed_variable() -> None:
    assert refusal_of("OPENAI_API_KEY", KEYS) == "key"
    assert {refusal_of(name, KEYS) for name in SET_VARIABLES} == {"set"}


def test_variables_that_make_programs_run_code_are_known_by_their_names() -> None:
    assert [name for name in CODE if not makes_programs_run_code(name)] == []
    assert [name for name in ALLOWED if makes_programs_run_code(name)] == []
