"""The command line: reads the settings and dispatches each command to its module."""

import argparse
import asyncio
import os
import shlex
import signal
import sys
from pathlib import Path

import msgspec

from pilothouse.app import build_runtime, configured_tools
from pilothouse.cli.contexts import contexts_command
from pilothouse.cli.parser import read_options
from pilothouse.cli.personas import personas_command
from pilothouse.cli.run import ExitCode, run
from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.deception.hidden_characters import visible
from pilothouse.domain.errors import InvalidInput, PilothouseError, RequestError, StoreDamaged, StoreLocked
from pilothouse.domain.modes import DEFAULT_MODE
from pilothouse.domain.payloads import TextPayload, check_payloads
from pilothouse.domain.personas import NO_PERSONA
from pilothouse.domain.workspace_policy import WorkspacePolicy
from pilothouse.i18n import translate, translate_rule
from pilothouse.runtime.runtime import Runtime
from pilothouse.sandbox.processes import hide_environment
from pilothouse.settings import Settings, language_of, placement_warnings, read_settings
from pilothouse.terminal.repl import Conversation
from pilothouse.tools.mcp.definitions import mcp_server_warnings

_CONFIGURATION_CODES = frozenset(
    {Code.INVALID_CONFIG, Code.OPEN_ACCESS, Code.WEAK_ACCESS, Code.CANNOT_LISTEN, Code.PORT_TAKEN}
)
_COMMANDS_WITHOUT_RUNTIME = frozenset(
    {"audit", "clean", "config", "doctor", "mcp", "open", "personas", "trust", "users"}
)
MAX_WARNINGS_PRINTED = 10
_MAX_PIPED_BYTES = 1_000_000
_USAGE_CODES = frozenset({Code.UNKNOWN_MODE, Code.UNKNOWN_PERSONA, Code.EMPTY_MESSAGE})


def run_command_line(arguments: list[str]) -> int:
    """Run the command that the arguments name, and return the exit code."""
    options = read_options(arguments)
    hide_environment()
    _keep_ignored_signals_here()
    try:
        return asyncio.run(_start(options))
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)


