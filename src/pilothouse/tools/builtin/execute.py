"""execute: a command line in the workspace. Judged before, confined where it must be, gone when it ends."""

import asyncio
import codecs
import contextlib
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code, say
from pilothouse.domain.errors import ToolError
from pilothouse.domain.exit_status import describe_exit
from pilothouse.domain.lines import CommandLine
from pilothouse.domain.promises import Kernel
from pilothouse.sandbox import confinement, processes
from pilothouse.sandbox.confinement import Confinement
from pilothouse.sandbox.file_names import unescape
from pilothouse.sandbox.shell import Judgement, judge
from pilothouse.sandbox.tree_removal import remove_tree
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.artifacts import UPLOADS
from pilothouse.tools.base import Arguments, Category, Job, PathText, Prepared, ToolOutput
from pilothouse.tools.builtin.command_files import CommandFiles, inspect_files, is_same
from pilothouse.tools.builtin.command_limits import CommandLimits
from pilothouse.tools.builtin.round_writes import NO_WRITES, RoundWrites, writes_of_calls
from pilothouse.tools.results import Output
from pilothouse.tools.threads import in_thread
from pilothouse.tools.undo.command_recorder import CommandRecorder

Sandbox = Literal["off", "workspace"]
_HAS_PROC = Path("/proc/self/fd").is_dir()
# The kernel takes 128 KiB for one argument of a program: what is longer belongs into a script.
MAX_COMMAND_CHARACTERS = 100_000
_REFUSED = (
    "[This command ran where nothing can be written, no connection be made, no process outside be reached, and of "
    "files only the workspace and the system be read: the kernel refused what it tried beyond that. No approval opens "
    "more to it; a person can add folders to read ([[roots]] in config.toml) or switch to supervised or agent.]"
)
_INCOMPLETE = "the kernel's sandbox is not complete here; these promises are not kept: {promises}"
_GIT_SETTINGS = ("~/.gitconfig", "~/.config/git/config")
_WITHOUT_GIT_SETTINGS = (
    "git ran without the person's own settings (such as ~/.gitconfig), which this sandbox does not read"
)
_REFUSED_OUTSIDE = "[This command ran where only the workspace can be written: the kernel refused a write outside it.]"


class ExecuteArguments(Arguments):
    command: Annotated[str, Meta(min_length=1, max_length=MAX_COMMAND_CHARACTERS)]
    timeout: Annotated[float, Meta(gt=0)] | None = None
    cwd: PathText = "."


