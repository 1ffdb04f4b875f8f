"""The command line: its options, and which part of the program each command is."""

import argparse
import asyncio
import os
import sys
from pathlib import Path

from pilothouse import __version__
from pilothouse.app import build_runtime
from pilothouse.domain.codes import Code, say
from pilothouse.domain.errors import InvalidInput, PilothouseError, StoreLocked
from pilothouse.runtime.runtime import Runtime
from pilothouse.sandbox.processes import hide_environment
from pilothouse.settings import Settings, read_settings
from pilothouse.terminal.clean import visible
from pilothouse.terminal.repl import Conversation
from pilothouse.terminal.run import Exit, run


def run_command_line(arguments: list[str]) -> int:
    """Run what the arguments say; gives the exit code."""
    options = _parser().parse_args(arguments)
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pilothouse",
        description="Let a model work on your machine, and stay in charge. Without a command: a conversation here.",
        epilog="Exit codes of run: 0 done, 1 error, 2 usage, 3 approval needed or denied by the mode, "
        "4 key or configuration, 53 a limit was reached, 75 try again later, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"pilothouse {__version__}")
    _common(parser, suppress=False)
    parser.add_argument("-p", dest="prompt_short", metavar="PROMPT", help="short for: run PROMPT")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    run = commands.add_parser("run", help="one turn, for scripts", description="Run one turn and print the answer.")
    run.add_argument("prompt", help="what to say; standard input, if any, is added to it")
    _common(run, suppress=True)
    commands.add_parser("contexts", help="list the conversations that are kept")
    return parser


def _common(parser: argparse.ArgumentParser, *, suppress: bool) -> None:
    """Options that stand before or behind the command; behind it, they must not reset what stood before."""
    default = argparse.SUPPRESS if suppress else None
    parser.add_argument("--mode", default=default, help="agent, supervised, review, plan or ask")
    parser.add_argument("--model", default=default, help="demo, openai:NAME or scripted:FILE")
    parser.add_argument("--workspace", default=default, type=Path, help="the folder to work in (default: here)")
    parser.add_argument("--context", default=default, metavar="ID", help="go on with a conversation that is kept")
    parser.add_argument("--data-dir", default=default, help="where conversations are kept")
    parser.add_argument(
        "--output-format",
        default=argparse.SUPPRESS if suppress else "text",
        choices=["text", "json", "stream-json"],
        help="of run",
    )


async def _start(options: argparse.Namespace) -> int:
    try:
        settings = read_settings(os.environ, model=options.model, mode=options.mode, data_dir=options.data_dir)
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
            return _complain(say(error.reason, settings.language), Exit.ERROR)


async def _dispatch(options: argparse.Namespace, runtime: Runtime, settings: Settings) -> int:
    if options.command == "contexts":
        for summary in (await runtime.contexts(limit=200)).items:
            damage = say(summary.damage, settings.language) if summary.damage is not None else ""
            told = summary.title or damage
            print(visible(f"{summary.context_id}  {summary.updated_at:<24}  {summary.mode or '-':<10}  {told}"))
        return 0
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
    await Conversation(runtime, context_id, settings.language).run(is_demo=settings.provider == "demo")
    return 0


def _piped() -> str:
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    text = sys.stdin.buffer.read(1_000_001).decode(errors="replace").strip()
    return f"\n\n{text}" if text else ""


def _complain(text: str, code: int) -> int:
    print(visible(text), file=sys.stderr)
    return int(code)
