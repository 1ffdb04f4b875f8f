"""`pilothouse serve`, `open` and `users`: the server as a command."""

import argparse
import asyncio
import gc
import logging
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from pilothouse import __version__
from pilothouse.domain.base_path import base_path_of
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.users import LOCAL, check_user_name
from pilothouse.i18n import translate, ui_text
from pilothouse.runtime.runtime import Runtime
from pilothouse.server.address import address_of_server, published_address
from pilothouse.server.connections import raise_descriptor_limit
from pilothouse.server.logs import set_up_logs
from pilothouse.server.serve import DEFAULT_HOST, listen, make_server_state, open_in_browser, serve
from pilothouse.server.tokens import SIGN_IN_CODE_LIFETIME_SECONDS, Tokens
from pilothouse.settings import Settings, placement_warnings
from pilothouse.system.ambient import SystemAmbient

_LOG = logging.getLogger("pilothouse")
_GC_THRESHOLD_ALLOCATIONS = 20_000


async def serve_command(options: argparse.Namespace, settings: Settings, runtime: Runtime) -> int:
    """Run the server until it is stopped. Raises: InvalidInput, StoreDamaged, OSError."""
    raise_descriptor_limit()
    server_settings = settings.configuration.file.server
    host = options.host or server_settings.host or DEFAULT_HOST
    tokens = _tokens(settings)
    ports = [port for port in (options.port, server_settings.port) if port is not None]
    sock = listen(host, ports[0] if ports else None, tokens)
    port = sock.getsockname()[1]
    tokens.prepare()
    set_up_logs(lambda: [*tokens.secrets(), *runtime.providers.secrets()])
    warnings = [
        *settings.configuration.warnings(),
        *shared_server_warnings(tokens),
        *unused_table_warnings(settings, tokens),
    ]
    warnings += placement_warnings(settings.data_dir, runtime.workspaces.roots)
    for warning in warnings:
        _LOG.warning(translate(warning))
    base_path = options.base_path if options.base_path is not None else base_path_of(server_settings.base_path)
    server_state = make_server_state(
        runtime,
        tokens,
        workspace=workspace_of(options, runtime.workspaces.roots),
        warnings=warnings,
        host=host,
        port=port,
        names=server_settings.hosts,
        base_path=base_path,
        trusted_proxies=server_settings.trusted_proxies,
        mode=settings.mode,
        completions_mode=server_settings.completions_mode,
    )
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}{base_path}/"
    language = settings.language

    # Loaded modules stay for the life of the process: collecting them repeatedly would delay every stream.
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD_ALLOCATIONS)

    def ready() -> None:
        demo = ui_text("serve", "demo", language) if runtime.providers.current().is_demo else ""
        print(f"Pilothouse {__version__} · {ui_text('serve', 'model', language)} {settings.model.name}{demo}")
        print(f"{ui_text('serve', 'roots', language)} {', '.join(map(str, runtime.workspaces.roots))}")
        print(f"{ui_text('serve', 'workspace', language)} {server_state.workspace(None, LOCAL)}")
        command = _open_command(options)
        if not sys.stdout.isatty():  # a log must not contain a sign-in link
            print(ui_text("serve", "sign_in", language, command=command))
            print(f"{ui_text('serve', 'listening', language)} {url}", flush=True)
            return
        link = sign_in_link(url, tokens)
        print(ui_text("serve", "once", language, seconds=SIGN_IN_CODE_LIFETIME_SECONDS, command=command))
        print(f"{ui_text('serve', 'open', language)} {link}", flush=True)
        if not options.no_open:
            asyncio.get_running_loop().run_in_executor(None, open_in_browser, link)

    with published_address(settings.data_dir, url):
        await serve(server_state, sock, ready)
    print(ui_text("serve", "stopping", language), flush=True)
    return 0


def _open_command(options: argparse.Namespace) -> str:
    flags = ["--data-dir", options.data_dir] if options.data_dir is not None else []
    return shlex.join(["pilothouse", "open", *flags])


def sign_in_link(url: str, tokens: Tokens) -> str:
    """Create a link that signs a browser in. Raises: StoreDamaged, StoreRefused."""
    return f"{url}?code={tokens.new_code()}"


