"""The list of contexts, read from their folders without changing them."""

import os
from collections.abc import Container, Iterator, Mapping
from pathlib import Path

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import ContextSummary, summary_of
from pilothouse.domain.errors import PilothouseError
from pilothouse.domain.value import ContextId
from pilothouse.storage.files import recovery
from pilothouse.storage.files.layout import DELETED_PREFIX, Folder


def read_summaries(
    root: Path, open_contexts: Mapping[ContextId, ContextSummary], excluded: Container[str]
) -> Iterator[ContextSummary]:
    """The summaries of the open contexts, and those read from the folders of the others, one at a time."""
    yield from open_contexts.values()
    with os.scandir(root) as entries:
        for entry in entries:
            if entry.name in open_contexts or entry.name in excluded or entry.name.startswith(DELETED_PREFIX):
                continue
            if entry.is_dir():
                summary = _read_summary(Folder(Path(entry.path)))
                if summary is not None and summary.damage is not None:
                    summary = _read_summary(
                        Folder(Path(entry.path))
                    )  # the files may have changed during the first read
                if summary is not None:
                    yield summary


def is_absent(folder: Folder) -> bool:
    return recovery.scan(folder).is_empty


def _read_summary(folder: Folder) -> ContextSummary | None:
    """The summary of a context; None where the folder holds no context."""
    try:
        scan = recovery.scan(folder)
    except (PilothouseError, OSError) as error:
        reason = error.reason if isinstance(error, PilothouseError) else None
        damage = reason or Reason(Code.CONTEXT_DAMAGED, {"context_id": folder.path.name, "detail": str(error)})
        return ContextSummary(context_id=ContextId(folder.path.name), damage=damage)
    if scan.is_empty:
        return None
    if scan.entries:
        return summary_of(scan.entries[-1].core)
    if scan.metadata is not None:
        return summary_of(scan.metadata)
    detail = {"context_id": folder.path.name, "detail": scan.metadata_error}
    return ContextSummary(context_id=ContextId(folder.path.name), damage=Reason(Code.CONTEXT_DAMAGED, detail))
