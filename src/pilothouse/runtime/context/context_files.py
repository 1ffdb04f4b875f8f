"""`ContextFiles`: the folders that a context's tools work on: the workspace, and the conversation's own files."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.domain.value import CallId
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.artifacts import ArtifactStore
from pilothouse.tools.uploads import UploadStore

if TYPE_CHECKING:
    from pilothouse.runtime.context.live_context import LiveContext


class ContextFiles:
    def __init__(self, live: "LiveContext") -> None:
        self._live = live
        self._dependencies = live.dependencies
        self._read_digests: dict[str, str] = {}
        """By path: the digest of the content that a tool has read last."""
        self._workspace: Workspace | None = None
        self._artifacts: ArtifactStore | None = None
        self._pinned_environments: dict[CallId, CommandEnvironment] = {}

    @property
    def is_beneath_a_root(self) -> bool:
        """Whether the workspace, with links resolved now, lies where the owner may work."""
        core = self._live.core
        return core.workspace is not None and self._dependencies.is_beneath_a_root(core.workspace, core.owner)

    def forget_workspace(self) -> None:
        """Resolve the folder again at next use, which each turn does once. Within a turn, a folder that was replaced is
        refused."""
        self._workspace = None

    def workspace(self, environment: CommandEnvironment | None = None) -> Workspace:
        """The workspace, with an environment of commands; by default, the one of commands that are decided now.

        Raises: ToolError when the context has no workspace, or the folder is gone.
        """
        environment = environment or self.environment
        if self._workspace is None:
            path, owner = self._live.core.workspace, self._live.core.owner
            # Checked before existence, which would disclose the folders elsewhere. The path may have become a link.
            if path is not None and not self.is_beneath_a_root:
                roots = self._dependencies.workspace_roots(owner)
                raise ToolError(Code.OUTSIDE_ROOTS, path=path, allowed=", ".join(map(str, roots)))
            if path is None or not os.path.isdir(path):
                raise ToolError(Code.INVALID_WORKSPACE, path=path)
            mounts = (
                self.artifacts.mounts(makes_folders=self._live.storage.lease is not None)
                if self.artifacts is not None
                else ()
            )
            extra_roots = self._dependencies.extra_roots_of(owner)
            foreign_roots = self._dependencies.workspace_roots_of_others(owner)
            self._workspace = Workspace(
                Path(path),
                self._dependencies.private_folders,
                extra_roots,
                self._read_digests,
                mounts,
                foreign_roots,
                environment,
            )
        return self._workspace.with_environment(environment)

    @property
    def environment(self) -> CommandEnvironment:
        """The environment of commands that are decided now. Sub-agents have that of their conversation."""
        return self._live.services.environments.of(self._live.outermost.id)

    def pin_environment(self, calls: Iterable[CallRecord], environment: CommandEnvironment) -> None:
        """Let each call that may run keep the environment of the decision: `environment` for a new decision."""
        decided = (call.id for call in calls if call.status in ("approved", "executing"))
        pinned = self._pinned_environments
        self._pinned_environments = {call_id: pinned.get(call_id, environment) for call_id in decided}

    def environment_of(self, call_id: CallId) -> CommandEnvironment:
        """The environment in which a call was decided."""
        return self._pinned_environments.get(call_id, self.environment)

    @property
    def artifacts(self) -> ArtifactStore | None:
        """Files of the conversation beside its messages. Sub-agents share the artifacts of their outermost ancestor,
        which is the context that the person sees."""
        if self._artifacts is None:
            self._artifacts = self._dependencies.artifacts_of(self._live.outermost.id)
        return self._artifacts

    @property
    def uploads(self) -> UploadStore | None:
        """The files that the person uploaded to the conversation."""
        return self.artifacts.uploads if self.artifacts is not None else None
