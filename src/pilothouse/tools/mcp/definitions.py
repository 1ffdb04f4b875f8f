"""How a server is reached, as a person wrote it down, and the reading of such a file. Nothing in it is expanded."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.values import Value
from pilothouse.tools.mcp.document import Document, KeyPath, word_for
from pilothouse.tools.mcp.file_forms import entries_of

Transport = Literal["stdio", "http"]

SECONDS_AT_MOST = 3600
_MILLISECONDS = 1000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_NOT_PRINTED = re.compile(r"[\x00-\x20\x7f]")
_EDITOR_VARIABLE = re.compile(r"\$\{(?:(?:input|env|command|config):|workspace|userHome|pathSeparator)[^}]*\}")
_ANY_VARIABLE = re.compile(r"\$\{[^}]*\}?")
_STDIO_KEYS = ("command", "args", "env", "cwd")
_HTTP_KEYS = ("url", "headers")
_FLAGS = ("trusted", "disabled", "enabled")
_TRANSPORTS: Mapping[str, Transport] = {
    "stdio": "stdio",
    "http": "http",
    "streamable_http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "local": "stdio",
    "remote": "http",
}


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


class Definitions(NamedTuple):
    """The usable servers of a file, and what of the file is ignored."""

    servers: list[ServerDefinition]
    warnings: list[Reason]


def read_definitions(text: str, file: str) -> Definitions:
    """The servers of a file, in its order. Raises: InvalidInput, saying what is wrong and what is allowed."""
    document = Document(text, file)
    servers: dict[str, ServerDefinition] = {}
    for name, data, at in entries_of(document):
        server = _server(document, name, data, at)
        if server is None:
            continue
        other = servers.setdefault(plain_name(name), server)
        if other is not server:
            document.warn(Code.SERVER_NAME_TAKEN, at, name=name, other=other.name)
    return Definitions(list(servers.values()), document.warnings)


def server_warnings(text: str, file: str) -> list[Reason]:
    """What of a file is ignored. Raises: InvalidInput."""
    return read_definitions(text, file).warnings


def plain_name(name: str) -> str:
    """The same for names that a person could take for one another."""
    return re.sub(r"[-_]", "", name).lower()


def _server(document: Document, name: str, data: dict[str, Any], at: KeyPath) -> ServerDefinition | None:
    """None, with a warning, for a server that cannot be used here."""
    if not _NAME.fullmatch(name) or "__" in name:
        document.warn(Code.SERVER_NAME, at, name=name)
        return None
    transport = _transport(document, name, data, at)
    if transport is None or _has_variable(document, name, data, at):
        return None
    is_http = transport == "http"
    for key in _STDIO_KEYS if is_http else _HTTP_KEYS:
        if key in data:
            document.warn(Code.IGNORED_KEY, (*at, key))
    for key in _FLAGS:
        document.typed(data.get(key, False), bool, (*at, key), "true, false")
    if "disabled" in data and "enabled" in data:
        document.fail((*at, "enabled"), "It stands beside disabled.", "one of the two")
    own = {key: value for key, value in data.items() if key in (_HTTP_KEYS if is_http else _STDIO_KEYS)}
    cwd = document.word(own["cwd"], (*at, "cwd")) if "cwd" in own else None
    if cwd is not None and not cwd.startswith("/"):
        document.warn(Code.SERVER_FOLDER, (*at, "cwd"), name=name)
        return None
    return ServerDefinition(
        name=name,
        command=None if is_http else document.word(own["command"], (*at, "command")),
        args=_args(document, own.get("args", []), (*at, "args")),
        env=_pairs(document, own.get("env", {}), (*at, "env"), _is_variable, "names without '='"),
        cwd=cwd,
        url=_url(document, own["url"], (*at, "url")) if is_http else None,
        headers=_headers(document, own.get("headers", {}), (*at, "headers")),
        trusted=data.get("trusted", False),
        enabled=data.get("enabled", not data.get("disabled", False)),
        seconds=_seconds(document, data.get("timeout", 60), (*at, "timeout")),
        origin=document.file,
    )


def _transport(document: Document, name: str, data: dict[str, Any], at: KeyPath) -> Transport | None:
    """None, with a warning, where the server cannot be reached here."""
    if "command" in data and "url" in data:
        document.warn(Code.SERVER_TWO_TARGETS, (*at, "url"), name=name)
        return None
    said: set[Transport] = set()
    for key in ("type", "transport"):
        if key in data:
            word = document.typed(data[key], str, (*at, key), ", ".join(_TRANSPORTS))
            if word not in _TRANSPORTS:
                document.warn(Code.SERVER_TRANSPORT, (*at, key), name=name, transport=word)
                return None
            said.add(_TRANSPORTS[word])
    if len(said) == 2:
        document.fail((*at, "transport"), "It contradicts type.", "one of the two")
    transport: Transport = said.pop() if said else "http" if "url" in data else "stdio"
    needed = "url" if transport == "http" else "command"
    if needed not in data:
        document.warn(Code.SERVER_WITHOUT_TARGET, at, name=name, needed=needed if said else "command, url")
        return None
    return transport


def _has_variable(document: Document, name: str, data: dict[str, Any], at: KeyPath) -> bool:
    """Whether an editor would fill something in. Addresses and headers hold no other variable either: it would be sent
    to somebody as it stands. A program may know what to do with `${NAME}`."""
    for key in (*_STDIO_KEYS, *_HTTP_KEYS):
        pattern = _ANY_VARIABLE if key in _HTTP_KEYS else _EDITOR_VARIABLE
        for text in _texts(data.get(key)):
            variable = pattern.search(text)
            if variable is not None:
                document.warn(Code.SERVER_VARIABLE, (*at, key), name=name, variable=variable[0])
                return True
    return False


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _texts(value)


def _args(document: Document, data: Any, at: KeyPath) -> tuple[str, ...]:
    words = document.typed(data, list, at, "a list of texts")
    return tuple(document.typed(word, str, at, "a list of texts") for word in words)


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
        if not value.isascii() or not value.replace("\t", " ").isprintable():
            document.fail((*at, name), "It holds what a header cannot hold.", "printable ASCII")
    return headers


def _url(document: Document, data: Any, at: KeyPath) -> str:
    url = document.word(data, at)
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or _NOT_PRINTED.search(url):
        document.fail(at, "It is no such address.", "http://… or https://…")
    return url


def _seconds(document: Document, data: Any, at: KeyPath) -> float:
    """Some programs count in milliseconds: nobody means more than an hour."""
    allowed = f"a number of seconds above 0, up to {SECONDS_AT_MOST}; more than that are milliseconds"
    if isinstance(data, bool) or not isinstance(data, int | float):
        document.fail(at, f"It is {word_for(data)}.", allowed)
    seconds = data / _MILLISECONDS if data > SECONDS_AT_MOST else data
    if not 0 < seconds <= SECONDS_AT_MOST:
        document.fail(at, "It is out of bounds.", allowed)
    return float(seconds)