class Execute:
    """`sandbox` confines even what may change things: to its workspace."""

    name = "execute"
    description = (
        "Run a command line in a shell, in the workspace or its subfolder cwd. Output and error output come "
        "together, the middle of long output is left out. There is no input to read. timeout is in seconds. "
        "Uploaded files (uploads/NAME) lie in $PILOTHOUSE_UPLOADS."
    )
    category: Category = "system_control"
    effect: Effect = "mutating"
    effect_varies = True  # a command that only reads is a reading call
    parameters = ExecuteArguments
    keeps_time = True  # the limit is the command's own: looking at the workspace before and after is bounded in itself

    def __init__(self, environment: Mapping[str, str], sandbox: Sandbox = "off", kernel: Kernel | None = None) -> None:
        """`kernel` is what the kernel has to keep promises with; as it is found where none is given."""
        self._environment = processes.clean_environment(environment)
        self._sandbox = sandbox
        self._kernel = kernel or confinement.kernel()

    async def prepare(self, arguments: ExecuteArguments, workspace: Workspace) -> Prepared:
        prepared: Prepared = await in_thread(self._prepared, arguments, workspace)
        return prepared

    def _prepared(self, arguments: ExecuteArguments, workspace: Workspace) -> Prepared:
        _check_text(arguments.command)
        judgement = judge(arguments.command)
        in_shell = workspace.without_mounts()
        limits = CommandLimits(arguments.command, judgement, arguments.cwd, workspace)
        limit = in_shell.limit(arguments.cwd) or limits.broken()
        files = None
        if limit is None:
            with in_shell.directory(arguments.cwd) as fd:
                files = self._files(judgement, arguments.cwd, in_shell, fd, NO_WRITES)
        return Prepared(
            effect="read_only" if self._only_reads(judgement) else "mutating",
            limit=limit,
            preview=arguments.command,
            dangerous=_dangers(judgement, files),
            line=self._line(judgement, workspace),
            basis=files.basis if files is not None else None,
            ask=limits.asking() if limit is None else None,
        )

    def _only_reads(self, judgement: Judgement) -> bool:
        """Without a kernel that stops whatever a folder makes a program do, only what needs none runs by itself."""
        harmless = judgement.read_only if self._kernel.is_complete else judgement.strict
        return harmless and processes.shell().endswith("bash")

    def _line(self, judgement: Judgement, workspace: Workspace) -> CommandLine:
        """A program of the workspace is none that a rule for its name was given for."""
        line = judgement.line
        found = shutil.which(line.commands[0][0], path=self._environment.get("PATH")) if line.is_simple else None
        inside = str(workspace.root) + "/"
        is_ours = found is not None and (found.startswith(inside) or os.path.realpath(found).startswith(inside))
        if line.is_simple and (is_ours or "/" in line.commands[0][0]):
            return CommandLine(commands=line.commands, hidden=line.hidden)
        return line

    def _files(
        self, judgement: Judgement, cwd: str, workspace: Workspace, fd: int, writes: RoundWrites
    ) -> CommandFiles:
        """`fd` is the open working directory: what its path leads to may change."""
        place = os.fstat(fd)
        start = os.path.join(workspace.root, unescape(cwd)).removesuffix("/.")
        path = self._environment.get("PATH")
        return inspect_files(judgement, start, place, path, root=str(workspace.root), writes=writes)

    async def run(self, arguments: ExecuteArguments, job: Job) -> ToolOutput:
        _check_text(arguments.command)
        judgement: Judgement = await in_thread(judge, arguments.command)
        if job.confined:
            # The call may have been decided before a restart, on a kernel that kept more.
            if not self._kernel.is_complete and not judgement.strict:
                raise ToolError(Code.SANDBOX_INCOMPLETE)
            return await self._in_shell(arguments, judgement, job, None)
        async with _temporary(self._sandbox) as temporary:
            if job.artifacts is None:
                return await self._in_shell(arguments, judgement, job, temporary)
            recorder = CommandRecorder(job.artifacts, job.workspace, job.call_id, self.name)
            shown: frozenset[str] = await in_thread(_shown_code_files, arguments, judgement, job)
            try:
                await recorder.begin(job.tell)
            except OSError as error:  # a command whose changes could not be undone is not run
                detail = error.strerror or str(error)
                raise ToolError(Code.CHANGE_NOT_KEPT, path=str(job.workspace.root), detail=detail) from error
            try:
                result = await self._in_shell(arguments, judgement, job, temporary)
            finally:
                report = await recorder.finish(shown)
                if report.code_files is not None:
                    job.remark(report.code_files)
            for reason in filter(None, report):
                result = result.with_remark(say(reason))
            return result

    async def _in_shell(
        self, arguments: ExecuteArguments, judgement: Judgement, job: Job, temporary: str | None
    ) -> ToolOutput:
        assert job.seconds is not None
        seconds = min(arguments.timeout or job.seconds, job.seconds)
        confined: Confinement = await in_thread(self._confinement, job, temporary)
        environment = confinement.environment_for(confined.kind, self._environment, str(job.workspace.root))
        if temporary is not None:
            environment["TMPDIR"] = temporary
        if (uploads := job.workspace.mounted(UPLOADS)) is not None:
            environment["PILOTHOUSE_UPLOADS"] = str(uploads)
        in_shell = job.workspace.without_mounts()
        with in_shell.directory(arguments.cwd) as fd:
            if job.basis is not None:  # compared last: all that was done before the start takes time
                writes = await in_thread(writes_of_calls, job, job.shown_before)
                files: CommandFiles = await in_thread(self._files, judgement, arguments.cwd, in_shell, fd, writes)
                if not is_same(files.basis, job.basis):
                    raise ToolError(Code.COMMAND_FILES_CHANGED, command=arguments.command)
            # Through the open directory: what the path names may change, what was checked does not.
            cwd = f"/proc/self/fd/{fd}" if _HAS_PROC else str(job.workspace.root / unescape(arguments.cwd))
            running = await processes.start(
                [processes.shell(), "-c", arguments.command],
                cwd=cwd,
                call_id=job.call_id,
                environment=environment,
                confinement=confined,
            )
        output = Output(job.call_id, job.artifacts)
        try:
            async with asyncio.timeout(seconds):
                await _read(running, output, job)
        except TimeoutError:
            detail = f"ended after {seconds:g} seconds. Output so far:\n{output}"
            raise ToolError(Code.TOOL_FAILED, tool=self.name, detail=detail) from None
        finally:
            await asyncio.shield(running.end())
            output.close()
        status = running.process.returncode
        said = ToolOutput(_told(output, status, confined), exit_status=status)
        if confined.kind == "read_only" and await in_thread(_is_git_remark_due, judgement, job):
            said = said.with_remark(_WITHOUT_GIT_SETTINGS)
        if not job.confined or self._kernel.is_complete:
            return said
        return said.with_remark(_INCOMPLETE.format(promises=", ".join(self._kernel.broken)))

    def _confinement(self, job: Job, temporary: str | None) -> Confinement:
        private = job.workspace.closed()
        if job.confined:
            return confinement.only_reading(job.workspace.readable(), self._environment, private, self._kernel)
        if self._sandbox == "workspace":
            if not self._kernel.keeps_to_workspace:
                detail = 'the kernel cannot keep a command to its workspace, and sandbox = "workspace" is set'
                raise ToolError(Code.TOOL_FAILED, tool=self.name, detail=detail)
            writable = [*job.workspace.writable(), *([temporary] if temporary is not None else [])]
            return confinement.writing_beneath(writable, job.workspace.readable(), private, self._kernel)
        return confinement.FREE


