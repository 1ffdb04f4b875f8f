"""The record of a command's changes: a snapshot of the workspace before the command, one after it, and an entry in the
log.
"""

import asyncio
import contextlib
from collections.abc import Callable, Set
from typing import TYPE_CHECKING, NamedTuple

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import ToolError, os_error_text
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.threads import until_cancelled
from pilothouse.tools.undo.baseline import Baseline, Snapshot
from pilothouse.tools.undo.changes import ChangeEntry
from pilothouse.tools.undo.comparison import compare, format_paths
from pilothouse.tools.undo.tree import Stopped

if TYPE_CHECKING:
    from pilothouse.tools.artifacts import ArtifactStore

_PROGRESS_DELAY_SECONDS = 1.0
_PROGRESS_TEXT = "Recording the files' content, so that this command can be undone …\n"


class CommandReport(NamedTuple):
    """The remarks to show after a command."""

    coverage: Reason | None = None
    """The limits of undo in this workspace; once in a conversation."""
    code_files: Reason | None = None
    """The code-running files that the command has changed."""


class CommandRecorder:
    """The recorder of one call: `begin` before the command starts, `finish` after its end of whatever kind."""

    def __init__(self, artifacts: "ArtifactStore", workspace: Workspace, call: str, tool: str) -> None:
        self._artifacts = artifacts
        self._workspace = workspace
        self._call = call
        self._tool = tool
        self._baseline = Baseline(artifacts.baselines, workspace, artifacts.limits)
        self._before: Snapshot | None = None
        self._obstacle: Reason | None = None

    async def begin(self, report_progress: Callable[[str], None]) -> None:
        """Take the first snapshot. Raises: OSError where the log cannot be written: the command must then not start."""
        await asyncio.to_thread(self._artifacts.make_folder)
        snapshot = asyncio.ensure_future(until_cancelled(self._take_snapshot))
        try:
            await asyncio.wait({snapshot}, timeout=_PROGRESS_DELAY_SECONDS)
            if not snapshot.done():
                report_progress(_PROGRESS_TEXT)
            self._before = await snapshot
        except OSError as error:
            self._obstacle = Reason(Code.UNDO_UNKNOWN, {"detail": os_error_text(error)})
        finally:
            snapshot.cancel()
        # If the runtime is killed from here on, this entry stays, and undo reports that a command ran.
        await asyncio.to_thread(self._artifacts.changes.add, self._entry(Reason(Code.UNDO_INTERRUPTED)))

    def _take_snapshot(self, stopped: Stopped) -> Snapshot:
        return self._baseline.take(stopped)

    async def finish(self, shown_files: Set[str] = frozenset()) -> CommandReport:
        """Take the second snapshot and log the changes. `shown_files` are code-running files that a person saw in the
        command before approving it: no remark is made on them."""
        with contextlib.suppress(OSError):  # the entry written by `begin` still records that the command ran
            return await asyncio.to_thread(self._finish, shown_files)
        return CommandReport()

    def _finish(self, shown_files: Set[str]) -> CommandReport:
        changes = self._artifacts.changes
        if self._before is None:
            changes.add(self._entry(self._obstacle or Reason(Code.UNDO_INTERRUPTED)))
            return CommandReport()
        code_files: Reason | None = None
        try:
            code_files = self._compare(self._before, shown_files)
        except (OSError, ToolError) as error:
            changes.add(self._entry(Reason(Code.UNDO_UNKNOWN, {"detail": str(error)})))
        finally:
            self._before.close()
        return CommandReport(self._coverage(self._before), code_files)

    def _compare(self, before: Snapshot, shown_files: Set[str]) -> Reason | None:
        """Log the changes. Returns a remark on changed code-running files, if any."""
        after = self._baseline.take(lambda: False, before)
        try:
            limits = self._artifacts.limits
            entry, files, code_files = compare(before, after, self._workspace, self._call, self._tool, limits)
            if entry is None:
                self._artifacts.changes.end(self._entry(), is_durable=False)
            else:
                contents = (before.content(file) if file is not None else None for file in files)
                self._artifacts.changes.add(entry, contents)
            unshown = [path for path in code_files if path not in shown_files]
            return Reason(Code.CODE_FILES_CHANGED, {"paths": format_paths(unshown)}) if unshown else None
        finally:
            after.close()

    def _entry(self, *left: Reason) -> ChangeEntry:
        return ChangeEntry(call=self._call, tool=self._tool, left=left)

    def _coverage(self, before: Snapshot) -> Reason | None:
        """A remark where the limits leave a part of the workspace uncovered, once in a conversation."""
        if not before.is_cut or not self._artifacts.claim_remark("undo-coverage"):
            return None
        limits = self._artifacts.limits
        files = self._baseline.max_entries(str(self._workspace.root))
        return Reason(Code.UNDO_COVERAGE, {"files": files, "megabytes": limits.baseline_megabytes})
