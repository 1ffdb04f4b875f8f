"""Definitions of MCP servers, and the reader of the files that hold them. No variable in them is expanded."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.value import Value
from pilothouse.tools.mcp.config_formats import entries_of
from pilothouse.tools.mcp.json_document import JsonDocument, KeyPath, type_name

Transport = Literal["stdio", "http"]

MAX_CALL_SECONDS = 3600
_MILLISECONDS_PER_SECOND = 1000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f]")
_EDITOR_VARIABLE = re.compile(r"\$\{(?:(?:input|env|command|config):|workspace|userHome|pathSeparator)[^}]*\}")
_ANY_VARIABLE = re.compile(r"\$\{[^}]*\}?")
_STDIO_KEYS = ("command", "args", "env", "cwd")
_HTTP_KEYS = ("url", "headers")
_FLAG_KEYS = ("trusted", "disabled", "enabled")
_TRANSPORTS: Mapping[str, Transport] = {
    "stdio": "stdio",
    "http": "http",
    "streamable_http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "local": "stdio",
    "remote": "http",
}


class MCPServerDefinition(Value):
    """An MCP server: a command to start, or an address."""

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = {}
    trusted: bool = False
    """Whether the server's read-only hints count."""
    enabled: bool = True
    seconds: float = 60
    """The time limit of one call."""
    origin: str = ""
    """The file that defines the server."""

    def __repr__(self) -> str:
        # The other fields may hold secrets.
        return f"MCPServerDefinition({self.name!r})"

    @property
    def transport(self) -> Transport:
        return "stdio" if self.url is None else "http"

    @property
    def digest(self) -> str:
        """A digest of everything that a person would have to agree to again after a change."""
        plain = msgspec.structs.replace(self, origin="")
        return hashlib.sha256(msgspec.json.encode(plain, order="deterministic")).hexdigest()


class Definitions(NamedTuple):
    """The usable servers of a file, and warnings about ignored parts of it."""

    servers: list[MCPServerDefinition]
    warnings: list[Reason]


def read_definitions(text: str, file: str) -> Definitions:
    """The servers of a file, in its order. Raises: InvalidInput with the error and the allowed values."""
    document = JsonDocument(text, file)
    servers: dict[str, MCPServerDefinition] = {}
    for name, data, key_path in entries_of(document):
        server = _mcp_server(document, name, data, key_path)
        if server is None:
            continue
        other = servers.setdefault(comparable_name(name), server)
        if other is not server:
            document.warn(Code.SERVER_NAME_TAKEN, key_path, name=name, other=other.name)
    return Definitions(list(servers.values()), document.warnings)


def mcp_server_warnings(text: str, file: str) -> list[Reason]:
    """Warnings about ignored parts of a file. Raises: InvalidInput."""
    return read_definitions(text, file).warnings


def comparable_name(name: str) -> str:
    """The name without the differences that a person could overlook."""
    return re.sub(r"[-_]", "", name).lower()


def _mcp_server(
    document: JsonDocument, name: str, data: dict[str, Any], key_path: KeyPath
) -> MCPServerDefinition | None:
    """The definition of an MCP server; None, with a warning, for one that cannot be used here."""
    if not _NAME.fullmatch(name) or "__" in name:
        document.warn(Code.SERVER_NAME, key_path, name=name)
        return None
    transport = _transport(document, name, data, key_path)
    if transport is None or _has_variable(document, name, data, key_path):
        return None
    is_http = transport == "http"
    for key in _STDIO_KEYS if is_http else _HTTP_KEYS:
        if key in data:
            document.warn(Code.IGNORED_KEY, (*key_path, key))
    for key in _FLAG_KEYS:
        document.checked(data.get(key, False), bool, (*key_path, key), "true, false")
    if "disabled" in data and "enabled" in data:
        document.fail((*key_path, "enabled"), "Both enabled and disabled are set.", "only one of them")
    settings = {key: value for key, value in data.items() if key in (_HTTP_KEYS if is_http else _STDIO_KEYS)}
    cwd = document.text(settings["cwd"], (*key_path, "cwd")) if "cwd" in settings else None
    if cwd is not None and not cwd.startswith("/"):
        document.warn(Code.SERVER_FOLDER, (*key_path, "cwd"), name=name)
        return None
    return MCPServerDefinition(
        name=name,
        command=None if is_http else document.text(settings["command"], (*key_path, "command")),
        args=_args(document, settings.get("args", []), (*key_path, "args")),
        env=_pairs(document, settings.get("env", {}), (*key_path, "env"), _is_variable_name, "names without '='"),
        cwd=cwd,
        url=_url(document, settings["url"], (*key_path, "url")) if is_http else None,
        headers=_headers(document, settings.get("headers", {}), (*key_path, "headers")),
        trusted=data.get("trusted", False),
        enabled=data.get("enabled", not data.get("disabled", False)),
        seconds=_seconds(document, data.get("timeout", 60), (*key_path, "timeout")),
        origin=document.file,
    )


