"""Protected files: writing them allows running code as the person, or changing the runtime's rules."""

from collections.abc import Sequence

from pilothouse.sandbox.code_files import folded_parts, runs_code

# The content of these files runs as the person's code when they next open a shell, use git or log in.
_START_UP_FILES = frozenset(
    {
        *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".inputrc"),
        *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login"),
        *(".gitconfig", ".envrc", "config.fish"),
    }
)
_START_UP_FOLDERS = ((".ssh",), (".config", "git"), (".config", "fish"))
_OWN_NAMES = frozenset({".pilothouse", "pilothouse.toml"})
_GIT_SECRETS = frozenset({"config", "config.worktree", "hooks"})
# A path without any of these names is not protected: one check suffices for most paths.
_INDICATORS = _OWN_NAMES | _START_UP_FILES | {".git", *(folder[-1] for folder in _START_UP_FOLDERS)}


def is_protected(parts: Sequence[str], writing: bool) -> bool:
    """Whether a path is protected. `parts` are the folded names in the path below a workspace, which need not exist."""
    if _INDICATORS.isdisjoint(parts):
        return False
    if not _OWN_NAMES.isdisjoint(parts):
        return True
    if ".git" in parts:
        # Any file of a repository can redirect git to another configuration; files that may hold keys are not read.
        return writing or not _GIT_SECRETS.isdisjoint(parts[parts.index(".git") :])
    return (bool(parts) and parts[-1] in _START_UP_FILES) or any(
        _contains(parts, folder) for folder in _START_UP_FOLDERS
    )


def _contains(parts: Sequence[str], folder: tuple[str, ...]) -> bool:
    size = len(folder)
    return any(tuple(parts[start : start + size]) == folder for start in range(len(parts) - size + 1))


def may_run_code(path: str) -> bool:
    """Whether programs run a file's content as code, by the text of its path alone."""
    parts = folded_parts(path)
    return runs_code(parts) or is_protected(parts, writing=True)