def unused_table_warnings(settings: Settings, tokens: Tokens) -> list[Reason]:
    """Return warnings about restrictions of unknown users: a misspelt name restricts nobody."""
    users = sorted({LOCAL, *tokens.users()})
    unknown = [user for user in settings.configuration.user_roots if user not in users]
    return [Reason(Code.USER_TABLE_UNUSED, {"user": user, "users": ", ".join(users)}) for user in unknown]


def shared_server_warnings(tokens: Tokens) -> list[Reason]:
    """Return a warning that names the users of a server with several users."""
    users = sorted({LOCAL, *tokens.users()})
    return [Reason(Code.SHARED_SERVER, {"users": ", ".join(users)})] if len(users) > 1 else []


def roots_of(options: argparse.Namespace, settings: Settings) -> list[Path]:
    """Return the folders that may contain workspaces. Raises: InvalidInput for a path that is not a folder."""
    configured = [Path(root).expanduser() for root in settings.configuration.file.server.roots]
    start = [options.workspace or Path.cwd()]
    roots = [Path(os.path.realpath(root)) for root in options.roots or configured or start]
    for root in (*roots, *start):
        if not root.is_dir():
            raise InvalidInput(Code.INVALID_WORKSPACE, path=str(root))
    workspace_of(options, roots)
    return roots


def user_roots_of(settings: Settings, roots: Sequence[Path]) -> dict[str, list[Path]]:
    """Return the folders to which each user is restricted. Raises: InvalidInput for a path that is not below a server
    root."""
    user_roots = {}
    for user, paths in settings.configuration.user_roots.items():
        check_user_name(user)
        user_roots[user] = [Path(os.path.realpath(path)) for path in paths]
        for folder in user_roots[user]:
            if not folder.is_dir():
                raise InvalidInput(Code.USER_ROOT_MISSING, user=user, path=str(folder))
            if not any(folder == root or root in folder.parents for root in roots):
                allowed = ", ".join(map(str, roots))
                raise InvalidInput(Code.USER_ROOT_OUTSIDE, user=user, path=str(folder), allowed=allowed)
    return user_roots


def workspace_of(options: argparse.Namespace, roots: Sequence[Path]) -> Path:
    """Return the workspace of new conversations: the `--workspace` folder, or the folder in which the server was
    started, or the first root if that folder is outside the roots. Raises: InvalidInput for a `--workspace` outside the
    roots."""
    folder = Path(os.path.realpath(options.workspace or Path.cwd()))
    if any(folder == root or root in folder.parents for root in roots):
        return folder
    if options.workspace is not None:
        raise InvalidInput(Code.OUTSIDE_ROOTS, path=str(folder), allowed=", ".join(map(str, roots)))
    return roots[0]


def open_command(options: argparse.Namespace, settings: Settings) -> int:
    """Print a fresh link that signs a browser in. Raises: StoreDamaged, StoreRefused, OSError."""
    url = address_of_server(settings.data_dir)
    if url is None:
        reason = Reason(Code.NO_SERVER, {"path": str(settings.data_dir)})
        print(translate(reason, settings.language), file=sys.stderr)
        return 1
    link = sign_in_link(url, _tokens(settings))
    print(link, flush=True)
    if not options.no_open:
        open_in_browser(link)
    return 0


def users_command(options: argparse.Namespace, settings: Settings) -> int:
    """List or change the users. Raises: InvalidInput, Conflict, NotFound, StoreDamaged."""
    tokens = _tokens(settings)
    if options.action == "add":
        print(tokens.add(options.name))
        for warning in shared_server_warnings(tokens):
            print(translate(warning, settings.language), file=sys.stderr)
    elif options.action == "token":
        print(tokens.renew(options.name))
    elif options.action == "remove":
        tokens.remove(options.name)
    else:
        print("\n".join(sorted({LOCAL, *tokens.users()})))
    return 0


def _tokens(settings: Settings) -> Tokens:
    return Tokens(settings.data_dir / "tokens.json", SystemAmbient(), settings.access)
