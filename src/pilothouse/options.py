"""The options of the command line."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pilothouse import __version__

_PORT_AT_MOST = 65535
_EVERYWHERE = ("config", "data_dir")
_CONVERSATION = ("mode", "model", "workspace", "context", "persona")
_ACCEPTED: Mapping[str | None, tuple[str, ...]] = {
    None: _CONVERSATION,
    "run": (*_CONVERSATION, "output_format"),
    "serve": ("mode", "model", "workspace"),
    "config": ("mode", "model", "workspace"),
    "personas": ("workspace",),
    "mcp": ("workspace",),
    "trust": ("workspace",),
    "contexts": ("workspace",),
    "open": (),
    "users": (),
    "clean": (),
    "audit": (),
    "doctor": (),
}
_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "mode": {"help": "agent, supervised, review, plan, ask, or one of your own"},
    "model": {"help": "demo, openai:NAME or scripted:FILE"},
    "workspace": {"type": Path, "help": "the folder to work in (default: here)"},
    "context": {"metavar": "ID", "help": "go on with a conversation that is kept"},
    "persona": {"metavar": "ID", "help": "who the model is asked to be; none for nobody"},
    "config": {"metavar": "FILE", "help": "your configuration file"},
    "data_dir": {"help": "where conversations are kept"},
    "output_format": {"choices": ["text", "json", "stream-json"], "help": "of run (default: text)"},
}


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pilothouse",
        description="Let a model work on your machine, and stay in charge. Without a command: a conversation here.",
        epilog="Exit codes of run: 0 done, 1 error, 2 usage, 3 approval needed or denied by the mode, "
        "4 key or configuration, 53 a limit was reached, 75 try again later, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"pilothouse {__version__}")
    for name in _OPTIONS:
        _add_option(parser, name, default=None)
    parser.add_argument("-p", dest="prompt_short", metavar="PROMPT", help="short for: run PROMPT")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    run = commands.add_parser("run", help="one turn, for scripts", description="Run one turn and print the answer.")
    run.add_argument("prompt", help="what to say; standard input, if any, is added to it")
    _add_accepted(run, "run")
    _contexts_parser(commands)
    _serve_parser(commands)
    _tools_parsers(commands)
    personas = commands.add_parser("personas", help="who the model can be asked to be here")
    _add_accepted(personas, "personas")
    shown = personas.add_subparsers(dest="action", metavar="ACTION").add_parser(
        "show", help="what the model is told, and its tools"
    )
    shown.add_argument("id")
    _add_accepted(shown, "personas")
    clean = commands.add_parser(
        "clean",
        help="show what the data directory takes, and free space",
        description="Show what conversations, undo and caches take, and free what can be made again or has expired."
        " No conversation is removed.",
        epilog="Examples: pilothouse clean; pilothouse clean --yes",
    )
    _add_accepted(clean, "clean")
    clean.add_argument("--yes", action="store_true", help="free it without asking")
    _audit_parser(commands)
    doctor = commands.add_parser(
        "doctor",
        help="show what the sandbox keeps here, and which programs are missing",
        description="Show which promises the kernel's sandbox keeps on this machine, and which programs were found.",
    )
    _add_accepted(doctor, "doctor")
    config = commands.add_parser("config", help="show what the configuration says here, or what is wrong in it")
    _add_accepted(config, "config")
    return parser


def read_options(arguments: list[str]) -> argparse.Namespace:
    """What a command line says. Ends the program, with its usage, for options that would have no effect."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.prompt_short is not None:
        if options.command is not None:
            parser.error(f"-p is short for run: it cannot stand beside {options.command}")
        options.command, options.prompt = "run", options.prompt_short
    for name in _OPTIONS:
        if name not in (*_EVERYWHERE, *_ACCEPTED[options.command]) and getattr(options, name) is not None:
            parser.error(f"{_flag(name)} has no effect on {options.command or 'a conversation in the terminal'}")
    if options.command in (None, "run") and options.context is not None and options.workspace is not None:
        parser.error("--workspace has no effect beside --context: a conversation keeps its workspace")
    if options.command == "contexts":
        if options.workspace is not None and options.action != "import":
            parser.error("--workspace has an effect on contexts import only")
        if options.archived and options.action not in (None, "list"):
            parser.error("--archived has an effect on the list only")
    return options


