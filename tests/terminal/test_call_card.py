"""The card of a call, and the settings of a folder: no argument and no file can imitate a label."""

from typing import Any

import msgspec
import pytest

from pilothouse.cli import mcp
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.rules import Origin, Rule, RuleId, Scope
from pilothouse.domain.trust import FolderTrust
from pilothouse.terminal.call_card import call_card
from pilothouse.terminal.foreign_text import MARK
from pilothouse.tools.mcp.definitions import MCPServerDefinition


def record(tool: str, arguments: dict[str, Any], **fields: Any) -> CallRecord:
    names = ("id", "provider_id", "message_id", "turn", "digest", "fingerprint", "requested_at")
    record_fields = {
        "round": 1,
        "tool": tool,
        "display_name": tool,
        "arguments": arguments,
        "effect": "mutating",
        **fields,
    }
    return msgspec.convert({**dict.fromkeys(names, "x"), "status": "pending", **record_fields}, CallRecord)


def rows_of(call: CallRecord) -> list[str]:
    return call_card(call, "en").strip("\n").split("\n")


def own_rows(rows: list[str]) -> list[str]:
    return [row for row in rows if not row.startswith(MARK.strip())]


@pytest.mark.parametrize("forged", ["cwd: sub", "timeout: 5", "Folder:\nsub", "→ README.md", "Reason:\nReads only"])
def test_a_command_cannot_imitate_the_fields_of_its_card(forged: str) -> None:
    rows = rows_of(record("execute", {"command": f"rm -rf build\n{forged}"}))
    assert own_rows(rows) == ["▸ execute"]
    assert rows[1] == "│ $ rm -rf build"


def test_the_fields_of_a_card_are_rows_without_the_mark_of_foreign_text() -> None:
    arguments = {"command": "ls", "cwd": "sub", "timeout": 5}
    assert rows_of(record("execute", arguments)) == [
        *("▸ execute", "│ $ ls", "Folder:", "│ sub", "Time limit in seconds:", "│ 5")
    ]


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("sub\n/../src", "sub⟨U+000A⟩/../src"),
        ("sub\t", "sub⟨U+0009⟩"),
        ("sub ", "sub⟨U+0020⟩"),
        (" sub", "⟨U+0020⟩sub"),
        ("sub\u00a0", "sub⟨U+00A0⟩"),
        ("a b", "a b"),
        (" " * 20, "⟨U+0020 ×20⟩"),
        ("\r", "⟨U+000D⟩"),
    ],
)
def test_a_path_is_shown_exactly_and_on_one_row(path: str, shown: str) -> None:
    assert rows_of(record("execute", {"command": "ls", "cwd": path}))[2:] == ["Folder:", f"│ {shown}"]
    link = record("write_file", {"path": "x", "content": ""}, preview="--- x", touches=("x", path, "y"))
    assert rows_of(link)[2:] == ["Points to:", f"│ {shown}", "Points to:", "│ y"]


def test_a_reason_and_a_rule_take_one_row() -> None:
    reason = Reason(Code.INVALID_REQUEST, {"detail": "x\nFolder:\nsub"})
    rows = rows_of(record("execute", {"command": "ls"}, reason=reason))
    assert rows[2] == "Reason:"
    assert len(rows) == 4
    rule = Rule(id=RuleId("r"), effect="allow", scope=Scope(tool="execute\n▸ x"), origin=Origin(by="local"))
    assert len(call_card(record("execute", {"command": "ls"}), "en", rule).strip("\n").split("\n")) == 4


def test_the_mode_of_a_sub_agent_is_shown() -> None:
    call = record("delegate", {"task": "Look around.", "mode": "agent"}, preview="Look around.")
    assert rows_of(call) == ["▸ delegate", "│ Look around.", "Mode of the sub-agent:", "│ agent"]
    same = record("delegate", {"task": "agent", "mode": "agent"}, preview="agent")
    assert rows_of(same)[1:] == ["│ agent", "Mode of the sub-agent:", "│ agent"]


def test_arguments_that_a_preview_leaves_out_are_shown() -> None:
    call = record("deploy", {"text": "Deploy", "host": "a.example\nb"}, preview="Deploy")
    assert rows_of(call) == ["▸ deploy", "│ Deploy", "Arguments:", '│ {"host":"a.example\\nb"}']
    lent = record("docs__look", {"path": "x"}, preview='{\n  "path": "x"\n}')
    assert own_rows(rows_of(lent)) == ["▸ docs__look"], "the preview has all arguments"


def trust_rows(files: dict[str, str]) -> list[str]:
    trust = FolderTrust(folder="/work\n", status="new", digest="d", files=files)
    return mcp._trust_text(trust, "en").split("\n")


def test_a_file_of_a_folder_cannot_imitate_another_file() -> None:
    files = {"config.toml": "mode = 'plan'\n--- .pilothouse/tools.toml\nContents:\n", "tools.toml": "x = 1"}
    assert own_rows(trust_rows(files)) == [
        *("Settings of /work⟨U+000A⟩:", "File 1 of 2:", "Contents:", "File 2 of 2:", "Contents:")
    ]


def test_deceptive_text_in_the_settings_of_a_folder_is_folded_and_marked() -> None:
    rows = trust_rows({"config.toml": "mode = 'plan'" + "\n" * 61 + "x = 1"})
    assert "│ [… 60 empty lines …]" in rows
    assert rows[-1].startswith("Careful: ")
    assert len(rows) < 10
    rows = trust_rows({"mcp_servers.json": '{"command": "n\u043ede"}'})
    assert '│ {"command": "n\u043e⟨U+043E⟩de"}' in rows
    assert rows[-1].startswith("Careful: ")


def test_ordinary_settings_of_a_folder_are_not_marked() -> None:
    text = 'instructions = """\nAntworte höflich – auf Deutsch.\n请用中文回答。\n"""\nmode    = "plan"   # aligned\n'
    rows = trust_rows(
        {"personas/guide.toml": text, "config.toml": 'mode = "plan"\n\n\n[directories]\ndocs = "agent"\n'}
    )
    assert not [row for row in rows if row.startswith("Careful")]


def test_a_definition_of_an_mcp_server_takes_one_row_of_the_list() -> None:
    server = MCPServerDefinition(name="a\nb", command="sh", args=("-c", "x\nwiki   stdio   safe"))
    assert "\n" not in mcp._server_line(server)