def _transport(document: JsonDocument, name: str, data: dict[str, Any], key_path: KeyPath) -> Transport | None:
    """The transport to an MCP server; None, with a warning, where the server cannot be reached here."""
    if "command" in data and "url" in data:
        document.warn(Code.SERVER_TWO_TARGETS, (*key_path, "url"), name=name)
        return None
    transports: set[Transport] = set()
    for key in ("type", "transport"):
        if key in data:
            value = document.checked(data[key], str, (*key_path, key), ", ".join(_TRANSPORTS))
            if value not in _TRANSPORTS:
                document.warn(Code.SERVER_TRANSPORT, (*key_path, key), name=name, transport=value)
                return None
            transports.add(_TRANSPORTS[value])
    if len(transports) == 2:
        document.fail((*key_path, "transport"), "This key contradicts type.", "only one of them")
    transport: Transport = transports.pop() if transports else "http" if "url" in data else "stdio"
    required_key = "url" if transport == "http" else "command"
    if required_key not in data:
        document.warn(
            Code.SERVER_WITHOUT_TARGET, key_path, name=name, needed=required_key if transports else "command, url"
        )
        return None
    return transport


def _has_variable(document: JsonDocument, name: str, data: dict[str, Any], key_path: KeyPath) -> bool:
    """Whether an editor would fill in a variable. Addresses and headers must not hold any variable, because it would be
    sent to the server literally; a program may handle `${NAME}` itself."""
    for key in (*_STDIO_KEYS, *_HTTP_KEYS):
        pattern = _ANY_VARIABLE if key in _HTTP_KEYS else _EDITOR_VARIABLE
        for text in _texts(data.get(key)):
            variable = pattern.search(text)
            if variable is not None:
                document.warn(Code.SERVER_VARIABLE, (*key_path, key), name=name, variable=variable[0])
                return True
    return False


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _texts(value)


def _args(document: JsonDocument, data: Any, key_path: KeyPath) -> tuple[str, ...]:
    words = document.checked(data, list, key_path, "a list of texts")
    return tuple(document.checked(word, str, key_path, "a list of texts") for word in words)


def _pairs(
    document: JsonDocument, data: Any, key_path: KeyPath, is_name: Callable[[str], bool], allowed: str
) -> Mapping[str, str]:
    pairs: dict[str, str] = document.checked(data, dict, key_path, "an object of texts")
    for name, value in pairs.items():
        document.checked(name, str, key_path, allowed)
        document.checked(value, str, (*key_path, name), "text")
        if not is_name(name):
            document.fail((*key_path, name), "The name isn't valid here.", allowed)
    return pairs


def _is_variable_name(name: str) -> bool:
    return bool(name) and "=" not in name


def _headers(document: JsonDocument, data: Any, key_path: KeyPath) -> Mapping[str, str]:
    headers = _pairs(document, data, key_path, lambda name: bool(_HEADER.fullmatch(name)), "names of HTTP headers")
    for name, value in headers.items():
        if not value.isascii() or not value.replace("\t", " ").isprintable():
            document.fail((*key_path, name), "The value has characters that a header can't have.", "printable ASCII")
    return headers


def _url(document: JsonDocument, data: Any, key_path: KeyPath) -> str:
    url = document.text(data, key_path)
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or _UNPRINTABLE.search(url):
        document.fail(key_path, "The value isn't a valid URL.", "http://… or https://…")
    return url


def _seconds(document: JsonDocument, data: Any, key_path: KeyPath) -> float:
    """The time limit of a call. Values above an hour are taken for milliseconds, which some programs write."""
    allowed = f"a number of seconds above 0, up to {MAX_CALL_SECONDS}; more than that are milliseconds"
    if isinstance(data, bool) or not isinstance(data, int | float):
        document.fail(key_path, f"The value is {type_name(data)}.", allowed)
    seconds = data / _MILLISECONDS_PER_SECOND if data > MAX_CALL_SECONDS else data
    if not 0 < seconds <= MAX_CALL_SECONDS:
        document.fail(key_path, "The number is out of range.", allowed)
    return float(seconds)
