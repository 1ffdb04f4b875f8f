"""The options of the command line."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pilothouse import __version__
from pilothouse.domain.base_path import BASE_PATH_FORM, base_path_of

_MAX_PORT = 65535
_COMMON_OPTIONS = ("config", "data_dir")
_CONVERSATION_OPTIONS = ("mode", "model", "workspace", "context", "persona")
_ACCEPTED_OPTIONS: Mapping[str | None, tuple[str, ...]] = {
    None: _CONVERSATION_OPTIONS,
    "run": (*_CONVERSATION_OPTIONS, "output_format"),
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
    "mode": {"help": "Mode: agent, supervised, review, plan, ask, or one of your own"},
    "model": {"help": "Model: demo, openai:NAME or scripted:FILE"},
    "workspace": {"type": Path, "metavar": "FOLDER", "help": "Project folder (default: the current folder)"},
    "context": {"metavar": "ID", "help": "Continue a saved conversation"},
    "persona": {"metavar": "NAME", "help": "Persona for the model; 'none' for no persona"},
    "config": {"metavar": "FILE", "help": "Your configuration file"},
    "data_dir": {"metavar": "FOLDER", "help": "Folder with your conversations and other data"},
    "output_format": {"choices": ["text", "json", "stream-json"], "help": "Output format of run (default: text)"},
}
_EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "": (
        "pilothouse",
        "pilothouse --mode review --model openai:gpt-4.1-mini",
        'pilothouse -p "Which TODOs are left?"',
        "pilothouse serve",
    ),
    "run": ('pilothouse run "Explain this project"', 'git diff | pilothouse --mode plan run "Review this change"'),
    "contexts": ("pilothouse contexts", "pilothouse contexts --archived", "pilothouse contexts export ID backup.jsonl"),
    "contexts list": ("pilothouse contexts list", "pilothouse contexts list --archived"),
    "contexts export": ("pilothouse contexts export ID backup.jsonl",),
    "contexts import": (
        "pilothouse contexts import backup.jsonl",
        "pilothouse contexts import backup.jsonl --workspace ~/project --as copy",
    ),
    "contexts archive": ("pilothouse contexts archive ID",),
    "contexts restore": ("pilothouse contexts restore ID",),
    "contexts delete": ("pilothouse contexts delete ID",),
    "serve": ("pilothouse serve", "pilothouse serve --port 9000 --root ~/projects --no-open"),
    "open": ("pilothouse open", "pilothouse open --no-open"),
    "users": ("pilothouse users", "pilothouse users add anna"),
    "users add": ("pilothouse users add anna",),
    "users token": ("pilothouse users token anna",),
    "users remove": ("pilothouse users remove anna",),
    "personas": ("pilothouse personas", "pilothouse personas show reviewer"),
    "personas show": ("pilothouse personas show reviewer",),
    "mcp": ("pilothouse mcp", "pilothouse mcp add search https://example.com/mcp", "pilothouse mcp test search"),
    "mcp list": ("pilothouse mcp list",),
    "mcp add": (
        "pilothouse mcp add search https://example.com/mcp --header Authorization='Bearer KEY'",
        "pilothouse mcp add files --env LOG=debug -- npx -y files-server .",
    ),
    "mcp remove": ("pilothouse mcp remove search",),
    "mcp test": ("pilothouse mcp test search",),
    "trust": ("pilothouse trust", "pilothouse trust ~/project", "pilothouse trust --revoke"),
    "clean": ("pilothouse clean", "pilothouse clean --yes"),
    "audit": ("pilothouse audit verify",),
    "audit verify": (
        "pilothouse audit verify",
        "pilothouse audit verify ID",
        "pilothouse audit verify ID --accept",
    ),
    "doctor": ("pilothouse doctor",),
    "config": ("pilothouse config", "pilothouse config --workspace ~/project"),
}
"""Examples of each command, shown at the end of its help."""


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pilothouse",
        description="Let an AI agent work on your machine while you stay in charge.\n\n"
        "Without a command, start a conversation in the current folder.",
        epilog=f"{_examples('')}\n\n"
        "exit codes of run:\n"
        "  0 done, 1 error, 2 wrong usage, 3 needs approval or not allowed, 4 API key or configuration,\n"
        "  53 limit reached, 75 try again later, 130 interrupted",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    _add_help(parser)
    parser.add_argument("--version", action="version", version=f"pilothouse {__version__}", help="Show the version")
    for name in _OPTIONS:
        _add_option(parser, name, default=None)
    parser.add_argument("-p", dest="prompt_short", metavar="PROMPT", help="Short for: run PROMPT")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    run = _add_command(commands, "run", "Run one turn and print the answer, for scripts")
    run.add_argument("prompt", help="Your message; standard input, if any, is added to it")
    _add_accepted(run, "run")
    _contexts_parser(commands)
    _serve_parser(commands)
    _tools_parsers(commands)
    personas = _add_command(commands, "personas", "List the personas that are available in this folder")
    _add_accepted(personas, "personas")
    show = _add_command(_actions(personas), "show", "Show a persona's instructions and tools", of="personas")
    show.add_argument("id", metavar="NAME", help="Name of the persona")
    _add_accepted(show, "personas")
    clean = _add_command(
        commands,
        "clean",
        "Show disk usage and free up space",
        "Show how much space conversations, undo data and caches use,\nand free what can be recreated or has expired. "
        "No conversation is removed.",
    )
    _add_accepted(clean, "clean")
    clean.add_argument("--yes", action="store_true", help="Free up the space without asking")
    _audit_parser(commands)
    doctor = _add_command(
        commands,
        "doctor",
        "Check the sandbox and required programs",
        "Show what the kernel's sandbox enforces on this machine,\nand which programs were found.",
    )
    _add_accepted(doctor, "doctor")
    config = _add_command(commands, "config", "Show the configuration in effect and any problems in it")
    _add_accepted(config, "config")
    return parser


def read_options(arguments: list[str]) -> argparse.Namespace:
    """Parse a command line. Options that would have no effect end the program with a usage message."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.prompt_short is not None:
        if options.command is not None:
            parser.error(f"-p is short for run and can't be used with {options.command}")
        options.command, options.prompt = "run", options.prompt_short
    for name in _OPTIONS:
        if name not in (*_COMMON_OPTIONS, *_ACCEPTED_OPTIONS[options.command]) and getattr(options, name) is not None:
            parser.error(f"{_flag(name)} has no effect on {options.command or 'a conversation in the terminal'}")
    if options.command in (None, "run") and options.context is not None and options.workspace is not None:
        parser.error("--workspace has no effect with --context: a conversation keeps its project folder")
    if options.command == "contexts":
        if options.workspace is not None and options.action != "import":
            parser.error("--workspace only has an effect on contexts import")
        if options.archived and options.action not in (None, "list"):
            parser.error("--archived only has an effect on the list")
    return options


