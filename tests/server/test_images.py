"""Images over real HTTP: the largest is accepted, invalid ones are refused clearly, and sent ones can be read."""

from base64 import b64encode
from pathlib import Path
from typing import Any

import msgspec

from pilothouse.domain.images import MAX_IMAGE_BYTES
from pilothouse.llm.model_catalog import ModelCatalog, ModelFacts
from pilothouse.llm.script import Answer
from pilothouse.storage.memory import MemoryStore
from tests.server.test_commands import refusal, serving
from tests.support.held_store import DONE
from tests.support.pngs import SIGNATURE, picture

SEEING = ModelCatalog({"test": ModelFacts(vision=True)})
PICTURE = b64encode(picture()).decode()


def body(**image: Any) -> dict[str, Any]:
    return {"payloads": [{"type": "text", "content": "see"}, {"type": "image", **image}]}


async def test_the_largest_image_is_sent_shown_and_read_back(tmp_path: Path) -> None:
    data = b64encode(SIGNATURE + bytes(MAX_IMAGE_BYTES - len(SIGNATURE))).decode()
    async with serving(tmp_path, DONE, catalog=SEEING) as (world, client, _):
        context_id = await world.start()
        await client.request("POST", f"/api/contexts/{context_id}/messages", body(base64=data))
        await world.runtime.turns.rested(context_id)
        shown = msgspec.json.decode(world.model.requests[0].messages[1])["content"][1]
        assert shown["image_url"]["url"] == f"data:image/png;base64,{data}"
        page = await client.request("GET", f"/api/contexts/{context_id}/messages")
        (image,) = [each for each in page["items"] if each["type"] == "image"]
        assert (image["data"], image["media_type"]) == (data, "image/png")


async def test_an_invalid_image_is_422_and_an_oversized_body_413(tmp_path: Path) -> None:
    async with serving(tmp_path) as (world, client, _):
        context_id = await world.start()
        path = f"/api/contexts/{context_id}/messages"
        for image, code in (
            ({}, "image_source"),
            ({"base64": PICTURE, "path": "x.png"}, "image_source"),
            ({"base64": "AAAA"}, "image_kind"),
            ({"base64": "?"}, "image_base64"),
            ({"url": "file:///etc/passwd"}, "image_address"),
            ({"base64": b64encode(SIGNATURE + bytes(MAX_IMAGE_BYTES)).decode()}, "image_too_large"),
            ({"path": "x.png", "recognition": "guess"}, "invalid_request"),
        ):
            assert await refusal(client, "POST", path, body(**image)) == (422, code)
        assert await refusal(client, "POST", path, body(base64="A" * 9_000_000)) == (413, "body_too_large")
        assert (await world.runtime.contexts.get(context_id)).branches["main"].length == 0


async def test_an_upload_can_be_shown_queued_and_edited(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path / "artifacts")
    async with serving(tmp_path, Answer(text="x", silence=0), store=store) as (world, client, _):
        context_id = await world.start()
        upload = await world.runtime.uploads.add(context_id, "shot.png", picture())
        await client.request("POST", f"/api/contexts/{context_id}/messages", body(path=upload.path))
        queued = await client.request(
            "POST", f"/api/contexts/{context_id}/messages", {**body(base64=PICTURE), "queue": True}
        )
        place = f"/api/contexts/{context_id}/queue"
        ((_, image),) = [each["messages"] for each in (await client.request("GET", place))["items"]]
        assert image["data"] == PICTURE
        assert await refusal(client, "PATCH", f"{place}/{queued['message_id']}", body()) == (422, "image_source")
        changed = await client.request("PATCH", f"{place}/{queued['message_id']}", body(path=upload.path))
        assert changed["items"][0]["messages"][1]["path"] == upload.path
        await world.runtime.turns.cancel(context_id)
        page = await client.request("GET", f"/api/contexts/{context_id}/messages")
        first = next(each for each in page["items"] if each["type"] == "image")
        assert first["path"] == upload.path
