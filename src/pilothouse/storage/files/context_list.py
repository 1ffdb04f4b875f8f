"""The list of contexts, read from their folders without changing them."""

from pathlib import Path

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import ContextSummary, summary_of
from pilothouse.domain.errors import PilothouseError
from pilothouse.domain.value import ContextId
from pilothouse.storage.files import recovery
from pilothouse.storage.files.layout import DELETED_PREFIX, Folder


def list_contexts(root: Path, open_contexts: dict[ContextId, ContextSummary]) -> list[ContextSummary]:
    """The summaries of the open contexts, and those read from the folders of the others."""
    summaries = dict(open_contexts)
    for path in root.iterdir():
        context_id = ContextId(path.name)
        if context_id not in summaries and path.is_dir() and not path.name.startswith(DELETED_PREFIX):
            summary = _read_summary(Folder(path))
            if summary is not None and summary.damage is not None:
                summary = _read_summary(Folder(path))  # the files may have changed during the first read
            if summary is not None:
                summaries[context_id] = summary
    return list(summaries.values())


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
