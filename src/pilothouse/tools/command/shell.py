"""`Shell`: the shell that runs a command line, confined as its call demands, with all of its output read."""

import asyncio
import codecs
import contextlib
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.domain.promises import Kernel
from pilothouse.i18n import translate_exit_status
from pilothouse.sandbox import confinement, processes
from pilothouse.sandbox.confinement import Confinement
from pilothouse.sandbox.tree_removal import remove_tree
from pilothouse.tools.artifacts import UPLOADS
from pilothouse.tools.base import ToolContext, ToolOutput
from pilothouse.tools.results import Output
from pilothouse.tools.threads import in_thread

Sandbox = Literal["off", "workspace"]
_TOOL = "execute"
_HAS_PROC = Path("/proc/self/fd").is_dir()
_READ_ONLY_REFUSAL = (
    "[This command ran in a read-only sandbox: it can't write, connect, or reach processes outside, and can only read "
    "the workspace and the system; the kernel refused what it tried beyond that. No approval gives it more access. The "
    "user can add folders to read ([[roots]] in config.toml) or switch to supervised or agent mode.]"
)
_WORKSPACE_REFUSAL = (
    "[This command ran where only the workspace can be written: the kernel refused a write outside it.]"
)
_INCOMPLETE = "the kernel's sandbox is incomplete here; these promises are not kept: {promises}"


class Shell:
    """Starts command lines. `sandbox` says whether commands that may change things are confined, too."""

    def __init__(self, sandbox: Sandbox, kernel: Kernel) -> None:
        self._sandbox: Sandbox = sandbox
        self._kernel = kernel

    async def confinement(self, context: ToolContext, temporary: str | None) -> Confinement:
        """Determine what the call's command may reach. Raises: ToolError where the kernel cannot keep a required
        promise."""
        limits: Confinement = await in_thread(self._confinement, context, temporary)
        return limits

    def _confinement(self, context: ToolContext, temporary: str | None) -> Confinement:
        private = context.workspace.closed_folders()
        if context.confined:
            variables = context.workspace.environment.inherited
            return confinement.read_only_confinement(context.workspace.readable(), variables, private, self._kernel)
        if self._sandbox == "workspace":
            if not self._kernel.keeps_to_workspace:
                detail = 'the kernel cannot keep a command to its workspace, and sandbox = "workspace" is set'
                raise ToolError(Code.TOOL_FAILED, tool=_TOOL, detail=detail)
            writable = [*context.workspace.writable(), *([temporary] if temporary is not None else [])]
            return confinement.workspace_confinement(writable, context.workspace.readable(), private, self._kernel)
        return confinement.UNCONFINED

    async def start(
        self, command: str, folder: tuple[int, Path], context: ToolContext, limits: Confinement, temporary: str | None
    ) -> processes.SupervisedProcess:
        """Start a command in a folder, given by its open descriptor and its path: the path may lead elsewhere by
        now."""
        fd, path = folder
        workspace = context.workspace
        environment = confinement.environment_for(limits.kind, workspace.environment, str(workspace.root))
        if temporary is not None:
            environment["TMPDIR"] = temporary
        if (uploads := workspace.mount_path(UPLOADS)) is not None:
            environment["PILOTHOUSE_UPLOADS"] = str(uploads)
        return await processes.start(
            [processes.shell(), "-c", command],
            cwd=f"/proc/self/fd/{fd}" if _HAS_PROC else str(path),
            call_id=context.call_id,
            environment=environment,
            confinement=limits,
        )

    async def output_of(
        self, running: processes.SupervisedProcess, seconds: float, context: ToolContext, limits: Confinement
    ) -> ToolOutput:
        """Read a command to its end. Every process of the command is ended. Raises: ToolError after `seconds`."""
        output = Output(context.call_id, context.artifacts)
        try:
            async with asyncio.timeout(seconds):
                await _read(running, output, context)
        except TimeoutError:
            detail = f"ended after {seconds:g} seconds. Output so far:\n{output}"
            raise ToolError(Code.TOOL_FAILED, tool=_TOOL, detail=detail) from None
        finally:
            await asyncio.shield(running.end())
            output.close()
        status = running.process.returncode
        return ToolOutput(_result_text(output, status, limits), exit_status=status)

    def with_broken_promises(self, result: ToolOutput, context: ToolContext) -> ToolOutput:
        """The result of a confined command with a remark on the promises that this kernel does not keep."""
        if not context.confined or self._kernel.is_complete:
            return result
        return result.with_remark(_INCOMPLETE.format(promises=", ".join(self._kernel.broken)))


async def _read(running: processes.SupervisedProcess, output: Output, context: ToolContext) -> None:
    """Read the output until the pipe closes: the supervisor closes the pipe when the last process of the command has
    ended."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")  # a character may be split between chunks
    while chunk := await running.output.read(65536):
        output.add(chunk)
        context.report_output(decoder.decode(chunk))
    await running.process.wait()


def _result_text(output: Output, status: int | None, limits: Confinement) -> str:
    """The output with notes on the exit status and on refusals by the kernel."""
    text = str(output)
    if status is not None and (status or not output):
        text += f"\n[{translate_exit_status(status)}]"
    if limits.kind != "no" and confinement.mentions_refusal(text):
        text += f"\n{_READ_ONLY_REFUSAL if limits.kind == 'read_only' else _WORKSPACE_REFUSAL}"
    return text


@contextlib.asynccontextmanager
async def temporary_folder(sandbox: Sandbox) -> AsyncIterator[str | None]:
    """A temporary folder for a confined command. A thread removes it, because the command decides how much lies in
    it."""
    if sandbox == "off":
        yield None
        return
    folder = tempfile.mkdtemp(prefix="pilothouse-")
    try:
        yield folder
    finally:
        await in_thread(remove_tree, folder)
