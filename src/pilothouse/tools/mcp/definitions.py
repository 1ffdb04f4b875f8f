"""How a server is reached, as a person wrote it down, and the reading of such a file. Nothing in it is expanded."""

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from pilothouse.domain.values import Value
from pilothouse.tools.mcp.document import Document, KeyPath, word_for

Transport = Literal["stdio", "http"]

SECONDS_AT_MOST = 3600
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_NOT_PRINTED = re.compile(r"[\x00-\x20\x7f]")
_STDIO_KEYS = ("command", "args", "env", "cwd")
_HTTP_KEYS = ("url", "headers")
_FLAGS = ("trusted", "disabled", "enabled")
_KEYS = (*_STDIO_KEYS, *_HTTP_KEYS, "type", "transport", *_FLAGS, "timeout")
_TRANSPORTS: Mapping[str, Transport] = {
    "stdio": "stdio",
    "http": "http",
    "streamable_http": "http",
    "streamable-http": "http",
}
_EITHER = "command for a program, url for an address"


class ServerDefinition(Value):
    """One server: a command that is started, or an address. `trusted` says that its read-only hints count;
    `seconds` is the time of one call; `origin` says where it was written down."""

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = {}
    trusted: bool = False
    enabled: bool = True
    seconds: float = 60
    origin: str = ""

    def __repr__(self) -> str:
        # The rest may hold keys.
        return f"ServerDefinition({self.name!r})"

    @property
    def transport(self) -> Transport:
        return "stdio" if self.url is None else "http"

    @property
    def digest(self) -> str:
        """Changes with anything that a person would have to agree to again."""
        plain = msgspec.structs.replace(self, origin="")
        return hashlib.sha256(msgspec.json.encode(plain, order="deterministic")).hexdigest()


def read_definitions(text: str, file: str) -> list[ServerDefinition]:
    """The servers of a file, in its order. Raises: InvalidInput, saying what is wrong and what is allowed."""
    document = Document(text, file)
    found = [_server(document, name, data, at) for name, data, at in _entries(document)]
    seen: dict[str, str] = {}
    for definition in found:
        plain = plain_name(definition.name)
        if plain in seen:
            detail = f"It cannot be told from {seen[plain]!r} when case, '-' and '_' are ignored."
            document.fail((definition.name,), detail, "names that differ in letters or digits")
        seen[plain] = definition.name
    return found


def plain_name(name: str) -> str:
    """The same for names that a person could take for one another."""
    return re.sub(r"[-_]", "", name).lower()


def _entries(document: Document) -> list[tuple[str, Any, KeyPath]]:
    data = document.data
    if isinstance(data, list):
        return [_named(document, entry, ()) for entry in data]
    if not isinstance(data, dict) or len(data) != 1:
        document.fail(
            (), "It is something else.", 'an object with "mcpServers" or with "servers", or a list of servers'
        )
    ((key, servers),) = data.items()
    if key == "servers":
        return [_named(document, entry, (key,)) for entry in document.typed(servers, list, (key,), "a list of servers")]
    if key != "mcpServers":
        document.fail((key,), "There is no such key.", "mcpServers, servers")
    named = document.typed(servers, dict, (key,), "an object: names, each with its server")
    return [(name, server, (key, name)) for name, server in named.items()]


def _named(document: Document, entry: Any, at: KeyPath) -> tuple[str, Any, KeyPath]:
    data = dict(document.typed(entry, dict, at, "an object for each server"))
    if "name" not in data:
        document.fail((*at, "name"), "It is missing.", ", ".join(("name", *_KEYS)))
    name = document.typed(data.pop("name"), str, (*at, "name"), "text")
    return name, data, (*at, name)


