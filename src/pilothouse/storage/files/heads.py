"""The heads of audit chains, noted outside the data directory: they reveal chains that were cut or rewritten there.

A head is noted after the entries that it counts are on disk: a crash or a full disk leaves a head that is too old,
never one that is too new. A person's acceptance of a cut or rewritten chain is noted here, and nowhere else.
"""

import hashlib
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from pilothouse.domain.audit import NotedHead
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import check_context_id
from pilothouse.domain.errors import InvalidInput, StoreRefused, os_error_text
from pilothouse.domain.users import check_user_name
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.regular_files import read_regular_file
from pilothouse.system.private_file import make_private_folders

_HEAD = msgspec.json.Decoder(NotedHead)
_KEY_DIGITS = 32
MAX_HEAD_BYTES = 1024 * 1024
_log = logging.getLogger(__name__)

Kind = Literal["contexts", "users"]
_CHECKS: Mapping[Kind, Callable[[str], str]] = {"contexts": check_context_id, "users": check_user_name}


class AuditHeads:
    """The noted heads of all chains of a data directory. All methods are synchronous."""

    def __init__(self, state_dir: Path | None, data: Path, disk: Disk) -> None:
        """`state_dir` is the program's folder for state beside its data; with None no head is noted."""
        self._disk = disk
        self._folder: Path | None = None
        self._has_failed = False
        if state_dir is not None:
            # Keyed by path: a copy of a data directory has another path, and its chains evolve independently.
            path = os.fsencode(os.path.realpath(data))
            self._folder = state_dir / "audit-heads" / hashlib.sha256(path).hexdigest()[:_KEY_DIGITS]

    def read(self, kind: Kind, name: str) -> NotedHead | None:
        """The noted head of a chain; None where no head is noted, or the note is unreadable."""
        if self._folder is None:
            return None
        try:
            return _HEAD.decode(read_regular_file(self._folder / kind / name, MAX_HEAD_BYTES))
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return None

    def note(self, kind: Kind, name: str, head: NotedHead) -> bool:
        """Note a head; returns whether it was noted. A failure is logged once: the entries themselves are safe."""
        try:
            is_noted = self._write(kind, name, head)
        except OSError as error:
            if not self._has_failed:
                _log.warning("audit heads cannot be written to %s: %s", self._folder, os_error_text(error))
            self._has_failed = True
            return False
        self._has_failed = False
        return is_noted

    def note_acceptance(self, kind: Kind, name: str, head: NotedHead) -> bool:
        """Note a head, like `note`. Raises: StoreRefused, because nothing else records the person's acceptance."""
        try:
            return self._write(kind, name, head)
        except OSError as error:
            raise StoreRefused(Code.STORE_REFUSED, detail=f"{self._folder}: {os_error_text(error)}") from error

    def _write(self, kind: Kind, name: str, head: NotedHead) -> bool:
        if self._folder is None:
            return False
        folder = self._folder / kind
        make_private_folders(folder)
        self._disk.replace_file(folder / name, msgspec.json.encode(head))
        return True

    def names(self, kind: Kind) -> list[str]:
        """The chains with a noted head. Other files (of a file manager, half written) are left out."""
        if self._folder is None:
            return []
        try:
            return sorted(name for name in os.listdir(self._folder / kind) if _is_name(kind, name))
        except OSError:
            return []

    def forget(self, kind: Kind, name: str) -> None:
        path = self._folder / kind / name if self._folder is not None else None
        if path is not None and os.path.lexists(path):
            try:
                self._disk.unlink(path)
                self._disk.sync_dir(path.parent)
            except OSError as error:
                _log.warning("the audit head of a deleted conversation stays: %s", os_error_text(error))


def _is_name(kind: Kind, name: str) -> bool:
    try:
        _CHECKS[kind](name)
    except InvalidInput:
        return False
    return True