def _serve_parser(commands: Any) -> None:
    serve = _add_command(
        commands,
        "serve",
        "Start the server with the web client",
        "Serve the web client and the HTTP API.\nIn a terminal, prints a link that signs your browser in.",
    )
    _add_accepted(serve, "serve")
    serve.add_argument("--host", help="Address to listen on (default: 127.0.0.1)")
    serve.add_argument("--port", type=_port, help="Port to listen on (default: 8484, or the next free one)")
    serve.add_argument(
        "--root",
        action="append",
        type=Path,
        dest="roots",
        metavar="FOLDER",
        help="Folder that may contain projects; repeatable",
    )
    serve.add_argument(
        "--base-path", type=_base_path, metavar="PATH", help="Path prefix behind a proxy, like /pilothouse"
    )
    serve.add_argument("--no-open", action="store_true", help="Don't open the web client in a browser")
    open_parser = _add_command(
        commands,
        "open",
        "Print a new sign-in link for the running server",
        "Print a link that signs one browser in to the running server of this data folder.",
    )
    _add_accepted(open_parser, "open")
    open_parser.add_argument("--no-open", action="store_true", help="Don't open the link in a browser")
    users = _add_command(commands, "users", "List, add and remove users of the server")
    _add_accepted(users, "users")
    actions = _actions(users)
    for name, summary in (
        ("add", "Add a user and print their access token"),
        ("token", "Print a new access token; the old one stops working, and the user's browsers are signed out"),
        ("remove", "Remove a user; their access token stops working"),
    ):
        _add_command(actions, name, summary, of="users").add_argument("name", metavar="NAME", help="Name of the user")


def _tools_parsers(commands: Any) -> None:
    mcp = _add_command(commands, "mcp", "List, add, remove and test MCP servers")
    _add_accepted(mcp, "mcp")
    actions = _actions(mcp)
    _add_command(actions, "list", "List your MCP servers and those of this folder", of="mcp")
    add = _add_command(
        actions,
        "add",
        "Add an MCP server: NAME URL, or NAME -- COMMAND ARGUMENT...",
        "Add an MCP server to your settings: a URL, or a command after '--'.",
        of="mcp",
    )
    add.add_argument("name", metavar="NAME", help="Name of the server")
    add.add_argument("target", nargs="+", metavar="URL | COMMAND", help="URL, or a command and its arguments")
    add.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="Environment variable for the command; repeatable",
    )
    add.add_argument(
        "--header", action="append", default=[], metavar="NAME=VALUE", help="Header of requests to the URL; repeatable"
    )
    add.add_argument("--trusted", action="store_true", help="Trust the server when it says that a tool is read-only")
    _add_command(actions, "remove", "Remove an MCP server from your settings", of="mcp").add_argument(
        "name", metavar="NAME", help="Name of the server"
    )
    _add_command(actions, "test", "Connect to an MCP server and show what it offers", of="mcp").add_argument(
        "name", metavar="NAME", help="Name of the server"
    )
    trust = _add_command(
        commands,
        "trust",
        "Review a folder's own settings and trust them",
        "Show a folder's own settings. They are ignored until you trust them.",
    )
    _add_accepted(trust, "trust")
    trust.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="Folder (default: the current folder)")
    trust.add_argument("--yes", action="store_true", help="Trust the settings without asking")
    trust.add_argument("--revoke", action="store_true", help="Stop trusting the settings")


