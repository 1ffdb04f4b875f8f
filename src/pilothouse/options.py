"""The options of the command line."""

import argparse
from pathlib import Path
from typing import Any

from pilothouse import __version__

_PORT_AT_MOST = 65535


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pilothouse",
        description="Let a model work on your machine, and stay in charge. Without a command: a conversation here.",
        epilog="Exit codes of run: 0 done, 1 error, 2 usage, 3 approval needed or denied by the mode, "
        "4 key or configuration, 53 a limit was reached, 75 try again later, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"pilothouse {__version__}")
    _common(parser, suppress=False)
    _persona(parser, default=None)
    parser.add_argument("-p", dest="prompt_short", metavar="PROMPT", help="short for: run PROMPT")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    run = commands.add_parser("run", help="one turn, for scripts", description="Run one turn and print the answer.")
    run.add_argument("prompt", help="what to say; standard input, if any, is added to it")
    _common(run, suppress=True)
    _persona(run, default=argparse.SUPPRESS)
    _contexts_parser(commands)
    _serve_parser(commands)
    _tools_parsers(commands)
    personas = commands.add_parser("personas", help="who the model can be asked to be here")
    _common(personas, suppress=True)
    shown = personas.add_subparsers(dest="action", metavar="ACTION").add_parser(
        "show", help="what the model is told, and its tools"
    )
    shown.add_argument("id")
    _common(shown, suppress=True)
    clean = commands.add_parser(
        "clean",
        help="show what the data directory takes, and free space",
        description="Show what conversations, undo and caches take, and free what can be made again or has expired."
        " No conversation is removed.",
        epilog="Examples: pilothouse clean; pilothouse clean --yes",
    )
    _common(clean, suppress=True)
    clean.add_argument("--yes", action="store_true", help="free it without asking")
    config = commands.add_parser("config", help="show what the configuration says here, or what is wrong in it")
    _common(config, suppress=True)
    return parser


def _serve_parser(commands: Any) -> None:
    serve = commands.add_parser(
        "serve",
        help="the server and its page",
        description="Serve the page and the HTTP API. Prints one link that opens the page.",
    )
    _common(serve, suppress=True)
    serve.add_argument("--host", help="where to listen (default: 127.0.0.1)")
    serve.add_argument("--port", type=_port, help="the port; the next free one if it is taken (default: 8484)")
    serve.add_argument(
        "--root", action="append", type=Path, dest="roots", help="a folder beneath which workspaces may lie; repeatable"
    )
    serve.add_argument("--no-open", action="store_true", help="do not open the page in a browser")
    users = commands.add_parser("users", help="who may use the server: each has a token")
    _common(users, suppress=True)
    actions = users.add_subparsers(dest="action", metavar="ACTION")
    for name, told in (("add", "a new user; prints their token"), ("remove", "their token opens nothing any more")):
        actions.add_parser(name, help=told).add_argument("name")


def _tools_parsers(commands: Any) -> None:
    mcp = commands.add_parser("mcp", help="servers of tools (MCP): list, add, remove, test")
    _common(mcp, suppress=True)
    actions = mcp.add_subparsers(dest="action", metavar="ACTION")
    actions.add_parser("list", help="those of your own file, and those of this folder")
    add = actions.add_parser(
        "add",
        help="a server: NAME URL, or NAME -- COMMAND ARGUMENT...",
        description="Add a server to your own file: an address, or a program after '--'.",
    )
    add.add_argument("name")
    add.add_argument("target", nargs="+", metavar="URL | COMMAND", help="an address, or a program and its arguments")
    add.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="of the program; repeatable")
    add.add_argument("--header", action="append", default=[], metavar="NAME=VALUE", help="of requests; repeatable")
    add.add_argument("--trusted", action="store_true", help="its word that a tool only reads is to count")
    actions.add_parser("remove", help="out of your own file").add_argument("name")
    actions.add_parser("test", help="connect, and show what it has").add_argument("name")
    trust = commands.add_parser("trust", help="let a folder's own configuration count, after a look at it")
    _common(trust, suppress=True)
    trust.add_argument("folder", nargs="?", type=Path, help="the folder (default: here)")
    trust.add_argument("--yes", action="store_true", help="without asking")
    trust.add_argument("--revoke", action="store_true", help="no longer")


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > _PORT_AT_MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: 0 to {_PORT_AT_MOST}")
    return int(text)


def _contexts_parser(commands: Any) -> None:
    contexts = commands.add_parser("contexts", help="list, export, import, archive and delete conversations")
    _common(contexts, suppress=True)
    contexts.add_argument("--archived", action="store_true", help="the archived ones")
    actions = contexts.add_subparsers(dest="action", metavar="ACTION")
    export = actions.add_parser("export", help="write a conversation with everything into one file")
    export.add_argument("id")
    export.add_argument("file", type=Path)
    imported = actions.add_parser("import", help="take a conversation from such a file")
    imported.add_argument("file", type=Path)
    imported.add_argument("--workspace", default=argparse.SUPPRESS, type=Path, help="the folder to work in")
    imported.add_argument("--as", dest="new_id", metavar="ID", help="under another id")
    imported.add_argument("--with-grants", action="store_true", help="also the leave that was given in it")
    for name, told in (("archive", "out of the list"), ("restore", "back into the list"), ("delete", "for good")):
        actions.add_parser(name, help=told).add_argument("id")


def _persona(parser: argparse.ArgumentParser, default: str | None) -> None:
    parser.add_argument(
        "--persona", default=default, metavar="ID", help="who the model is asked to be; none for nobody"
    )


def _common(parser: argparse.ArgumentParser, *, suppress: bool) -> None:
    """Options that stand before or behind the command; behind it, they must not reset what stood before."""
    default = argparse.SUPPRESS if suppress else None
    parser.add_argument("--mode", default=default, help="agent, supervised, review, plan, ask, or one of your own")
    parser.add_argument("--model", default=default, help="demo, openai:NAME or scripted:FILE")
    parser.add_argument("--workspace", default=default, type=Path, help="the folder to work in (default: here)")
    parser.add_argument("--context", default=default, metavar="ID", help="go on with a conversation that is kept")
    parser.add_argument("--config", default=default, metavar="FILE", help="your configuration file")
    parser.add_argument("--data-dir", default=default, help="where conversations are kept")
    parser.add_argument(
        "--output-format",
        default=argparse.SUPPRESS if suppress else "text",
        choices=["text", "json", "stream-json"],
        help="of run",
    )
