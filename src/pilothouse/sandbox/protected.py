"""Files that are not like others: who can write them can run code as the person, or change what holds here."""

from collections.abc import Sequence

from pilothouse.sandbox.code_files import folded_parts, runs_code

# Who can write these can run code as the person, the next time they open a shell, use git or log in.
_START_UP = frozenset(
    {
        *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".inputrc"),
        *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login"),
        *(".gitconfig", ".envrc", "config.fish"),
    }
)
_START_UP_FOLDERS = ((".ssh",), (".config", "git"), (".config", "fish"))
_OWN_NAMES = frozenset({".pilothouse", "pilothouse.toml"})
_GIT_SECRETS = frozenset({"config", "config.worktree", "hooks"})
# A path without any of these is not protected: one look tells it of most.
_TELLING = _OWN_NAMES | _START_UP | {".git", *(folder[-1] for folder in _START_UP_FOLDERS)}


def is_protected(parts: Sequence[str], writing: bool) -> bool:
    """`parts` are those of a path below a workspace, in lower case. Whether it exists does not matter."""
    if _TELLING.isdisjoint(parts):
        return False
    if not _OWN_NAMES.isdisjoint(parts):
        return True
    if ".git" in parts:
        # Anything in there can lead git to another configuration; what may hold keys is not read either.
        return writing or not _GIT_SECRETS.isdisjoint(parts[parts.index(".git") :])
    return (bool(parts) and parts[-1] in _START_UP) or any(_holds(parts, folder) for folder in _START_UP_FOLDERS)


def _holds(parts: Sequence[str], folder: tuple[str, ...]) -> bool:
    size = len(folder)
    return any(tuple(parts[start : start + size]) == folder for start in range(len(parts) - size + 1))


def may_run_code(path: str) -> bool:
    """Whether a file of this path makes programs run code, by the text of the path alone."""
    parts = folded_parts(path)
    return runs_code(parts) or is_protected(parts, writing=True)
