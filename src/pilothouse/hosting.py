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
from pilothouse.ambient import SystemAmbient
from pilothouse.domain.codes import Code, Reason, say
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.users import LOCAL, check_user_name
from pilothouse.runtime.runtime import Runtime
from pilothouse.server.address import address_of_server, published_address
from pilothouse.server.connections import raise_descriptor_limit
from pilothouse.server.logs import set_up_logs
from pilothouse.server.serve import HOST, listen, make_serving, open_in_browser, serve
from pilothouse.server.tokens import CODE_SECONDS, Tokens
from pilothouse.settings import Settings, placement_warnings

_LOG = logging.getLogger("pilothouse")
_COLLECT_AFTER = 20_000
_ENGLISH = {
    "model": "model",
    "demo": " (a demonstration: it needs no key and no network)",
    "roots": "Workspaces beneath:",
    "workspace": "New conversations work in:",
    "open": "Open:",
    "once": "The link signs one browser in, within {seconds} seconds. For another one: {command}",
    "listening": "Listening:",
    "sign_in": "To sign in, get a link with: {command}",
    "stopping": "Stopping: what is open is marked and written.",
}
_CHINESE = {
    "model": "模型",
    "demo": "（演示：无需密钥和网络）",
    "roots": "工作区位于：",
    "workspace": "新对话的工作区：",
    "open": "打开：",
    "once": "此链接可让一个浏览器登录，{seconds} 秒内有效。获取新链接：{command}",
    "listening": "监听地址：",
    "sign_in": "要登录，请用此命令获取链接：{command}",
    "stopping": "正在停止：未完成的内容会被标记并写入。",
}


async def serve_command(options: argparse.Namespace, settings: Settings, runtime: Runtime) -> int:
    """Raises: InvalidInput, StoreDamaged, OSError."""
    raise_descriptor_limit()
    given = settings.configuration.file.server
    host = options.host or given.host or HOST
    tokens = _tokens(settings)
    ports = [port for port in (options.port, given.port) if port is not None]
    listening = listen(host, ports[0] if ports else None, tokens)
    port = listening.getsockname()[1]
    tokens.prepare()
    provider = runtime.parts.provider
    set_up_logs(lambda: [*tokens.secrets(), *(provider.secrets() if provider is not None else [])])
    warnings = [*settings.configuration.warnings(), *shared_server(tokens), *unused_tables(settings, tokens)]
    warnings += placement_warnings(settings.data_dir, runtime.parts.roots)
    for warning in warnings:
        _LOG.warning(say(warning))
    serving = make_serving(
        runtime,
        tokens,
        workspace=workspace_of(options, runtime.parts.roots),
        warnings=warnings,
        host=host,
        port=port,
        names=given.hosts,
        mode=settings.mode,
        completions_mode=given.completions_mode,
    )
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
    words = _CHINESE if settings.language == "zh" else _ENGLISH

    # What was loaded stays: walking over it again and again would hold up every stream.
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER)

    def ready() -> None:
        demo = words["demo"] if runtime.parts.is_demo else ""
        print(f"Pilothouse {__version__} · {words['model']} {settings.model.name}{demo}")
        print(f"{words['roots']} {', '.join(map(str, runtime.parts.roots))}")
        print(f"{words['workspace']} {serving.workspace(None, LOCAL)}")
        command = _open_command(options)
        if not sys.stdout.isatty():  # what a log keeps must not sign anybody in
            print(words["sign_in"].format(command=command))
            print(f"{words['listening']} {url}", flush=True)
            return
        link = sign_in_link(url, tokens)
        print(words["once"].format(seconds=CODE_SECONDS, command=command))
        print(f"{words['open']} {link}", flush=True)
        if not options.no_open:
            asyncio.get_running_loop().run_in_executor(None, open_in_browser, link)

    with published_address(settings.data_dir, url):
        await serve(serving, listening, ready)
    print(words["stopping"], flush=True)
    return 0


def _open_command(options: argparse.Namespace) -> str:
    given = ["--data-dir", options.data_dir] if options.data_dir is not None else []
    return shlex.join(["pilothouse", "open", *given])


def sign_in_link(url: str, tokens: Tokens) -> str:
    """Raises: StoreDamaged, StoreRefused."""
    return f"{url}?code={tokens.new_code()}"


def unused_tables(settings: Settings, tokens: Tokens) -> list[Reason]:
    """The restrictions of users who do not exist: a name may be misspelt, and then restricts nobody."""
    users = sorted({LOCAL, *tokens.users()})
    unknown = [user for user in settings.configuration.user_roots if user not in users]
    return [Reason(Code.USER_TABLE_UNUSED, {"user": user, "users": ", ".join(users)}) for user in unknown]


def shared_server(tokens: Tokens) -> list[Reason]:
    """What the people who share a server must know of each other."""
    users = sorted({LOCAL, *tokens.users()})
    return [Reason(Code.SHARED_SERVER, {"users": ", ".join(users)})] if len(users) > 1 else []


def roots_of(options: argparse.Namespace, settings: Settings) -> list[Path]:
    """The folders beneath which workspaces may lie. Raises: InvalidInput for one that is no folder."""
    given = [Path(root).expanduser() for root in settings.configuration.file.server.roots]
    start = [options.workspace or Path.cwd()]
    roots = [Path(os.path.realpath(root)) for root in options.roots or given or start]
    for root in (*roots, *start):
        if not root.is_dir():
            raise InvalidInput(Code.INVALID_WORKSPACE, path=str(root))
    workspace_of(options, roots)
    return roots


def user_roots_of(settings: Settings, roots: Sequence[Path]) -> dict[str, list[Path]]:
    """The folders to which users are kept. Raises: InvalidInput for one that is no folder of the server's."""
    found = {}
    for user, paths in settings.configuration.user_roots.items():
        check_user_name(user)
        found[user] = [Path(os.path.realpath(path)) for path in paths]
        for folder in found[user]:
            if not folder.is_dir():
                raise InvalidInput(Code.USER_ROOT_MISSING, user=user, path=str(folder))
            if not any(folder == root or root in folder.parents for root in roots):
                allowed = ", ".join(map(str, roots))
                raise InvalidInput(Code.USER_ROOT_OUTSIDE, user=user, path=str(folder), allowed=allowed)
    return found


def workspace_of(options: argparse.Namespace, roots: Sequence[Path]) -> Path:
    """Where new conversations work: the folder that was named, or in which the server was started; the first root
    where that one lies elsewhere. Raises: InvalidInput for a folder that was named and lies beneath no root."""
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
        print(say(reason, settings.language), file=sys.stderr)
        return 1
    link = sign_in_link(url, _tokens(settings))
    print(link, flush=True)
    if not options.no_open:
        open_in_browser(link)
    return 0


def users_command(options: argparse.Namespace, settings: Settings) -> int:
    """Raises: InvalidInput, Conflict, NotFound, StoreDamaged."""
    tokens = _tokens(settings)
    if options.action == "add":
        print(tokens.add(options.name))
        for warning in shared_server(tokens):
            print(say(warning, settings.language), file=sys.stderr)
    elif options.action == "token":
        print(tokens.renew(options.name))
    elif options.action == "remove":
        tokens.remove(options.name)
    else:
        print("\n".join(sorted({LOCAL, *tokens.users()})))
    return 0


def _tokens(settings: Settings) -> Tokens:
    return Tokens(settings.data_dir / "tokens.json", SystemAmbient(), settings.access)
