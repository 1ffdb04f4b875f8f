"""How much undo keeps."""

from pilothouse.domain.values import Value

_MEGABYTE = 1_000_000


class UndoLimits(Value):
    """Bounds of what undo keeps; `[undo]` of config.toml sets the first four."""

    conversation_megabytes: int = 200
    """What one conversation keeps of earlier contents. The oldest changes go first."""

    days: int = 30
    """How long a change can be undone."""

    baseline_megabytes: int = 500
    """What the cache keeps of one workspace, nearest files first; all workspaces together twice as much."""

    files: int = 100_000
    """How many entries of a workspace are looked at with every command, nearest first."""

    home_files: int = 20_000
    """The same in a home folder or the root of the disk, where most files belong to no project."""

    file_megabytes: int = 50
    """A larger file is noticed, not kept."""

    @property
    def max_conversation_bytes(self) -> int:
        return self.conversation_megabytes * _MEGABYTE

    @property
    def max_baseline_bytes(self) -> int:
        return self.baseline_megabytes * _MEGABYTE

    @property
    def max_file_bytes(self) -> int:
        return self.file_megabytes * _MEGABYTE