def _audit_parser(commands: Any) -> None:
    audit = _add_command(commands, "audit", "Check that the audit logs are intact")
    _add_accepted(audit, "audit")
    verify = _add_command(
        _actions(audit, required=True),
        "verify",
        "Check whether any record was cut off or rewritten",
        "Check the audit log of every conversation, or of one, and the record of your\npermanent rules.\n\n"
        "Exit code: 0 when everything is intact, 1 when something was cut off, rewritten\nor can't be read.",
        of="audit",
    )
    _add_accepted(verify, "audit")
    verify.add_argument(
        "id", nargs="?", metavar="ID", help="ID of a conversation (default: all conversations, and your rules)"
    )
    verify.add_argument(
        "--accept", action="store_true", help="Accept the records as they are now, once you have checked"
    )


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > _MAX_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} isn't a valid port: use 0 to {_MAX_PORT}")
    return int(text)


def _base_path(text: str) -> str:
    try:
        return base_path_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}: use {BASE_PATH_FORM}") from error


def _contexts_parser(commands: Any) -> None:
    contexts = _add_command(commands, "contexts", "List, export, import, archive and delete conversations")
    _add_accepted(contexts, "contexts")
    contexts.add_argument("--archived", action="store_true", help="List archived conversations")
    actions = _actions(contexts)
    list_parser = _add_command(actions, "list", "List conversations (the default action)", of="contexts")
    list_parser.add_argument(
        "--archived", action="store_true", default=argparse.SUPPRESS, help="List archived conversations"
    )
    export = _add_command(actions, "export", "Export a complete conversation to a file", of="contexts")
    export.add_argument("id", metavar="ID", help="ID of the conversation")
    export.add_argument("file", type=Path, metavar="FILE", help="New file to write")
    export.add_argument(
        "--system-prompt", action="store_true", help="Include the system prompt that the model would get now"
    )
    import_parser = _add_command(actions, "import", "Import a conversation from an exported file", of="contexts")
    import_parser.add_argument("file", type=Path, metavar="FILE", help="Exported file to read")
    import_parser.add_argument(
        "--workspace", default=argparse.SUPPRESS, type=Path, metavar="FOLDER", help="Project folder of the conversation"
    )
    import_parser.add_argument("--as", dest="new_id", metavar="ID", help="Import the conversation under another ID")
    import_parser.add_argument(
        "--with-grants",
        action="store_true",
        help="Also import permissions from the file: rules, approvals, mode and extra approval rules",
    )
    for name, summary in (
        ("archive", "Archive a conversation"),
        ("restore", "Unarchive a conversation"),
        ("delete", "Delete a conversation permanently"),
    ):
        _add_command(actions, name, summary, of="contexts").add_argument(
            "id", metavar="ID", help="ID of the conversation"
        )


def _actions(parser: argparse.ArgumentParser, *, required: bool = False) -> Any:
    return parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=required)


def _add_command(
    commands: Any, name: str, summary: str, description: str = "", *, of: str = ""
) -> argparse.ArgumentParser:
    """Add a command, or an action of the command `of`. The help begins with the description, or else the summary."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description or f"{summary}.",
        epilog=_examples(f"{of} {name}".strip()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    _add_help(parser)
    return parser


def _add_help(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-h", "--help", action="help", help="Show this help")


def _examples(command: str) -> str:
    return "\n".join(("examples:", *(f"  {example}" for example in _EXAMPLES[command])))


def _add_accepted(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the options that a command accepts. Their defaults must not reset options given before the command."""
    for name in (*_ACCEPTED_OPTIONS[command], *_COMMON_OPTIONS):
        _add_option(parser, name, default=argparse.SUPPRESS)


def _add_option(parser: argparse.ArgumentParser, name: str, default: str | None) -> None:
    parser.add_argument(_flag(name), default=default, **_OPTIONS[name])


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
