"""execute: a command line in the workspace. The line is classified before it runs, confined where the policy demands
it, and every process of it is ended.
"""

import contextlib
import os
from typing import Annotated

from msgspec import Meta

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.command_line import CommandLine
from pilothouse.domain.errors import ToolError, os_error_text
from pilothouse.domain.promises import Kernel
from pilothouse.i18n import translate
from pilothouse.sandbox import confinement, processes
from pilothouse.sandbox.file_names import unescape
from pilothouse.sandbox.shell import Classification, classify
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, CallPreview, Category, PathText, ToolContext, ToolOutput
from pilothouse.tools.builtin.round_writes import NO_WRITES, RoundWrites, writes_of_calls
from pilothouse.tools.command.command_files import CommandFiles, inspect_files, is_same
from pilothouse.tools.command.command_limits import CommandLimits
from pilothouse.tools.command.installed_programs import InstalledPrograms
from pilothouse.tools.command.shell import Sandbox, Shell, temporary_folder
from pilothouse.tools.threads import in_thread
from pilothouse.tools.undo.command_recorder import CommandRecorder

# The kernel limits one argument of a program to 128 KiB.
MAX_COMMAND_CHARACTERS = 100_000
_GIT_SETTINGS = ("~/.gitconfig", "~/.config/git/config")
_GIT_SETTINGS_REMARK = (
    "git ran without the user's own settings (such as ~/.gitconfig), which this sandbox does not read"
)


class ExecuteArguments(Arguments):
    command: Annotated[str, Meta(min_length=1, max_length=MAX_COMMAND_CHARACTERS)]
    timeout: Annotated[float, Meta(gt=0)] | None = None
    cwd: PathText = "."