def _server(document: Document, name: str, data: Any, at: KeyPath) -> ServerDefinition:
    if not _NAME.fullmatch(name) or "__" in name:
        document.fail(at, "It is no name of a server.", "1 to 40 of A-Z a-z 0-9 _ -, without two _ in a row")
    data = document.typed(data, dict, at, "an object")
    for key in data:
        if key not in _KEYS:
            document.fail((*at, key), "There is no such key.", ", ".join(_KEYS))
    is_http = _transport(document, data, at) == "http"
    foreign, own = (_STDIO_KEYS, _HTTP_KEYS) if is_http else (_HTTP_KEYS, _STDIO_KEYS)
    for key in foreign:
        if key in data:
            of = "an address" if is_http else "a command"
            document.fail((*at, key), f"A server with {of} has none.", ", ".join(own))
    for key in _FLAGS:
        document.typed(data.get(key, False), bool, (*at, key), "true, false")
    if "disabled" in data and "enabled" in data:
        document.fail((*at, "enabled"), "It stands beside disabled.", "one of the two")
    return ServerDefinition(
        name=name,
        command=None if is_http else document.word(data["command"], (*at, "command")),
        args=_args(document, data.get("args", []), (*at, "args")),
        env=_pairs(document, data.get("env", {}), (*at, "env"), _is_variable, "names without '='"),
        cwd=_cwd(document, data["cwd"], (*at, "cwd")) if "cwd" in data else None,
        url=_url(document, data["url"], (*at, "url")) if is_http else None,
        headers=_headers(document, data.get("headers", {}), (*at, "headers")),
        trusted=data.get("trusted", False),
        enabled=data.get("enabled", not data.get("disabled", False)),
        seconds=_seconds(document, data.get("timeout", 60), (*at, "timeout")),
        origin=document.file,
    )


def _transport(document: Document, data: dict[str, Any], at: KeyPath) -> Transport:
    if "command" in data and "url" in data:
        document.fail((*at, "url"), "It stands beside a command.", _EITHER)
    said: set[Transport] = set()
    for key in ("type", "transport"):
        word = data.get(key)
        if word == "sse":
            detail = "The transport sse is not supported: use streamable HTTP."
            document.fail((*at, key), detail, ", ".join(_TRANSPORTS))
        if key in data:
            if not isinstance(word, str) or word not in _TRANSPORTS:
                document.fail((*at, key), "There is no such transport.", ", ".join(_TRANSPORTS))
            said.add(_TRANSPORTS[word])
    if len(said) == 2:
        document.fail((*at, "transport"), "It contradicts type.", "one of the two")
    transport: Transport = said.pop() if said else "http" if "url" in data else "stdio"
    needed = "url" if transport == "http" else "command"
    if needed not in data:
        document.fail((*at, needed), "It is missing.", _EITHER)
    return transport


def _args(document: Document, data: Any, at: KeyPath) -> tuple[str, ...]:
    words = document.typed(data, list, at, "a list of texts")
    return tuple(document.typed(word, str, at, "a list of texts") for word in words)


def _cwd(document: Document, data: Any, at: KeyPath) -> str:
    path = document.word(data, at)
    if not path.startswith("/"):
        document.fail(at, "It is not absolute; ~ and variables are not expanded.", "an absolute path")
    return path


def _pairs(
    document: Document, data: Any, at: KeyPath, is_name: Callable[[str], bool], allowed: str
) -> Mapping[str, str]:
    pairs: dict[str, str] = document.typed(data, dict, at, "an object of texts")
    for name, value in pairs.items():
        document.typed(name, str, at, allowed)
        document.typed(value, str, (*at, name), "text")
        if not is_name(name):
            document.fail((*at, name), "It cannot be a name here.", allowed)
    return pairs


def _is_variable(name: str) -> bool:
    return bool(name) and "=" not in name


def _headers(document: Document, data: Any, at: KeyPath) -> Mapping[str, str]:
    headers = _pairs(document, data, at, lambda name: bool(_HEADER.fullmatch(name)), "names of HTTP headers")
    for name, value in headers.items():
        _no_variable(document, value, (*at, name))
        if not value.isascii() or not value.replace("\t", " ").isprintable():
            document.fail((*at, name), "It holds what a header cannot hold.", "printable ASCII")
    return headers


def _url(document: Document, data: Any, at: KeyPath) -> str:
    url = document.word(data, at)
    _no_variable(document, url, at)
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or _NOT_PRINTED.search(url):
        document.fail(at, "It is no such address.", "http://… or https://…")
    return url


def _no_variable(document: Document, text: str, at: KeyPath) -> None:
    if "${" in text:
        document.fail(at, "Variables are not expanded.", "the value itself, without ${")


def _seconds(document: Document, data: Any, at: KeyPath) -> float:
    allowed = f"a number of seconds above 0, up to {SECONDS_AT_MOST}"
    if isinstance(data, bool) or not isinstance(data, int | float):
        document.fail(at, f"It is {word_for(data)}.", allowed)
    if not 0 < data <= SECONDS_AT_MOST:
        document.fail(at, "It is out of bounds.", allowed)
    return float(data)
