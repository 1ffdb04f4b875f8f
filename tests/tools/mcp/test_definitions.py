"""The file that names the servers: both of its forms, and every way in which it can be wrong."""

import json
from typing import Any

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.tools.mcp.definitions import ServerDefinition, read_definitions

STDIO = {
    "command": "run",
    "args": ["-x", "${HOME}"],
    "env": {"KEY": "${v}"},
    "cwd": "/w",
    "timeout": 5,
    "trusted": True,
}


def refused(data: Any) -> dict[str, Any]:
    text = data if isinstance(data, str) else json.dumps(data, indent=1)
    with pytest.raises(InvalidInput) as caught:
        read_definitions(text, "servers.json")
    assert caught.value.reason.code == Code.INVALID_CONFIG
    assert caught.value.reason.params["file"] == "servers.json"
    assert str(caught.value)
    return dict(caught.value.reason.params)


def one(**server: Any) -> dict[str, Any]:
    return {"mcpServers": {"a": server}}


def test_the_common_form_is_read_and_nothing_is_expanded() -> None:
    (local, remote) = read_definitions(
        json.dumps({"mcpServers": {"files": STDIO, "far-1": {"url": "https://x.test/mcp", "disabled": True}}}), "f"
    )
    assert local == ServerDefinition(
        name="files",
        command="run",
        args=("-x", "${HOME}"),
        env={"KEY": "${v}"},
        cwd="/w",
        trusted=True,
        seconds=5,
        origin="f",
    )
    assert local.transport == "stdio"
    assert (remote.transport, remote.url, remote.enabled, remote.trusted) == (
        "http",
        "https://x.test/mcp",
        False,
        False,
    )


@pytest.mark.parametrize("word", ["http", "streamable_http", "streamable-http"])
def test_the_lists_are_read(word: str) -> None:
    servers = [
        {"name": "a", "transport": "stdio", "command": "run"},
        {"name": "b", "transport": word, "url": "http://127.0.0.1:1/mcp", "headers": {"Authorization": "Bearer x"}},
    ]
    assert read_definitions(json.dumps({"servers": servers}), "f") == read_definitions(json.dumps(servers), "f")
    assert [server.transport for server in read_definitions(json.dumps(servers), "f")] == ["stdio", "http"]


def test_an_empty_file_of_servers_names_none() -> None:
    assert read_definitions('{"mcpServers": {}}', "f") == []
    assert read_definitions("[]", "f") == []


def test_the_digest_changes_with_all_but_the_origin_and_nothing_secret_is_shown() -> None:
    plain = ServerDefinition(name="a", command="run", env={"A": "1", "B": "2"}, origin="one")
    assert plain.digest == ServerDefinition(name="a", command="run", env={"B": "2", "A": "1"}, origin="two").digest
    changes: list[dict[str, Any]] = [{"name": "b"}, {"command": "r"}, {"args": ("x",)}, {"env": {"A": "2"}}]
    changes += [{"cwd": "/"}, {"trusted": True}, {"enabled": False}, {"seconds": 1.0}]
    known = {"name": "a", "command": "run", "env": {"A": "1", "B": "2"}}
    digests = {ServerDefinition(**{**known, **change}).digest for change in changes}
    assert len(digests | {plain.digest}) == len(changes) + 1
    assert "secret" not in repr(ServerDefinition(name="a", url="http://x", headers={"a": "secret"}))


