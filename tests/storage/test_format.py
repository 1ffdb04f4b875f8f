"""The format number has one source, for stored data and for the documentation."""

import json
import re
from pathlib import Path

from pilothouse.api.examples import EXPORT
from pilothouse.domain.contexts import FORMAT
from tests.support.mcp_tools import DONE, world_with_tools

ROOT = Path(__file__).parents[2]


def test_the_changelog_names_the_format() -> None:
    named = re.findall(r"folder of a context has format (\d+)", (ROOT / "CHANGELOG.md").read_text())
    assert named == [str(FORMAT)]
    assert json.loads(EXPORT)["format"] == FORMAT


async def test_stored_metadata_names_its_format(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, DONE)
    async with world.runtime:
        context_id = await world.start()
        await world.turn(context_id)
    metadata = json.loads((tmp_path / "data" / "contexts" / context_id / "metadata.json").read_text())
    assert metadata["format"] == FORMAT
