"""The list of contexts, read from their folders without changing anything."""

from pathlib import Path

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import ContextSummary, summary_of
from pilothouse.domain.errors import PilothouseError
from pilothouse.domain.values import ContextId
from pilothouse.storage.files import recovery
from pilothouse.storage.files.layout import GRAVE, Folder


def list_contexts(root: Path, known: dict[ContextId, ContextSummary]) -> list[ContextSummary]:
    """Those that are known, and what the folders of the others say."""
    found = dict(known)
    for path in root.iterdir():
        context_id = ContextId(path.name)
        if context_id not in found and path.is_dir() and not path.name.startswith(GRAVE):
            summary = _glance(Folder(path))
            if summary is not None and summary.damage is not None:
                summary = _glance(Folder(path))  # its files may have moved under our eyes
            if summary is not None:
                found[context_id] = summary
    return list(found.values())


def is_absent(folder: Folder) -> bool:
    return recovery.scan(folder).is_empty


def _glance(folder: Folder) -> ContextSummary | None:
    """A line of the list, read without changing anything."""
    try:
        found = recovery.scan(folder)
    except (PilothouseError, OSError) as error:
        reason = error.reason if isinstance(error, PilothouseError) else None
        damage = reason or Reason(Code.CONTEXT_DAMAGED, {"context_id": folder.path.name, "detail": str(error)})
        return ContextSummary(context_id=ContextId(folder.path.name), damage=damage)
    if found.is_empty:
        return None
    if found.entries:
        return summary_of(found.entries[-1].core)
    if found.metadata is not None:
        return summary_of(found.metadata)
    detail = {"context_id": folder.path.name, "detail": found.metadata_error}
    return ContextSummary(context_id=ContextId(folder.path.name), damage=Reason(Code.CONTEXT_DAMAGED, detail))
