"""The command line: which part of the program each command is."""

import argparse
import asyncio
import os
import sys
from pathlib import Path

from pilothouse.app import build_runtime
from pilothouse.config.files import PROJECT_FILE
from pilothouse.domain.codes import Code, say
from pilothouse.domain.errors import InvalidInput, PilothouseError, StoreLocked
from pilothouse.domain.modes import DEFAULT_MODE
from pilothouse.domain.rule_words import say_rule
from pilothouse.options import make_parser
from pilothouse.runtime.runtime import Runtime
from pilothouse.sandbox.processes import hide_environment
from pilothouse.settings import Settings, read_settings
from pilothouse.terminal.clean import visible
from pilothouse.terminal.contexts import contexts_command
from pilothouse.terminal.repl import Conversation
from pilothouse.terminal.run import Exit, run


def run_command_line(arguments: list[str]) -> int:
    """Run what the arguments say; gives the exit code."""
    options = make_parser().parse_args(arguments)
    if options.prompt_short is not None:
        options.command, options.prompt = "run", options.prompt_short
    hide_environment()
    try:
        return asyncio.run(_start(options))
    except KeyboardInterrupt:
        return int(Exit.INTERRUPTED)
    except BrokenPipeError:  # nobody reads any more; the interpreter must not try to flush either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(Exit.ERROR)


async def _start(options: argparse.Namespace) -> int:
    try:
        settings = read_settings(
            os.environ, model=options.model, mode=options.mode, data_dir=options.data_dir, config=options.config
        )
        if options.command == "config":
            return _show_configuration(options, settings)
        runtime = build_runtime(settings, os.environ)
    except StoreLocked as error:
        return _complain(str(error), Exit.TRY_LATER)
    except InvalidInput as error:
        is_usage = error.reason.code is Code.UNKNOWN_MODE
        return _complain(say(error.reason), Exit.USAGE if is_usage else Exit.CONFIGURATION)
    except OSError as error:
        return _complain(f"The data directory cannot be used: {error}", Exit.CONFIGURATION)
    async with runtime:
        try:
            return await _dispatch(options, runtime, settings)
        except PilothouseError as error:
            is_config = error.reason.code is Code.INVALID_CONFIG
            return _complain(say(error.reason, settings.language), Exit.CONFIGURATION if is_config else Exit.ERROR)
        except OSError as error:
            return _complain(f"{error.filename}: {error.strerror}", Exit.ERROR)


async def _dispatch(options: argparse.Namespace, runtime: Runtime, settings: Settings) -> int:
    if options.command == "contexts":
        return await contexts_command(options, runtime, settings.language)
    context_id = options.context
    if context_id is None:
        context_id = await runtime.create_context(options.workspace or Path.cwd(), mode=settings.mode)
    elif options.mode is not None and options.command != "run":
        await runtime.switch_mode(context_id, options.mode)
    if options.command == "run":
        prompt = options.prompt + _piped()
        return await run(
            runtime,
            context_id,
            prompt,
            mode=options.mode,
            output=options.output_format,
            language=settings.language,
        )
    await Conversation(runtime, context_id, settings.language).run(is_demo=settings.model.provider == "demo")
    return 0


def _show_configuration(options: argparse.Namespace, settings: Settings) -> int:
    """Raises: InvalidInput for what is wrong in the folder's own file."""
    workspace = os.path.realpath(options.workspace or Path.cwd())
    configuration = settings.configuration
    steering = configuration.steering(workspace)
    lines = [
        f"your file: {configuration.user_file}",
        f"folder's file: {Path(workspace) / PROJECT_FILE}",
        f"model: {settings.model.provider}:{settings.model.name}",
        f"mode: {settings.mode or steering.mode or DEFAULT_MODE}",
        f"modes: {', '.join(configuration.modes.all)}",
        f"approval: {', '.join(policy.kind for policy in (steering.preference, *steering.policies))}",
        f"disabled tools: {', '.join(sorted(steering.disabled)) or '-'}",
        *(f"folder {each.folder}: {each.mode.name}" for each in steering.directories),
        *(f"rule: {say_rule(rule, settings.language)}" for rule in steering.rules),
    ]
    print(visible("\n".join(lines)))
    return 0


def _piped() -> str:
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    text = sys.stdin.buffer.read(1_000_001).decode(errors="replace").strip()
    return f"\n\n{text}" if text else ""


def _complain(text: str, code: int) -> int:
    print(visible(text), file=sys.stderr)
    return int(code)