class Execute:
    """Runs a command line. With `sandbox = "workspace"`, commands that may change things are confined to their
    workspace as well."""

    name = "execute"
    description = (
        "Run a command line in a shell, in the workspace or its subfolder cwd. Output and error output come "
        "together, the middle of long output is left out. There is no input to read. timeout is in seconds. "
        "Uploaded files (uploads/NAME) lie in $PILOTHOUSE_UPLOADS."
    )
    category: Category = "system_control"
    effect: Effect = "mutating"
    effect_varies = True  # a command that only reads has the effect read_only
    parameters = ExecuteArguments
    keeps_time = True  # the limit covers the command alone; the scans before and after it have their own bounds

    def __init__(self, sandbox: Sandbox = "off", kernel: Kernel | None = None) -> None:
        """`kernel` lists the promises that the kernel can keep; None detects them."""
        self._sandbox = sandbox
        self._kernel = kernel or confinement.kernel()
        self._shell = Shell(sandbox, self._kernel)

    async def prepare(self, arguments: ExecuteArguments, workspace: Workspace) -> CallPreview:
        preview: CallPreview = await in_thread(self._prepare, arguments, workspace)
        return preview

    def _prepare(self, arguments: ExecuteArguments, workspace: Workspace) -> CallPreview:
        _check_text(arguments.command)
        classification = classify(arguments.command)
        in_shell = workspace.without_mounts()
        limits = CommandLimits(arguments.command, classification, arguments.cwd, workspace)
        violation = in_shell.violation(arguments.cwd) or limits.violation()
        files = None
        if violation is None:
            with in_shell.directory(arguments.cwd) as fd:
                files = self._files(classification, arguments.cwd, in_shell, fd, NO_WRITES)
        return CallPreview(
            effect="read_only" if self._only_reads(classification, workspace) else "mutating",
            violation=violation,
            preview=arguments.command,
            shown_arguments=("command",),
            dangerous=_dangers(classification, files),
            command_line=self._line(classification, workspace),
            content_hash=files.content_hash if files is not None else None,
            ask=limits.approval_reason() if violation is None else None,
        )

    def _only_reads(self, classification: Classification, workspace: Workspace) -> bool:
        """Whether the line runs without approval. Where the kernel cannot enforce every promise, only lines qualify
        whose programs need no enforcement."""
        harmless = classification.read_only if self._kernel.is_complete else self._is_strict(classification, workspace)
        return harmless and processes.shell().endswith("bash")

    def _is_strict(self, classification: Classification, workspace: Workspace) -> bool:
        """Whether the line only reads without a sandbox. The name of a program says so only of an installed one: a shim
        starts the program that a file of the folder names."""
        root = str(workspace.root)
        path = confinement.path_outside_workspace(workspace.environment.path, root)
        programs = InstalledPrograms(path, root)
        return classification.strict and all(
            words and programs.is_installed(words[0]) for words in classification.commands
        )

    def _line(self, classification: Classification, workspace: Workspace) -> CommandLine:
        """The command line that rules match. A program inside the workspace never matches a rule for a program name."""
        line = classification.line
        if not line.is_simple:
            return line
        name = line.commands[0][0]
        programs = InstalledPrograms(workspace.environment.path, str(workspace.root))
        if "/" in name or programs.may_be_of_workspace(name):
            return CommandLine(commands=line.commands, hidden=line.hidden)
        return line

    def _files(
        self, classification: Classification, cwd: str, workspace: Workspace, fd: int, writes: RoundWrites
    ) -> CommandFiles:
        """The files that decide what the line runs. `fd` is the open working directory, because another folder may take
        its path."""
        folder_status = os.fstat(fd)
        start = os.path.join(workspace.root, unescape(cwd)).removesuffix("/.")
        root, environment = str(workspace.root), workspace.environment
        return inspect_files(classification, start, folder_status, environment, root=root, writes=writes)

    async def run(self, arguments: ExecuteArguments, context: ToolContext) -> ToolOutput:
        _check_text(arguments.command)
        classification: Classification = await in_thread(classify, arguments.command)
        if context.confined:
            # The call may have been decided before a restart, on a kernel that kept more promises.
            is_enforced = self._kernel.is_complete
            if not is_enforced and not await in_thread(self._is_strict, classification, context.workspace):
                raise ToolError(Code.SANDBOX_INCOMPLETE)
            return await self._run_in_shell(arguments, classification, context, None)
        async with temporary_folder(self._sandbox) as temporary:
            if context.artifacts is None:
                return await self._run_in_shell(arguments, classification, context, temporary)
            recorder = CommandRecorder(context.artifacts, context.workspace, context.call_id, self.name)
            shown_files: frozenset[str] = await in_thread(_shown_code_files, arguments, classification, context)
            try:
                await recorder.begin(context.report_output)
            except OSError as error:  # a command whose changes cannot be recorded must not run
                detail = os_error_text(error)
                raise ToolError(Code.CHANGE_NOT_KEPT, path=str(context.workspace.root), detail=detail) from error
            try:
                result = await self._run_in_shell(arguments, classification, context, temporary)
            finally:
                report = await recorder.finish(shown_files)
                if report.code_files is not None:
                    context.add_remark(report.code_files)
            for reason in filter(None, report):
                result = result.with_remark(translate(reason))
            return result

    async def _run_in_shell(
        self, arguments: ExecuteArguments, classification: Classification, context: ToolContext, temporary: str | None
    ) -> ToolOutput:
        assert context.seconds is not None
        timeout_seconds = min(arguments.timeout or context.seconds, context.seconds)
        limits = await self._shell.confinement(context, temporary)
        in_shell = context.workspace.without_mounts()
        with in_shell.directory(arguments.cwd) as fd:
            if context.content_hash is not None:  # compared last, because the preparation takes time
                writes = await in_thread(writes_of_calls, context, context.shown_before)
                files: CommandFiles = await in_thread(self._files, classification, arguments.cwd, in_shell, fd, writes)
                if not is_same(files.content_hash, context.content_hash):
                    raise ToolError(Code.COMMAND_FILES_CHANGED, command=arguments.command)
            folder = (fd, context.workspace.root / unescape(arguments.cwd))
            running = await self._shell.start(arguments.command, folder, context, limits, temporary)
        result = await self._shell.output_of(running, timeout_seconds, context, limits)
        if limits.kind == "read_only" and await in_thread(_is_git_remark_due, classification, context):
            result = result.with_remark(_GIT_SETTINGS_REMARK)
        return self._shell.with_broken_promises(result, context)


def _is_git_remark_due(classification: Classification, context: ToolContext) -> bool:
    """Whether to mention that git runs without the person's settings: once in a conversation, where such settings
    exist."""
    if not any(map(os.path.exists, map(os.path.expanduser, _GIT_SETTINGS))):
        return False
    runs_git = any(os.path.basename(words[0]) == "git" for words in classification.commands if words)
    with contextlib.suppress(OSError):
        return runs_git and context.artifacts is not None and context.artifacts.claim_remark("git-settings")
    return False


def _shown_code_files(
    arguments: ExecuteArguments, classification: Classification, context: ToolContext
) -> frozenset[str]:
    """The code-running files that the person saw in the command before approving it; without a content hash,
    nobody saw any."""
    if context.content_hash is None:
        return frozenset()
    return CommandLimits(arguments.command, classification, arguments.cwd, context.workspace).shown_code_files()


def _check_text(command: str) -> None:
    """Raises: ToolError for a command that cannot be passed to a program."""
    if "\0" in command:
        detail = "the command contains a NUL character, which no command line can contain; leave it out"
        raise ToolError(Code.INVALID_ARGUMENTS, tool=Execute.name, detail=detail)


def _dangers(classification: Classification, files: CommandFiles | None) -> tuple[str, ...]:
    """The dangers of the line. A redirection into a missing file overwrites nothing; the content hash
    reveals a file that appears later."""
    if files is None or not classification.redirected or files.may_exist(classification.redirected):
        return classification.dangers
    return tuple(danger for danger in classification.dangers if danger != "overwrite")
