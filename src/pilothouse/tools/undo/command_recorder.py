"""Recording what a command changes: a look at the workspace before it, one after it, and a note in the log."""

import asyncio
import contextlib
from collections.abc import Callable, Set
from typing import TYPE_CHECKING, NamedTuple

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.threads import until_cancelled
from pilothouse.tools.undo.baseline import Baseline, Snapshot
from pilothouse.tools.undo.changes import ChangeEntry
from pilothouse.tools.undo.comparison import compare, told_paths
from pilothouse.tools.undo.tree import Stopped

if TYPE_CHECKING:
    from pilothouse.tools.artifacts import ArtifactStore

_PATIENCE_SECONDS = 1.0
_PROGRESS = "Recording what the files hold, so that this command can be undone …\n"


class CommandReport(NamedTuple):
    """What is to be told after a command."""

    coverage: Reason | None = None
    """What undo does not cover; once in a conversation."""
    code_files: Reason | None = None
    """Which files that make programs run code the command has changed."""


class CommandRecorder:
    """Serves one call: `begin` before the command starts, `finish` after it ended, however it ended."""

    def __init__(self, artifacts: "ArtifactStore", workspace: Workspace, call: str, tool: str) -> None:
        self._artifacts = artifacts
        self._workspace = workspace
        self._call = call
        self._tool = tool
        self._baseline = Baseline(artifacts.baselines, workspace, artifacts.limits)
        self._before: Snapshot | None = None
        self._obstacle: Reason | None = None

    async def begin(self, tell: Callable[[str], None]) -> None:
        """Raises: OSError where nothing can be noted: then the command must not start."""
        await asyncio.to_thread(self._artifacts.make_folder)
        look = asyncio.ensure_future(until_cancelled(self._look))
        try:
            await asyncio.wait({look}, timeout=_PATIENCE_SECONDS)
            if not look.done():
                tell(_PROGRESS)
            self._before = await look
        except OSError as error:
            self._obstacle = Reason(Code.UNDO_UNKNOWN, {"detail": error.strerror or str(error)})
        finally:
            look.cancel()
        # A runtime that is killed from here on leaves this behind: undo then tells that a command ran.
        await asyncio.to_thread(self._artifacts.changes.add, self._entry(Reason(Code.UNDO_INTERRUPTED)))

    def _look(self, stopped: Stopped) -> Snapshot:
        return self._baseline.take(stopped)

    async def finish(self, shown: Set[str] = frozenset()) -> CommandReport:
        """`shown` are files that a person saw named when they approved the command: of them nothing is told."""
        with contextlib.suppress(OSError):  # the command has run: the note of its beginning says that it did
            return await asyncio.to_thread(self._finish, shown)
        return CommandReport()

    def _finish(self, shown: Set[str]) -> CommandReport:
        changes = self._artifacts.changes
        if self._before is None:
            changes.add(self._entry(self._obstacle or Reason(Code.UNDO_INTERRUPTED)))
            return CommandReport()
        code_files: Reason | None = None
        try:
            code_files = self._compare(self._before, shown)
        except (OSError, ToolError) as error:
            changes.add(self._entry(Reason(Code.UNDO_UNKNOWN, {"detail": str(error)})))
        finally:
            self._before.close()
        return CommandReport(self._coverage(self._before), code_files)

    def _compare(self, before: Snapshot, shown: Set[str]) -> Reason | None:
        """Record the changes; tell which of them are to files that make programs run code."""
        after = self._baseline.take(lambda: False, before)
        try:
            limits = self._artifacts.limits
            entry, kept, code_files = compare(before, after, self._workspace, self._call, self._tool, limits)
            if entry is None:
                self._artifacts.changes.end(self._entry(), is_durable=False)
            else:
                contents = (before.content(file) if file is not None else None for file in kept)
                self._artifacts.changes.add(entry, contents)
            untold = [path for path in code_files if path not in shown]
            return Reason(Code.CODE_FILES_CHANGED, {"paths": told_paths(untold)}) if untold else None
        finally:
            after.close()

    def _entry(self, *left: Reason) -> ChangeEntry:
        return ChangeEntry(call=self._call, tool=self._tool, left=left)

    def _coverage(self, before: Snapshot) -> Reason | None:
        if not before.is_cut or not self._artifacts.tell_once("undo-coverage"):
            return None
        limits = self._artifacts.limits
        files = self._baseline.max_entries(str(self._workspace.root))
        return Reason(Code.UNDO_COVERAGE, {"files": files, "megabytes": limits.baseline_megabytes})
