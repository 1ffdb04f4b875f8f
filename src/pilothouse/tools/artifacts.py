"""The files of a conversation beside its messages: whole outputs, uploads, and what files held before a call changed
them.

All of them lie in the context's own folder: who copies or deletes that folder handles them with it.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from pilothouse.domain.codes import Code
from pilothouse.private_file import make_private_folder, open_private
from pilothouse.sandbox.workspace import Mount
from pilothouse.tools.undo.changes import ChangeLog
from pilothouse.tools.undo.limits import UndoLimits

OUTPUTS = "outputs"
UPLOADS = "uploads"
MAX_OUTPUT_BYTES = 32 * 1024 * 1024


class ArtifactStore:
    """The folder of one context. All of its work is blocking: call it in a thread."""

    def __init__(self, folder: Path, baselines: Path | None = None, limits: UndoLimits | None = None) -> None:
        self.folder = folder
        self.limits = limits or UndoLimits()
        self.baselines = baselines or folder / "baselines"
        """Where caches of workspaces lie that undo compares with; one place for all contexts is best."""
        self.changes = ChangeLog(folder, self.limits)

    @property
    def outputs(self) -> Path:
        return self.folder / OUTPUTS

    def mounts(self) -> tuple[Mount, ...]:
        """The folders that the model's tools may read."""
        context, data = self.folder.parent.name, self.folder.parent.parent.parent
        former = data / "kept" / context / OUTPUTS  # results stored by earlier versions name this path
        mounts = (
            Mount(UPLOADS, self.uploads, refusal=Code.UPLOAD_READ_ONLY, is_listed=True),
            Mount(OUTPUTS, self.outputs, (str(former),)),
        )
        with contextlib.suppress(OSError):  # on a full disk, the workspace can be read all the same
            for mount in mounts:
                self._made(mount.folder)
        # A link put in the place of one of them would open another folder to every mode.
        return tuple(mount for mount in mounts if is_own_folder(mount.folder))

    @property
    def uploads(self) -> Path:
        return self.folder / UPLOADS

    def output_of(self, call_id: str) -> Path:
        return self.outputs / f"{call_id}.txt"

    def output_name(self, call_id: str) -> str:
        """The path under which the model's tools find a whole output."""
        return f"{OUTPUTS}/{self.output_of(call_id).name}"

    @contextlib.contextmanager
    def writing_output(self, call_id: str) -> Iterator[BinaryIO]:
        self._made(self.outputs)
        with open(open_private(self.output_of(call_id), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
            yield file

    def make_folder(self) -> None:
        """Raises: OSError where the context's own folder is gone, or nothing can be written."""
        make_private_folder(self.folder)

    def _made(self, folder: Path) -> Path:
        """Raises: OSError, also where the context's own folder is gone."""
        self.make_folder()
        return make_private_folder(folder)

    def tell_once(self, what: str) -> bool:
        """Whether a remark is due: true once in a conversation."""
        self._made(self.folder)
        try:
            os.close(open_private(self.folder / f"told-{what}", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True


def is_own_folder(folder: Path) -> bool:
    """Whether a folder of a context lies in it, and is no link to another place."""
    return folder.is_dir() and not folder.is_symlink() and not folder.parent.is_symlink()