def _serve_parser(commands: Any) -> None:
    serve = commands.add_parser(
        "serve",
        help="the server and its page",
        description="Serve the web client and the HTTP API. In a terminal, prints a link that signs your browser in.",
    )
    _add_accepted(serve, "serve")
    serve.add_argument("--host", help="where to listen (default: 127.0.0.1)")
    serve.add_argument("--port", type=_port, help="the port (default: 8484, or the next free one)")
    serve.add_argument(
        "--root", action="append", type=Path, dest="roots", help="a folder beneath which workspaces may lie; repeatable"
    )
    serve.add_argument("--no-open", action="store_true", help="do not open the page in a browser")
    opened = commands.add_parser(
        "open",
        help="a fresh link that signs a browser in to the running server",
        description="Print a link that signs one browser in to the server that runs on this data directory.",
    )
    _add_accepted(opened, "open")
    opened.add_argument("--no-open", action="store_true", help="do not open the link in a browser")
    users = commands.add_parser("users", help="who may use the server: each has a token")
    _add_accepted(users, "users")
    actions = users.add_subparsers(dest="action", metavar="ACTION")
    for name, told in (
        ("add", "a new user; prints their token"),
        ("token", "print a new token; the old one and all signed-in browsers of the user are signed out"),
        ("remove", "their token opens nothing any more"),
    ):
        actions.add_parser(name, help=told).add_argument("name")


def _tools_parsers(commands: Any) -> None:
    mcp = commands.add_parser("mcp", help="servers of tools (MCP): list, add, remove, test")
    _add_accepted(mcp, "mcp")
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
    _add_accepted(trust, "trust")
    trust.add_argument("folder", nargs="?", type=Path, help="the folder (default: here)")
    trust.add_argument("--yes", action="store_true", help="without asking")
    trust.add_argument("--revoke", action="store_true", help="no longer")


def _audit_parser(commands: Any) -> None:
    audit = commands.add_parser("audit", help="check what was recorded: verify")
    _add_accepted(audit, "audit")
    verify = audit.add_subparsers(dest="action", metavar="ACTION", required=True).add_parser(
        "verify",
        help="whether a record was cut or rewritten",
        description="Check the audit of every conversation, or of one, and the record of lasting rules. Exit code: 0 "
        "when everything is whole, 1 when something was cut, rewritten or cannot be read.",
        epilog="Examples: pilothouse audit verify; pilothouse audit verify ID; pilothouse audit verify ID --accept",
    )
    _add_accepted(verify, "audit")
    verify.add_argument("id", nargs="?", help="a conversation (default: all, and the rules)")
    verify.add_argument("--accept", action="store_true", help="you have looked: what is there now counts from here on")


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > _PORT_AT_MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: 0 to {_PORT_AT_MOST}")
    return int(text)


def _contexts_parser(commands: Any) -> None:
    contexts = commands.add_parser("contexts", help="list, export, import, archive and delete conversations")
    _add_accepted(contexts, "contexts")
    contexts.add_argument("--archived", action="store_true", help="the archived ones")
    actions = contexts.add_subparsers(dest="action", metavar="ACTION")
    listed = actions.add_parser("list", help="the conversations, as without an action")
    listed.add_argument("--archived", action="store_true", default=argparse.SUPPRESS, help="the archived ones")
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


def _add_accepted(parser: argparse.ArgumentParser, command: str) -> None:
    """The options that have an effect on a command. Behind it, they must not reset what stood before it."""
    for name in (*_ACCEPTED[command], *_EVERYWHERE):
        _add_option(parser, name, default=argparse.SUPPRESS)


def _add_option(parser: argparse.ArgumentParser, name: str, default: str | None) -> None:
    parser.add_argument(_flag(name), default=default, **_OPTIONS[name])


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
