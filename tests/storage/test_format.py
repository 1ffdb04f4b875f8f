"""The format number has one source, for stored data and for the documentation."""

import json
import re
from pathlib import Path

import msgspec

from pilothouse.api.examples import EXPORT
from pilothouse.domain.contexts import FORMAT
from pilothouse.storage.files.layout import ContextMetadata, StoredBranch, encode_metadata
from tests.support.mcp_tools import DONE, answer_with_calls, world_with_tools

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


async def test_stored_metadata_has_the_documented_layout_and_leaves_out_no_default(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, answer_with_calls(("write_file", {"path": "a", "content": "x"})))
    async with world.runtime:
        context_id = await world.start("supervised")
        await world.turn(context_id)
        (call,) = await world.runtime.calls.pending(context_id)
        ids = [message.id for message in await world.runtime.messages.read(context_id)]
    path = tmp_path / "data" / "contexts" / context_id / "metadata.json"
    metadata = json.loads(path.read_text())
    assert metadata["current_state"] == {
        "type": "awaiting_tool_approval",
        "pending_requests": [call.id],
        "tool_names": ["write_file"],
        "total": 0,
    }
    assert (metadata["context_id"], metadata["active_branch"], metadata["model"]) == (context_id, "main", None)
    main = metadata["branches"]["main"]
    assert (main["name"], main["message_ids"], main["parent_branch"]) == ("main", ids, None)
    assert metadata["usage"] == {"input_tokens": 0, "output_tokens": 0, "cost": None}
    assert metadata.keys() == set(ContextMetadata.__struct_encode_fields__)
    assert main.keys() == set(StoredBranch.__struct_encode_fields__)
    assert encode_metadata(msgspec.json.decode(path.read_bytes(), type=ContextMetadata)) == path.read_bytes()
