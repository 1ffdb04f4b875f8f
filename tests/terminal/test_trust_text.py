"""The settings of a folder, as the terminal shows them before the person trusts them."""

from pathlib import Path

from pilothouse.domain.trust import FolderTrust
from pilothouse.terminal.trust_text import trust_text


def test_a_name_that_looks_like_a_program_is_marked(tmp_path: Path) -> None:
    files = {
        "mcp_servers.json": '{"mcpServers": {"docs": {"command": "\u0441\u0440"}}}'
    }  # Cyrillic letters that look like cp
    shown = trust_text(FolderTrust(folder=str(tmp_path), status="new", digest="", files=files), "en")
    assert "⟨U+0441⟩" in shown