def _is_git_remark_due(judgement: Judgement, job: Job) -> bool:
    """Once in a conversation, where the person has settings."""
    if not any(map(os.path.exists, map(os.path.expanduser, _GIT_SETTINGS))):
        return False
    runs_git = any(os.path.basename(words[0]) == "git" for words in judgement.commands if words)
    with contextlib.suppress(OSError):
        return runs_git and job.artifacts is not None and job.artifacts.tell_once("git-settings")
    return False


def _shown_code_files(arguments: ExecuteArguments, judgement: Judgement, job: Job) -> frozenset[str]:
    """The files that run code which a person saw in the command before they approved it: others have no basis."""
    if job.basis is None:
        return frozenset()
    return CommandLimits(arguments.command, judgement, arguments.cwd, job.workspace).shown_code_files()


def _check_text(command: str) -> None:
    """Raises: ToolError for a command that no program can be given."""
    if "\0" in command:
        detail = "the command holds a NUL character, which no command line can hold; leave it out"
        raise ToolError(Code.INVALID_ARGUMENTS, tool=Execute.name, detail=detail)


async def _read(running: processes.Running, output: Output, job: Job) -> None:
    """Until the pipe is closed: the keeper closes it when nothing of the command is left."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")  # a letter may come in two parts
    while part := await running.output.read(65536):
        output.add(part)
        job.tell(decoder.decode(part))
    await running.process.wait()


def _told(output: Output, status: int | None, confined: Confinement) -> str:
    text = str(output)
    if status is not None and (status or not output):
        text += f"\n[{describe_exit(status)}]"
    if confined.kind != "no" and confinement.was_refused(text):
        text += f"\n{_REFUSED if confined.kind == 'read_only' else _REFUSED_OUTSIDE}"
    return text


def _dangers(judgement: Judgement, files: CommandFiles | None) -> tuple[str, ...]:
    """A redirection into a file that does not exist replaces nothing; the basis notices one that appears."""
    if files is None or not judgement.redirected or files.may_exist(judgement.redirected):
        return judgement.dangers
    return tuple(danger for danger in judgement.dangers if danger != "overwrite")


@contextlib.asynccontextmanager
async def _temporary(sandbox: Sandbox) -> AsyncIterator[str | None]:
    """A folder of its own for what a confined command puts aside. Removed in a thread: the command chooses how much."""
    if sandbox == "off":
        yield None
        return
    folder = tempfile.mkdtemp(prefix="pilothouse-")
    try:
        yield folder
    finally:
        await in_thread(remove_tree, folder)
