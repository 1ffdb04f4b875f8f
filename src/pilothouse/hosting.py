"""`pilothouse serve` and `pilothouse users`: the server as a command."""

import argparse
import asyncio
import gc
import logging
import os
from collections.abc import Sequence
from pathlib import Path

from pilothouse import __version__
from pilothouse.ambient import SystemAmbient
from pilothouse.domain.codes import Code, say
from pilothouse.domain.errors import InvalidInput
from pilothouse.runtime.runtime import Runtime
from pilothouse.server.connections import raise_descriptor_limit
from pilothouse.server.logs import set_up_logs
from pilothouse.server.serve import HOST, listen, make_serving, open_in_browser, serve
from pilothouse.server.tokens import LOCAL, Tokens
from pilothouse.settings import Settings

_LOG = logging.getLogger("pilothouse")
_COLLECT_AFTER = 20_000
_ENGLISH = {
    "model": "model",
    "demo": " (a demonstration: it needs no key and no network)",
    "roots": "Workspaces beneath:",
    "workspace": "New conversations work in:",
    "open": "Open:",
    "stopping": "Stopping: what is open is marked and written.",
}
_CHINESE = {
    "model": "模型",
    "demo": "（演示：无需密钥和网络）",
    "roots": "工作区位于：",
    "workspace": "新对话的工作区：",
    "open": "打开：",
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
    token = tokens.local()
    provider = runtime.parts.provider
    set_up_logs(lambda: [*tokens.all().values(), *(provider.secrets() if provider is not None else [])])
    warnings = settings.configuration.warnings()
    for warning in warnings:
        _LOG.warning("%s", say(warning))
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
    shown = f"[{host}]" if ":" in host else host
    link = f"http://{shown}:{port}/?token={token}"

    words = _CHINESE if settings.language == "zh" else _ENGLISH

    # What was loaded stays: walking over it again and again would hold up every stream.
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER)

    def ready() -> None:
        demo = words["demo"] if runtime.parts.is_demo else ""
        print(f"Pilothouse {__version__} · {words['model']} {settings.model.name}{demo}")
        print(f"{words['roots']} {', '.join(map(str, serving.roots))}")
        print(f"{words['workspace']} {serving.workspace(None)}")
        print(f"{words['open']} {link}", flush=True)
        if not options.no_open:
            asyncio.get_running_loop().run_in_executor(None, open_in_browser, link)

    await serve(serving, listening, ready)
    print(words["stopping"], flush=True)
    return 0


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


def workspace_of(options: argparse.Namespace, roots: Sequence[Path]) -> Path:
    """Where new conversations work: the folder that was named, or in which the server was started; the first root
    where that one lies elsewhere. Raises: InvalidInput for a folder that was named and lies beneath no root."""
    folder = Path(os.path.realpath(options.workspace or Path.cwd()))
    if any(folder == root or root in folder.parents for root in roots):
        return folder
    if options.workspace is not None:
        raise InvalidInput(Code.OUTSIDE_ROOTS, path=str(folder), allowed=", ".join(map(str, roots)))
    return roots[0]


def users_command(options: argparse.Namespace, settings: Settings) -> int:
    """Raises: InvalidInput, Conflict, NotFound, StoreDamaged."""
    tokens = _tokens(settings)
    if options.action == "add":
        print(tokens.add(options.name))
    elif options.action == "remove":
        tokens.remove(options.name)
    else:
        print("\n".join(sorted({LOCAL, *tokens.all()})))
    return 0


def _tokens(settings: Settings) -> Tokens:
    return Tokens(settings.data_dir / "tokens.json", SystemAmbient(), settings.access)