@pytest.mark.parametrize(
    ("data", "key", "detail", "allowed"),
    [
        ("{", "-", "Expecting property name", "JSON"),
        ('{"mcpServers": {"a": {"command": NaN}}}', "-", "NaN", "JSON"),
        ("[" * 100_000, "-", "recursion", "JSON"),
        ('{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}', "a", "twice", "each key once"),
        ("7", "-", "something else", "mcpServers"),
        ({}, "-", "something else", "mcpServers"),
        ({"other": {}}, "other", "no such key", "mcpServers"),
        ({"mcpServers": []}, "mcpServers", "a list", "an object"),
        ({"servers": {}}, "servers", "an object", "a list"),
        ([{"command": "x"}], "name", "missing", "name"),
        (["x"], "-", "text", "an object"),
        ({"mcpServers": {"a b": {"command": "x"}}}, "mcpServers.a b", "no name", "1 to 40"),
        ({"mcpServers": {"a__b": {"command": "x"}}}, "mcpServers.a__b", "no name", "1 to 40"),
        ({"mcpServers": {"a" * 41: {"command": "x"}}}, "mcpServers." + "a" * 41, "no name", "1 to 40"),
        ({"mcpServers": {"my-s": {"command": "x"}, "My_S": {"command": "x"}}}, "My_S", "told from 'my-s'", "differ"),
        (one(command="x", colour="red"), "mcpServers.a.colour", "no such key", "command, args"),
        (one(), "mcpServers.a.command", "missing", "command for a program"),
        (one(type="http"), "mcpServers.a.url", "missing", "command for a program"),
        (one(command="x", url="http://x"), "mcpServers.a.url", "beside a command", "url for an address"),
        (one(command="x", headers={}), "mcpServers.a.headers", "has none", "command"),
        (one(url="http://x", env={}), "mcpServers.a.env", "has none", "url, headers"),
        (one(url="http://x", type="sse"), "mcpServers.a.type", "not supported: use streamable HTTP", "streamable_http"),
        (one(url="http://x", transport="ws"), "mcpServers.a.transport", "no such transport", "stdio, http"),
        (one(url="http://x", type="http", transport="stdio"), "mcpServers.a.transport", "contradicts", "one"),
        (one(command=7), "mcpServers.a.command", "a number", "text"),
        (one(command=" "), "mcpServers.a.command", "empty", "text"),
        (one(command="a\0b"), "mcpServers.a.command", "NUL", "without NUL"),
        (one(command="x", args="y"), "mcpServers.a.args", "text", "a list"),
        (one(command="x", args=[1]), "mcpServers.a.args", "a number", "a list of texts"),
        (one(command="x", args=["\0"]), "mcpServers.a.args", "NUL", "without NUL"),
        (one(command="x", env={"A": 1}), "mcpServers.a.env.A", "a number", "text"),
        (one(command="x", env={"A=B": "1"}), "mcpServers.a.env.A=B", "a name", "without '='"),
        (one(command="x", cwd="~/x"), "mcpServers.a.cwd", "not absolute", "absolute path"),
        (one(command="x", cwd=None), "mcpServers.a.cwd", "null", "text"),
        (one(command="x", trusted="yes"), "mcpServers.a.trusted", "text", "true, false"),
        (one(command="x", disabled=1), "mcpServers.a.disabled", "a number", "true, false"),
        (one(command="x", disabled=True, enabled=True), "mcpServers.a.enabled", "beside disabled", "one"),
        (one(command="x", timeout=True), "mcpServers.a.timeout", "true or false", "seconds above 0"),
        (one(command="x", timeout=60_000), "mcpServers.a.timeout", "out of bounds", "up to 3600"),
        (one(command="x", timeout=0), "mcpServers.a.timeout", "out of bounds", "above 0"),
        (one(url="ftp://x"), "mcpServers.a.url", "no such address", "http://"),
        (one(url="http://"), "mcpServers.a.url", "no such address", "http://"),
        (one(url="http://x:99999"), "mcpServers.a.url", "no such address", "http://"),
        (one(url="http://x/a b"), "mcpServers.a.url", "no such address", "http://"),
        (one(url="http://${HOST}/"), "mcpServers.a.url", "not expanded", "without ${"),
        (one(url="http://x", headers={"A": "${KEY}"}), "mcpServers.a.headers.A", "not expanded", "without ${"),
        (one(url="http://x", headers={"A": "x\r\nB: y"}), "mcpServers.a.headers.A", "cannot hold", "ASCII"),
        (one(url="http://x", headers={"A B": "x"}), "mcpServers.a.headers.A B", "a name", "HTTP headers"),
    ],
)
def test_what_is_wrong_is_said_with_what_is_allowed(data: Any, key: str, detail: str, allowed: str) -> None:
    said = refused(data)
    assert said["key"] == key
    assert detail in said["detail"]
    assert allowed in said["allowed"]


def test_the_line_is_named() -> None:
    assert refused({"mcpServers": {"a": {"command": "x"}, "b": {"command": "x", "colour": 1}}})["line"] == 8
    assert refused('{\n "mcpServers": {\n')["line"] == 3
