"""The file of MCP servers: the forms that programs write, and every possible mistake."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.jsonc import plain_json
from pilothouse.i18n import translate
from pilothouse.tools.mcp.definitions import MCPServerDefinition, read_definitions

DATA = Path(__file__).parents[2] / "data/config"
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
    (local, remote), warnings = read_definitions(
        json.dumps({"mcpServers": {"files": STDIO, "far-1": {"url": "https://x.test/mcp", "disabled": True}}}), "f"
    )
    assert warnings == []
    assert local == MCPServerDefinition(
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
    assert [server.transport for server in read_definitions(json.dumps(servers), "f").servers] == ["stdio", "http"]


def test_an_empty_file_of_servers_names_none() -> None:
    for text in ('{"mcpServers": {}}', "[]", "{}", '{"servers": {}}'):
        assert read_definitions(text, "f") == ([], [])


def test_the_digest_changes_with_all_but_the_origin_and_nothing_secret_is_shown() -> None:
    plain = MCPServerDefinition(name="a", command="run", env={"A": "1", "B": "2"}, origin="one")
    assert plain.digest == MCPServerDefinition(name="a", command="run", env={"B": "2", "A": "1"}, origin="two").digest
    changes: list[dict[str, Any]] = [{"name": "b"}, {"command": "r"}, {"args": ("x",)}, {"env": {"A": "2"}}]
    changes += [{"cwd": "/"}, {"trusted": True}, {"enabled": False}, {"seconds": 1.0}]
    definition = {"name": "a", "command": "run", "env": {"A": "1", "B": "2"}}
    digests = {MCPServerDefinition(**{**definition, **change}).digest for change in changes}
    assert len(digests | {plain.digest}) == len(changes) + 1
    assert "secret" not in repr(MCPServerDefinition(name="a", url="http://x", headers={"a": "secret"}))


@pytest.mark.parametrize(
    ("data", "key", "detail", "allowed"),
    [
        ("{", "-", "Expecting property name", "JSON"),
        ('{"mcpServers": {"a": {"command": NaN}}}', "-", "NaN", "JSON"),
        ("[" * 100_000, "-", "recursion", "JSON"),
        ('{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}', "a", "twice", "each key once"),
        ("7", "-", "a number", "mcpServers"),
        ({"mcpServer": {}}, "mcpServer", "Did you mean 'mcpServers'?", "mcpServers"),
        ({"mcpServers": 7}, "mcpServers", "a number", "an object"),
        ([{"command": "x"}], "name", "missing", "name"),
        (["x"], "-", "text", "an object"),
        (one(url="http://x", type="http", transport="stdio"), "mcpServers.a.transport", "contradicts", "one"),
        (one(command=7), "mcpServers.a.command", "a number", "text"),
        (one(command=" "), "mcpServers.a.command", "empty", "text"),
        (one(command="a\0b"), "mcpServers.a.command", "NUL", "without NUL"),
        (one(command="x", args="y"), "mcpServers.a.args", "text", "a list"),
        (one(command="x", args=[1]), "mcpServers.a.args", "a number", "a list of texts"),
        (one(command="x", args=["\0"]), "mcpServers.a.args", "NUL", "without NUL"),
        (one(command="x", env={"A": 1}), "mcpServers.a.env.A", "a number", "text"),
        (one(command="x", env={"A=B": "1"}), "mcpServers.a.env.A=B", "The name isn't valid", "without '='"),
        (one(command="x", trusted="yes"), "mcpServers.a.trusted", "text", "true, false"),
        (one(command="x", disabled=1), "mcpServers.a.disabled", "a number", "true, false"),
        (one(command="x", disabled=True, enabled=True), "mcpServers.a.enabled", "Both enabled and disabled", "one"),
        (one(command="x", timeout=True), "mcpServers.a.timeout", "true or false", "seconds above 0"),
        (one(command="x", colours="red", argss=[]), "mcpServers.a.argss", "Did you mean 'args'?", "command, args"),
        (one(command="x", timeout=3_600_001), "mcpServers.a.timeout", "out of range", "up to 3600"),
        (one(command="x", timeout=0), "mcpServers.a.timeout", "out of range", "above 0"),
        (one(url="ftp://x"), "mcpServers.a.url", "isn't a valid URL", "http://"),
        (one(url="http://"), "mcpServers.a.url", "isn't a valid URL", "http://"),
        (one(url="http://x:99999"), "mcpServers.a.url", "isn't a valid URL", "http://"),
        (one(url="http://x/a b"), "mcpServers.a.url", "isn't a valid URL", "http://"),
        (one(url="http://x", headers={"A": "x\r\nB: y"}), "mcpServers.a.headers.A", "a header can't have", "ASCII"),
        (one(url="http://x", headers={"A B": "x"}), "mcpServers.a.headers.A B", "The name isn't valid", "HTTP headers"),
    ],
)
def test_a_wrong_definition_is_refused_with_the_allowed_values(data: Any, key: str, detail: str, allowed: str) -> None:
    problem = refused(data)
    assert problem["key"] == key
    assert detail in problem["detail"]
    assert allowed in problem["allowed"]


def test_the_line_is_named() -> None:
    assert refused({"mcpServers": {"a": {"command": "x"}, "b": {"command": "x", "comand": 1}}})["line"] == 8
    assert refused('{\n "mcpServers": {\n')["line"] == 3


@pytest.mark.parametrize(
    ("server", "code", "key"),
    [
        ({"args": ["x"]}, Code.SERVER_WITHOUT_TARGET, "mcpServers.a"),
        ({"type": "http"}, Code.SERVER_WITHOUT_TARGET, "mcpServers.a"),
        ({"command": None}, Code.SERVER_WITHOUT_TARGET, "mcpServers.a"),
        ({"command": "x", "url": "http://x"}, Code.SERVER_TWO_TARGETS, "mcpServers.a.url"),
        ({"command": "x", "env": {}, "environment": {}}, Code.SERVER_KEY_TWICE, "mcpServers.a.environment"),
        ({"url": "http://x", "httpUrl": "http://y"}, Code.SERVER_KEY_TWICE, "mcpServers.a.httpUrl"),
        ({"httpUrl": "http://x", "serverUrl": "http://y"}, Code.SERVER_KEY_TWICE, "mcpServers.a.serverUrl"),
        ({"command": {"path": "x", "args": []}, "args": []}, Code.SERVER_KEY_TWICE, "mcpServers.a.command.args"),
        ({"command": {"path": "x", "env": {}}, "environment": {}}, Code.SERVER_KEY_TWICE, "mcpServers.a.command.env"),
        ({"url": "http://x", "type": "sse"}, Code.SERVER_TRANSPORT, "mcpServers.a.type"),
        ({"url": "http://x", "transport": "ws"}, Code.SERVER_TRANSPORT, "mcpServers.a.transport"),
        ({"command": "x", "cwd": "~/x"}, Code.SERVER_FOLDER, "mcpServers.a.cwd"),
        ({"command": "x", "env": {"KEY": "${input:key}"}}, Code.SERVER_VARIABLE, "mcpServers.a.env"),
        ({"command": "x", "args": ["${workspaceFolder}/y"]}, Code.SERVER_VARIABLE, "mcpServers.a.args"),
        ({"command": "${env:HOME}/x"}, Code.SERVER_VARIABLE, "mcpServers.a.command"),
        ({"url": "http://${HOST}/"}, Code.SERVER_VARIABLE, "mcpServers.a.url"),
        ({"url": "http://x", "headers": {"A": "${KEY}"}}, Code.SERVER_VARIABLE, "mcpServers.a.headers"),
    ],
)
def test_a_server_that_cannot_be_used_is_left_out_and_the_others_start(server: Any, code: Code, key: str) -> None:
    definitions = read_definitions(json.dumps({"mcpServers": {"a": server, "b": {"command": "x"}}}), "f.json")
    assert [each.name for each in definitions.servers] == ["b"]
    assert [(each.code, each.params["key"]) for each in definitions.warnings] == [(code, key)]
    for language in ("en", "zh"):
        sentence = translate(definitions.warnings[0], language)
        assert "f.json" in sentence
        assert "(" not in sentence, "every parameter has its value"


@pytest.mark.parametrize("name", ["a b", "a__b", "a" * 41, "io.github.x/y", ""])
def test_a_server_whose_name_cannot_be_used_is_left_out(name: str) -> None:
    definitions = read_definitions(json.dumps({"mcpServers": {name: {"command": "x"}, "b": {"command": "x"}}}), "f")
    assert [each.name for each in definitions.servers] == ["b"]
    assert [each.code for each in definitions.warnings] == [Code.SERVER_NAME]


def test_of_two_equivalent_server_names_the_first_counts() -> None:
    definitions = read_definitions(
        json.dumps({"mcpServers": {"my-s": {"command": "x"}, "My_S": {"command": "y"}}}), "f"
    )
    assert [(each.name, each.command) for each in definitions.servers] == [("my-s", "x")]
    assert [(each.code, each.params["other"]) for each in definitions.warnings] == [(Code.SERVER_NAME_TAKEN, "my-s")]


def test_the_documented_example_works_unchanged() -> None:
    text = (DATA / "mcp_servers.json").read_text()
    definitions = read_definitions(text, "f")
    assert [(each.name, each.command, each.args) for each in definitions.servers] == [
        ("filesystem", "mcp-server-filesystem", ("--workspace", "/path/to/workspace")),
        ("github", "mcp-server-github", ()),
        ("custom-tools", "python", ("-m", "my_mcp_server")),
    ]
    assert definitions.servers[1].env == {"GITHUB_TOKEN": "..."}
    assert [(each.params["key"], each.params["line"]) for each in definitions.warnings] == [
        ("servers.filesystem.capabilities", 8),
        ("servers.github.capabilities", 16),
        ("servers.custom-tools.capabilities", 22),
    ]


FOREIGN: list[tuple[str, str, list[str]]] = [
    (
        "VS Code",
        """{
          // Asked for at the first start.
          "inputs": [{"type": "promptString", "id": "key", "password": true}],
          "servers": {
            "files": {"type": "stdio", "command": "run", "args": ["-x"], "envFile": "/x/.env",},
            "far": {"type": "http", "url": "https://x.test/mcp", "headers": {"Authorization": "${input:key}"}},
          },
        }""",
        ["inputs", "servers.files.envFile", "servers.far.headers"],
    ),
    (
        "the settings of VS Code",
        '{"editor.fontSize": 12, "mcp": {"inputs": [], "servers": {"files": {"command": "run", "args": ["-x"]}}}}',
        ["editor.fontSize", "mcp.inputs"],
    ),
    (
        "Cline",
        """{"mcpServers": {"files": {"command": "run", "args": ["-x"], "disabled": false, "timeout": 60,
          "transportType": "stdio", "autoApprove": ["write"], "alwaysAllow": []}}}""",
        ["mcpServers.files.autoApprove"],
    ),
    (
        "Gemini",
        """{"theme": "dark", "mcpServers": {
          "files": {"command": "run", "args": ["-x"], "trust": true, "timeout": 30000, "includeTools": ["a"]},
          "far": {"httpUrl": "https://x.test/mcp", "url": null}}}""",
        ["theme", "mcpServers.files.trust", "mcpServers.files.includeTools"],
    ),
    (
        "opencode",
        """{"$schema": "https://x.test/config.json", "server": {"port": 1}, "mcp": {
          "files": {"type": "local", "command": ["run", "-x"], "environment": {}, "enabled": true},
          "far": {"type": "remote", "url": "https://x.test/mcp", "oauth": {}}}}""",
        ["server", "mcp.far.oauth"],
    ),
    (
        "Zed",
        """{"context_servers": {
          "files": {"source": "custom", "command": {"path": "run", "args": ["-x"], "env": null}, "settings": {}}}}""",
        ["context_servers.files.source", "context_servers.files.settings"],
    ),
    (
        "Windsurf",
        '{"mcpServers": {"files": {"command": "run", "args": ["-x"]}, "far": {"serverUrl": "https://x.test/mcp"}}}',
        [],
    ),
]


@pytest.mark.parametrize(("text", "ignored"), [each[1:] for each in FOREIGN], ids=[each[0] for each in FOREIGN])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_the_file_of_another_program_is_read_and_unknown_keys_are_reported(
    text: str, ignored: list[str], ends: str
) -> None:
    definitions = read_definitions(text.replace("\n", ends), "f")
    files = definitions.servers[0]
    assert (files.name, files.command, files.args, files.transport) == ("files", "run", ("-x",), "stdio")
    assert [each.url for each in definitions.servers[1:]] in ([], ["https://x.test/mcp"])
    assert [each.params["key"] for each in definitions.warnings] == ignored
    assert not any(each.trusted for each in definitions.servers)
    assert files.seconds in (30, 60)


def test_permissions_in_another_programs_file_are_ignored() -> None:
    grants = {"autoApprove": ["*"], "alwaysAllow": ["x"], "trust": True}
    definitions = read_definitions(json.dumps(one(command="run", **grants)), "f")
    assert definitions.servers == [MCPServerDefinition(name="a", command="run", origin="f")]
    assert [each.code for each in definitions.warnings] == [Code.IGNORED_GRANT] * 3


def test_a_key_that_belongs_to_the_other_kind_of_server_is_ignored() -> None:
    definitions = read_definitions(json.dumps({"a": 1, **one(url="http://x", env={"A": "b"}, args=[])}), "f")
    assert definitions.servers[0].env == {}
    assert [each.params["key"] for each in definitions.warnings] == ["a", "mcpServers.a.args", "mcpServers.a.env"]


@given(st.recursive(st.none() | st.booleans() | st.text() | st.integers(), lambda inner: st.lists(inner)))
def test_comments_and_trailing_commas_do_not_change_the_json(data: Any) -> None:
    text = json.dumps(data, indent=1, ensure_ascii=False)
    assert json.loads(plain_json(text)) == data
    commented = "/* a, ] */" + text.replace("\n", " // b ]\n").replace(" // b ]\n]", ", // c }\n]")
    assert plain_json(commented).count("\n") == commented.count("\n")
    if '"' not in text and "[]" not in text:
        assert json.loads(plain_json(commented + "//")) == data
