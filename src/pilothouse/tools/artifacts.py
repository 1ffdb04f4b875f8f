"""`ArtifactStore`: the files of a conversation beside its messages, as the runtime and the tools use them.

There are three kinds: whole outputs, uploads, and the contents of files before a call changed them. `ArtifactFolder`
keeps them in the context's own folder, so that copying or deleting that folder includes them. Another implementation
may store them elsewhere, as for several processes, but while a context has an owner it needs real files on that
owner's machine: the sandbox grants mounts to commands as folders, and undo compares and restores files byte by byte.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from pilothouse.domain.codes import Code
from pilothouse.sandbox.workspace import Mount
from pilothouse.system.private_file import make_private_folder, open_private
from pilothouse.tools.undo.changes import ChangeLog
from pilothouse.tools.undo.limits import UndoLimits
from pilothouse.tools.uploads import UploadStore, is_own_folder

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
    def uploads(self) -> UploadStore:
        """The files that the person uploaded."""

    def mounts(self, *, makes_folders: bool) -> tuple[Mount, ...]:
        """The folders that the model's tools may read: those that exist, or all of them with `makes_folders`."""

    def output_of(self, call_id: str) -> Path:
        """The file of a whole output, which exists only where the result is shortened."""

    def output_name(self, call_id: str) -> str:
        """The path under which the model's tools read a whole output."""

    def open_output(self, call_id: str) -> contextlib.AbstractContextManager[BinaryIO]: ...

    def make_folder(self) -> None:
        """Prepare for writes. Raises: OSError where the context is gone, or the disk refuses the write."""

    def claim_remark(self, remark: str) -> bool:
        """Claim a remark that is shown once in a conversation: True for the first caller only."""


class ArtifactFolder:
    """An `ArtifactStore` in a folder, which the first write makes."""

    def __init__(self, folder: Path, baselines: Path | None = None, limits: UndoLimits | None = None) -> None:
        self.folder = folder
        self.limits = limits or UndoLimits()
        self.baselines = baselines or folder / "baselines"
        """The folder of the workspace caches that undo compares with; best shared by all contexts."""
        self.changes = ChangeLog(folder, self.limits)

    @property
    def outputs(self) -> Path:
        return self.folder / OUTPUTS

    def mounts(self, *, makes_folders: bool) -> tuple[Mount, ...]:
        context, data = self.folder.parent.name, self.folder.parent.parent.parent
        legacy_outputs = data / "kept" / context / OUTPUTS  # results of earlier versions name this path
        mounts = (
            Mount(
                UPLOADS,
                self.folder / UPLOADS,
                refusal=Code.UPLOAD_READ_ONLY,
                refusal_of_new=Code.UPLOADS_RESERVED,
                is_listed=True,
            ),
            Mount(OUTPUTS, self.outputs, (str(legacy_outputs),)),
        )
        if makes_folders:
            with contextlib.suppress(OSError):  # a full disk must not close the workspace
                for mount in mounts:
                    self._make(mount.folder)
        # A symlink in the place of a mount would open another folder to every mode.
        return tuple(mount for mount in mounts if is_own_folder(mount.folder))

    @property
    def uploads(self) -> UploadStore:
        return UploadStore(self.folder / UPLOADS)

    def output_of(self, call_id: str) -> Path:
        return self.outputs / f"{call_id}.txt"

    def output_name(self, call_id: str) -> str:
        return f"{OUTPUTS}/{self.output_of(call_id).name}"

    @contextlib.contextmanager
    def open_output(self, call_id: str) -> Iterator[BinaryIO]:
        self._make(self.outputs)
        with open(open_private(self.output_of(call_id), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
            yield file

    def make_folder(self) -> None:
        make_private_folder(self.folder)

    def _make(self, folder: Path) -> Path:
        """Make a private folder. Raises: OSError, also where the context's own folder is gone."""
        self.make_folder()
        return make_private_folder(folder)

    def claim_remark(self, remark: str) -> bool:
        self._make(self.folder)
        try:
            os.close(open_private(self.folder / f"told-{remark}", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True
