"""The limits of undo."""

from pilothouse.domain.value import Value

_MEGABYTE = 1_000_000  # decimal, as sizes are shown to people


class UndoLimits(Value):
    """The limits of undo; `[undo]` of config.toml sets the first four."""

    conversation_megabytes: int = 200
    """Earlier contents kept for one conversation. The oldest changes are dropped first."""

    days: int = 30
    """The number of days for which a change can be undone."""

    baseline_megabytes: int = 500
    """The cache of one workspace, files near the root first; all workspaces together get twice as much."""

    files: int = 100_000
    """The entries of a workspace scanned with every command, those near the root first."""

    home_files: int = 20_000
    """As `files`, in a home folder or the root of the disk, where most files belong to no project."""

    file_megabytes: int = 50
    """The size above which a change of a file is reported, but the content not kept."""

    @property
    def max_conversation_bytes(self) -> int:
        return self.conversation_megabytes * _MEGABYTE

    @property
    def max_baseline_bytes(self) -> int:
        return self.baseline_megabytes * _MEGABYTE

    @property
    def max_file_bytes(self) -> int:
        return self.file_megabytes * _MEGABYTE
