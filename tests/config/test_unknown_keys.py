"""Keys that are not known: ignored with a warning, unless a typing error could lift a restriction."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilothouse.app import build_runtime
from pilothouse.config.configuration import Configuration
from pilothouse.config.schema import ToolsFile, UserFile
from pilothouse.config.trust import Trust
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.spelling import suggest_key
from pilothouse.i18n import translate
from pilothouse.settings import read_settings
from pilothouse.storage.memory import MemoryStore
from pilothouse.tools.mcp.definitions import mcp_server_warnings

DATA = Path(__file__).parents[1] / "data/config"


def configured(folder: Path, **files: str) -> Configuration:
    """Files by their name without an ending."""
    for name, text in files.items():
        ending = "json" if name == "mcp_servers" else "toml"
        path = folder / f"{name}.{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    environment = {"PILOTHOUSE_CONFIG": str(folder / "config.toml"), "PILOTHOUSE_DATA_DIR": str(folder / "data")}
    configuration = read_settings(environment).configuration
    configuration.read_mcp_server_warnings = mcp_server_warnings
    return configuration


def ignored(configuration: Configuration, workspace: str | None = None) -> list[tuple[str, int, str]]:
    return [
        (Path(str(warning.params["file"])).name, warning.params["line"], warning.params["key"])
        for warning in configuration.warnings(workspace)
    ]


def test_the_documented_example_works_unchanged(tmp_path: Path) -> None:
    configuration = configured(tmp_path, config="", tools=(DATA / "tools.toml").read_text())
    steering = configuration.workspace_policy(None)
    assert steering.disabled == frozenset({"system_control"})
    assert steering.always_ask == frozenset({"file_system"})
    assert steering.command_lists == ((("ls",), ("pwd",)),)
    assert ignored(configuration) == [
        ("tools.toml", 9, "tools.codebase.index_on_startup"),
        ("tools.toml", 16, "tools.mcp.auto_discover"),
        ("tools.toml", 17, "tools.mcp.servers"),
    ]
    settings = read_settings(
        {"PILOTHOUSE_CONFIG": str(tmp_path / "config.toml")}, model="demo", data_dir=str(tmp_path / "data")
    )
    build_runtime(settings, {}, store=MemoryStore())


def test_unknown_keys_are_reported_with_file_and_line_and_change_nothing(
    tmp_path: Path,
) -> None:
    configuration = configured(
        tmp_path,
        config='mode = "ask"\napproval_policy = "never"\n[[hooks]]\nrun = "x"\n[server]\ntls = true\n'
        "[limits]\nrounds = 7\nfiles = 3\n[sandbox.network]\nallow = true\n[models.x]\ncache = 1\n",
        tools="version = 2\n[tools.mcp]\nenabled = false\nlazy = true\n",
    )
    assert ignored(configuration) == [
        ("config.toml", 2, "approval_policy"),
        ("config.toml", 3, "hooks"),
        ("config.toml", 10, "sandbox"),
        ("config.toml", 9, "limits.files"),
        ("config.toml", 6, "server.tls"),
        ("config.toml", 13, "models.x.cache"),
        ("tools.toml", 1, "version"),
        ("tools.toml", 4, "tools.mcp.lazy"),
    ]
    assert (configuration.workspace_policy(None).mode, configuration.file.limits.rounds) == ("ask", 7)
    assert configuration.workspace_policy(None).disabled == frozenset({"mcp"})
    for language in ("en", "zh"):
        assert f"{tmp_path / 'config.toml'}" in translate(configuration.warnings()[0], language)


@pytest.mark.parametrize(
    ("name", "text", "key"),
    [
        ("config", "aproval = {}", "aproval"),
        ("config", "Approval = {}", "Approval"),
        ("config", '[approval]\nalways-ask = ["delete"]', "approval.always-ask"),
        ("config", "[approval]\nanything = 1", "approval.anything"),
        ("config", '[[rules]]\neffect = "deny"\npath = "x"', "rules.0.path"),
        ("config", '[[rule]]\neffect = "deny"', "rule"),
        ("config", "[modes.mine]\nforbids = []", "modes.mine.forbids"),
        ("config", '[directory]\ndeploy = "plan"', "directory"),
        ("config", '[directories]\ndeploy = "readonly"', "directories.deploy"),
        ("config", 'moed = "plan"', "moed"),
        ("config", 'md = "plan"', "md"),
        ("config", "[limits]\nturn_cots = 1", "limits.turn_cots"),
        ("config", '[server]\ncompletion_mode = "ask"', "server.completion_mode"),
        ("config", "[tools.execute]\nenabled = false", "tools"),
        ("tools", "[tools.execute]\nallowlist = []", "tools.execute.allowlist"),
        ("tools", "[tools.system]\nallowlist = []", "tools.system.allowlist"),
        ("tools", "[tools.edit_file]\nrequireApproval = true", "tools.edit_file.requireApproval"),
        ("tools", "[tools.edit_file]\nenable = false", "tools.edit_file.enable"),
        ("tools", "[tool.edit_file]\nenabled = false", "tool"),
        ("tools", '[[rules]]\neffect = "deny"', "rules"),
        ("personas/x", '[tools]\ndeny = ["execute"]', "tools.deny"),
        ("personas/x", '[tolls]\ndenied = ["execute"]', "tolls"),
    ],
)
def test_a_typing_error_never_lifts_a_restriction(tmp_path: Path, name: str, text: str, key: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        configured(tmp_path, **{name: text})
    assert caught.value.reason.code is Code.INVALID_CONFIG
    assert caught.value.reason.params["key"] == key


def test_a_table_for_a_misspelt_tool_is_refused_and_one_for_an_unknown_tool_reported(tmp_path: Path) -> None:
    for text, is_refused in (("[tools.exceute]\nenabled = false", True), ("[tools.browser]\nenabled = false", False)):
        configuration = configured(tmp_path, tools=text)
        if is_refused:
            with pytest.raises(InvalidInput, match="Did you mean 'execute'"):
                configuration.check_tools(["execute", "read_file"], ["mcp"])
        else:
            configuration.check_tools(["execute", "read_file"], ["mcp"])
            assert ignored(configuration) == [("tools.toml", 1, "tools.browser")]


NAMED_TOOLS = [
    ('[[rules]]\neffect = "deny"\ntool = "{}"\n', 3, "rules.0.tool"),
    ('[modes.x]\nwithholds = ["read_file", "{}"]\n', 2, "modes.x.withholds"),
    ('[approval]\npolicy = "white_list"\ntools = ["{}"]\n', 3, "approval.tools"),
]


@pytest.mark.parametrize(("text", "line", "key"), NAMED_TOOLS)
def test_a_tool_that_does_not_exist_is_refused_wherever_it_is_named(
    tmp_path: Path, text: str, line: int, key: str
) -> None:
    for name in ("excute", "browser"):
        with pytest.raises(InvalidInput, match=name) as caught:
            configured(tmp_path, config=text.format(name)).check_tools(["read_file", "execute"], ["mcp"])
        params = caught.value.reason.params
        assert (params["file"], params["line"], params["key"]) == (str(tmp_path / "config.toml"), line, key)
        if name == "excute":
            assert params["allowed"] == "execute, read_file", "the nearest first"
    for name in ("execute", "docs__find"):
        configured(tmp_path, config=text.format(name)).check_tools(["read_file", "execute"], ["mcp"])


def test_a_rule_about_every_tool_names_none(tmp_path: Path) -> None:
    configured(tmp_path, config='[[rules]]\neffect = "deny"\ntool = "*"\n').check_tools(["execute"], ["mcp"])


def test_a_trusted_folder_whose_rule_misspells_a_tool_is_refused_also_later(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    rule = '[[rules]]\neffect = "deny"\ntool = "{}"\n'
    configured(folder / ".pilothouse", config=rule.format("excute"))
    configuration = configured(tmp_path / "own", config="")
    configuration.trust(str(folder), configuration.status(str(folder)).digest)
    configuration.check_tools(["execute"], ["mcp"])
    with pytest.raises(InvalidInput, match="excute"):
        configuration.workspace_policy(str(folder))
    configured(folder / ".pilothouse", config=rule.format("deploy"))
    configuration.trust(str(folder), configuration.status(str(folder)).digest)
    assert ignored(configuration, str(folder)) == [("config.toml", 3, "rules.0.tool")], "others may have such a tool"


def test_a_folders_files_are_read_by_the_same_rule(tmp_path: Path) -> None:
    configuration = configured(tmp_path / "own", config="")
    configuration.check_tools(["execute"], ["mcp"])
    folder = tmp_path / "project"
    configured(
        folder / ".pilothouse",
        config='mode = "ask"\nopenai_api_key = "x"\n',
        tools="[tools.browser]\nenabled = false\n",
        mcp_servers='{"servers": {"a": {"command": "${input:x}"}}, "inputs": []}',
    )
    configuration.trust(str(folder), configuration.status(str(folder)).digest)
    assert configuration.workspace_policy(str(folder)).mode == "ask"
    assert ignored(configuration, str(folder)) == [
        ("config.toml", 2, "openai_api_key"),
        ("tools.toml", 1, "tools.browser"),
        ("mcp_servers.json", 1, "inputs"),
        ("mcp_servers.json", 1, "servers.a.command"),
    ]
    assert ignored(configuration) == [], "those of a folder are told in that folder"
    (folder / ".pilothouse/tools.toml").write_text("[tools.exceute]\nenabled = false\n")
    with pytest.raises(InvalidInput, match="exceute"):
        configuration.trust(str(folder), configuration.status(str(folder)).digest)


def test_comments_do_not_hide_the_programs_that_a_folders_servers_are_started_with(tmp_path: Path) -> None:
    configuration = Configuration(tmp_path / "own/config.toml")
    configuration.trust_store = Trust(tmp_path / "trust.json", lambda: "2026-01-01T00:00:00Z")
    (tmp_path / "project/.pilothouse").mkdir(parents=True)
    (tmp_path / "project/server.py").write_text("one")
    servers = '{"mcpServers": {"a": {"command": "python", "args": ["server.py"],},},} // ours'
    (tmp_path / "project/.pilothouse/mcp_servers.json").write_text(servers)
    folder = str(tmp_path / "project")
    configuration.trust(folder, configuration.status(folder).digest)
    assert configuration.has_unchanged_programs(folder)
    (tmp_path / "project/server.py").write_text("two")
    assert not configuration.has_unchanged_programs(folder)


def test_a_mark_of_the_byte_order_and_line_ends_of_windows_are_fine(tmp_path: Path) -> None:
    texts = {"config": 'mode = "ask"\ncolour = 1\n', "tools": "[tools.mcp]\nenabled = false\n"}
    configuration = configured(
        tmp_path, **{name: "\ufeff" + text.replace("\n", "\r\n") for name, text in texts.items()}
    )
    assert (configuration.workspace_policy(None).mode, configuration.workspace_policy(None).disabled) == (
        "ask",
        frozenset({"mcp"}),
    )
    assert ignored(configuration) == [("config.toml", 2, "colour")]


def test_a_set_up_that_a_later_version_has_stored_is_read(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    stored = '{"base_url": "http://x.test/v1", "key": "k", "model": "m", "region": "eu"}'
    (tmp_path / "data/credentials.json").write_text(stored)
    settings = read_settings(
        {"PILOTHOUSE_CONFIG": str(tmp_path / "none.toml"), "PILOTHOUSE_DATA_DIR": str(tmp_path / "data")}
    )
    assert (settings.model.name, settings.base_url) == ("m", "http://x.test/v1")


KNOWN = sorted({*UserFile.__struct_fields__, *ToolsFile.__struct_fields__})


@given(st.sampled_from([each for each in KNOWN if len(each) >= 6]), st.data())
def test_up_to_two_typing_errors_in_a_long_key_are_seen(key: str, data: st.DataObject) -> None:
    wrong = key
    for _ in range(data.draw(st.integers(1, 2))):
        at = data.draw(st.integers(0, len(wrong) - 1))
        letter = data.draw(st.sampled_from("abcxyz_"))
        wrong = data.draw(
            st.sampled_from(
                [
                    wrong[:at] + wrong[at + 1 :],
                    wrong[:at] + letter + wrong[at:],
                    wrong[:at] + letter + wrong[at + 1 :],
                    wrong[:at] + wrong[at : at + 2][::-1] + wrong[at + 2 :],
                ]
            )
        )
    assert suggest_key(wrong, [key]) == key


@pytest.mark.parametrize("key", ["hooks", "tls", "theme", "profiles", "sandbox", "x" * 10_000, ""])
def test_words_of_their_own_are_no_typing_errors(key: str) -> None:
    assert suggest_key(key, KNOWN, UserFile.restrictions) is None