def _keep_ignored_signals_here() -> None:
    """Replace ignored signals with empty handlers. A shell makes background processes ignore Ctrl-C. This process keeps
    ignoring Ctrl-C, but child processes must not inherit that, since some could then not be ended. Handlers are not
    inherited."""
    for number in (signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


class _Termination:
    """Termination of a conversation by SIGTERM, or by SIGHUP of a closed terminal, as by Ctrl-C: a running command is
    ended and its changes are recorded, so that they can be undone. The server handles its signals itself."""

    def __init__(self) -> None:
        self.number: signal.Signals | None = None
        """The first signal that was received."""

    def handle_signals(self) -> None:
        """Cancel the current task at the first signal; later signals do not disturb the shutdown."""
        task = asyncio.current_task()
        assert task is not None
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # `nohup` ignores SIGHUP on purpose
                asyncio.get_running_loop().add_signal_handler(number, self._end, number, task)

    def _end(self, number: signal.Signals, task: "asyncio.Task[object]") -> None:
        if self.number is None:
            self.number = number
            task.cancel()


async def _start(options: argparse.Namespace) -> int:
    try:
        settings = read_settings(
            os.environ, model=options.model, mode=options.mode, data_dir=options.data_dir, config=options.config
        )
        is_named = options.config is not None or os.environ.get("PILOTHOUSE_CONFIG")
        if is_named and not settings.configuration.user_file.exists():
            # With a misspelt path, none of the restrictions in the file would apply.
            raise InvalidInput(Code.CONFIG_MISSING, path=str(settings.configuration.user_file))
        settings.configuration.read_mcp_server_warnings = mcp_server_warnings
        _print_warnings(options, settings)
        if options.command in _COMMANDS_WITHOUT_RUNTIME:
            return await _run_without_runtime(options, settings)
        roots, user_roots = _roots(options, settings)
        runtime = build_runtime(settings, os.environ, roots=roots, user_roots=user_roots)
    except StoreLocked as error:
        return _print_error(translate(error.reason, language_of(os.environ)), ExitCode.TRY_LATER)
    except (RequestError, StoreDamaged) as error:
        is_usage = error.reason.code in _USAGE_CODES
        text = translate(error.reason, language_of(os.environ))
        return _print_error(text, ExitCode.USAGE if is_usage else ExitCode.CONFIGURATION)
    except OSError as error:
        return _print_file_error(error, language_of(os.environ), ExitCode.CONFIGURATION)
    termination = _Termination()
    async with runtime:
        try:
            return await _dispatch(options, runtime, settings, termination)
        except asyncio.CancelledError:
            if termination.number is None:
                raise
            return 128 + termination.number
        except PilothouseError as error:
            return _print_error(translate(error.reason, settings.language), _exit_of(error.reason.code))
        except OSError as error:
            return _print_file_error(error, settings.language, ExitCode.ERROR)


def _print_file_error(error: OSError, language: Language, status: ExitCode) -> int:
    """Print an error about a file. Raises: BrokenPipeError when nobody reads the output, since no file is at fault."""
    if isinstance(error, BrokenPipeError):
        raise error
    unusable = Reason(Code.FILE_UNREADABLE, {"path": str(error.filename or "."), "detail": error.strerror})
    return _print_error(translate(unusable, language), status)


async def _run_without_runtime(options: argparse.Namespace, settings: Settings) -> int:
    """Run a command that needs no runtime. Raises: PilothouseError, OSError."""
    if options.command in ("config", "trust"):
        configured_tools(settings)
    match options.command:
        case "config":
            return _show_configuration(options, settings)
        case "mcp" | "trust":
            from pilothouse.cli.mcp import mcp_command, trust_command

            return await (mcp_command if options.command == "mcp" else trust_command)(options, settings)
        case "audit":
            from pilothouse.cli.audit import verify_command

            return await verify_command(options, settings)
        case "clean":
            from pilothouse.cli.clean import clean_command

            return clean_command(options, settings)
        case "doctor":
            from pilothouse.cli.doctor import doctor_command

            return doctor_command(settings.language)
        case "open" | "users":
            from pilothouse.cli.serve import open_command, users_command

            return (open_command if options.command == "open" else users_command)(options, settings)
        case _:
            return _show_personas(options, settings)


def _exit_of(code: Code) -> ExitCode:
    if code in _CONFIGURATION_CODES:
        return ExitCode.CONFIGURATION
    return ExitCode.USAGE if code in _USAGE_CODES else ExitCode.ERROR


def _roots(options: argparse.Namespace, settings: Settings) -> tuple[list[Path], dict[str, list[Path]]]:
    """Return the root folders of a server and of each of its users. Terminal conversations have none."""
    if options.command != "serve":
        return [], {}
    from pilothouse.cli.serve import roots_of, user_roots_of

    roots = roots_of(options, settings)
    return roots, user_roots_of(settings, roots)


async def _dispatch(
    options: argparse.Namespace, runtime: Runtime, settings: Settings, termination: "_Termination"
) -> int:
    if options.command == "serve":
        from pilothouse.cli.serve import serve_command  # imported late: only this command needs the server

        return await serve_command(options, settings, runtime)
    if options.command == "contexts":
        return await contexts_command(options, runtime, settings.language)
    prompt = options.prompt + _read_piped_input() if options.command == "run" else None
    if prompt is not None:
        check_payloads([TextPayload(content=prompt)])  # before a conversation is created for the prompt
    termination.handle_signals()
    context_id = options.context
    persona = options.persona if options.persona != NO_PERSONA else None
    if context_id is None:
        workspace = options.workspace or Path.cwd()
        model = settings.model.name if options.model is not None else None  # --model overrides the model of a persona
        context_id = await runtime.contexts.create(workspace, mode=settings.mode, persona=persona, model=model)
    elif options.persona is not None:
        await runtime.modes.set_persona(context_id, persona)
    if prompt is not None:
        return await run(
            runtime,
            context_id,
            prompt,
            mode=options.mode,
            output=options.output_format or "text",
            language=settings.language,
            program=_program(options),
        )
    conversation = Conversation(runtime, context_id, settings.language, program=_program(options))
    await conversation.run(is_demo=runtime.providers.current().is_demo, mode=options.mode)
    return 0


def _program(options: argparse.Namespace) -> str:
    """Return the command line that resumes this conversation, without its `--context` option."""
    flags = {"--data-dir": options.data_dir, "--config": options.config}
    return shlex.join(["pilothouse", *(word for flag, value in flags.items() if value for word in (flag, str(value)))])


def _show_personas(options: argparse.Namespace, settings: Settings) -> int:
    """Show the personas of a workspace. Raises: InvalidInput."""
    workspace = _workspace(options)
    if not os.path.isdir(workspace):
        raise InvalidInput(Code.INVALID_WORKSPACE, path=workspace)
    configuration = settings.configuration
    folder_trust = configuration.status(workspace)
    has_untrusted = folder_trust.status != "trusted" and any(
        name.startswith("personas/") for name in folder_trust.files
    )
    return personas_command(options, configuration.personas(workspace), settings.language, has_untrusted=has_untrusted)


def _show_configuration(options: argparse.Namespace, settings: Settings) -> int:
    """Print the configuration in effect. Raises: InvalidInput for errors in the folder's own file."""
    workspace = _workspace(options)
    configuration = settings.configuration
    policy = configuration.workspace_policy(workspace)
    files = {
        "your settings": configuration.user_file,
        "your tool settings": configuration.user_file.parent / "tools.toml",
        "your MCP servers": configuration.mcp_servers_file,
    }
    trust = configuration.status(workspace)
    limits = msgspec.to_builtins(configuration.file.limits)
    lines = [
        *(f"{name}: {path}{'' if path.exists() else ' (not found)'}" for name, path in files.items()),
        f"model: {settings.model.provider}:{settings.model.name}",
        f"mode: {_mode_and_origin(settings, policy)}",
        f"modes: {', '.join(configuration.modes.all)}",
        f"extra approval rules: {', '.join(each.kind for each in (policy.preference, *policy.policies))}",
        f"limits: {', '.join(f'{name} {value}' for name, value in limits.items() if value is not None) or 'default'}",
        f"variables of commands besides the default ones: {', '.join(configuration.command_variables) or '-'}",
        f"personas: {', '.join(configuration.personas(workspace)) or '-'}",
        f"disabled tools: {', '.join(sorted(policy.disabled)) or '-'}",
        f"tools that always ask: {', '.join(sorted(policy.always_ask)) or '-'}",
        f"project settings: {', '.join(trust.files) or '-'} ({trust.status})",
        f"data folder: {settings.data_dir}",
        *(f"folder {each.folder}: {each.mode.name}" for each in policy.folder_modes),
        *(f"rule: {translate_rule(rule, settings.language)}" for rule in policy.rules),
        *(f"warning: {translate(warning, settings.language)}" for warning in configuration.warnings(workspace)),
    ]
    print(visible("\n".join(lines)))
    return 0


def _print_warnings(options: argparse.Namespace, settings: Settings) -> None:
    """Print warnings about ignored keys on standard error; `config` shows all warnings, `serve` logs them.

    Raises: InvalidInput.
    """
    if options.command in (None, "run", "mcp"):
        workspace = _workspace(options)
        warnings = [*settings.configuration.warnings(workspace)]
        if options.command != "mcp":
            warnings += placement_warnings(settings.data_dir, [Path(workspace)])
        for warning in warnings[:MAX_WARNINGS_PRINTED]:
            print(visible(translate(warning, settings.language)), file=sys.stderr)
        if len(warnings) > MAX_WARNINGS_PRINTED:
            print(f"({len(warnings) - MAX_WARNINGS_PRINTED} more warnings: pilothouse config)", file=sys.stderr)


def _workspace(options: argparse.Namespace) -> str:
    return os.path.realpath(options.workspace or Path.cwd())


def _mode_and_origin(settings: Settings, policy: WorkspacePolicy) -> str:
    if settings.mode is not None:
        return f"{settings.mode} (command line or environment)"
    if policy.mode is None:
        return f"{DEFAULT_MODE} (default)"
    is_own = policy.mode == settings.configuration.workspace_policy(None).mode
    origin = "your settings" if is_own else "project settings"
    return f"{policy.mode} ({origin})"


def _read_piped_input() -> str:
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    text = sys.stdin.buffer.read(_MAX_PIPED_BYTES + 1).decode(errors="replace").strip()
    return f"\n\n{text}" if text else ""


def _print_error(text: str, code: int) -> int:
    print(visible(text), file=sys.stderr)
    return int(code)
