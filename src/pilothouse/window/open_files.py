"""The files that are open in a person's editor, as the client names them with a message."""

from pilothouse.domain.messages import Message

NO_OPEN_FILES = "[No file is open in the person's editor]"
_MAX_FILES = 20
_MAX_PATH_CHARACTERS = 300
_MAX_CHARACTERS = 2000
"""The length of all paths together."""


def open_files_text(message: Message) -> str | None:
    """The open files for the model, bounded in size; None for a message that does not name them."""
    value = message.metadata.extra.get("open_files") if message.role == "user" else None
    if not isinstance(value, list | tuple):
        return None
    files = [path for path in value if isinstance(path, str)]
    if value and not files:
        return None
    paths = _bounded(files)
    rest = [f"… and {len(files) - len(paths)} more"] if len(files) > len(paths) else []
    lines = "\n".join(f"- {line}" for line in (*paths, *rest))
    return f"[Open in the person's editor]\n{lines}" if files else NO_OPEN_FILES


def _bounded(files: list[str]) -> list[str]:
    """The first paths, each on one line."""
    paths: list[str] = []
    remaining = _MAX_CHARACTERS
    for file in files[:_MAX_FILES]:
        path = "".join(character if character.isprintable() else "?" for character in file[:_MAX_PATH_CHARACTERS])
        remaining -= len(path)
        if remaining < 0:
            break
        paths.append(path)
    return paths
