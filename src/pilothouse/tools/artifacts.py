"""`ArtifactStore`: the files of a conversation beside its messages, as the runtime and the tools use them.

There are three kinds: whole outputs, uploads, and the contents of files before a call changed them. `ArtifactFolder`
keeps them in the context's own folder. Another implementation may store them elsewhere, as for several processes, but
while a context has an owner it needs real files on that owner's machine: the sandbox grants mounts to commands as
folders, and undo compares and restores files byte by byte.
"""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

from pilothouse.sandbox.workspace import Mount
from pilothouse.tools.undo.changes import ChangeLog
from pilothouse.tools.undo.limits import UndoLimits

if TYPE_CHECKING:
    from pilothouse.tools.uploads import UploadStore

OUTPUTS = "outputs"
UPLOADS = "uploads"
MAX_OUTPUT_BYTES = 32 * 1024 * 1024


class ArtifactStore(Protocol):
    """The artifacts of one context. All methods block: call them in a thread."""

    limits: UndoLimits
    baselines: Path
    """The folder of the workspace caches that undo compares with."""
    changes: ChangeLog
    """The contents of files before calls changed them."""

    @property
    def uploads(self) -> "UploadStore":
        """The files that the person uploaded."""

    def mounts(self, *, makes_folders: bool) -> tuple[Mount, ...]:
        """The folders that the model's tools may read: those that exist, or all of them with `makes_folders`."""

    def output_of(self, call_id: str) -> Path:
        """The file of a whole output, which exists only where the result is shortened."""

    def output_name(self, call_id: str) -> str:
        """The path under which the model's tools read a whole output."""

    def open_output(self, call_id: str) -> AbstractContextManager[BinaryIO]: ...

    def make_folder(self) -> None:
        """Prepare for writes. Raises: OSError where the context is gone, or the disk refuses the write."""

    def claim_remark(self, remark: str) -> bool:
        """Claim a remark that is shown once in a conversation: True for the first caller only."""


def is_own_folder(folder: Path) -> bool:
    """Whether a folder exists inside its context and neither it nor its parent is a symlink."""
    return folder.is_dir() and not folder.is_symlink() and not folder.parent.is_symlink()
