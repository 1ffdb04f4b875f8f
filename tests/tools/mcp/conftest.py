"""The real servers that the tests talk to."""

from pathlib import Path

import pytest

from tests.tools.mcp.connections import PEERS


@pytest.fixture(scope="session")
def peers() -> Path:
    """The folder of the programs of the npm servers."""
    if not (PEERS / ".bin" / "mcp-server-everything").exists():
        pytest.fail(f"The npm peers are not installed: run `npm ci` in {PEERS.parent}.")
    return PEERS / ".bin"
