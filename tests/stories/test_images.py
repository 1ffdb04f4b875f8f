"""Stories of images: their input, their encoding for each model, and their storage."""

import asyncio
import contextlib
import os
from base64 import b64encode
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pilothouse.api.views import is_complete
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.images import MAX_IMAGE_BYTES
from pilothouse.domain.messages import Image
from pilothouse.llm.model_catalog import ModelCatalog, ModelFacts
from pilothouse.llm.script import Answer, Script
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.dependencies import TitleModel
from pilothouse.sandbox.processes import MARK, kill_marked
from pilothouse.testing import wire
from pilothouse.testing.world import World
from pilothouse.window.model_messages import IMAGE_TOKENS
from tests.stories.test_import import exported, packed
from tests.stories.test_recovery import crash, store_at
from tests.support.assertions import content_of, present
from tests.support.pngs import SIGNATURE, picture

SEEING = ModelCatalog({"test": ModelFacts(vision=True)})
PICTURE = b64encode(picture()).decode()
DATA_URL = f"data:image/png;base64,{PICTURE}"
INLINE = {"type": "image", "base64": PICTURE}
AT_PATH = {"type": "image", "path": "shot.png"}
ELSEWHERE = {"type": "image", "url": "https://example.com/shot.png"}
DONE = Answer(text="done")


def world_with_vision(path: Path, *answers: Answer, **options: Any) -> World:
    return World(path, *answers, catalog=SEEING, **options)


async def say(world: World, *payloads: dict[str, Any]) -> str:
    """A conversation with one turn in it."""
    context_id = await world.start()
    await world.runtime.messages.send(context_id, payloads)
    await world.runtime.turns.rested(context_id)
    return context_id


def contents_of_request(world: World, number: int = -1) -> list[Any]:
    """The contents of a request, which every server takes."""
    body = msgspec.json.decode(world.model.format.body(world.model.requests[number]))
    wire.check(body)
    return [message["content"] for message in body["messages"][1:]]


async def images(world: World, context_id: str) -> list[Image]:
    return [each for each in await world.runtime.messages.read(context_id) if isinstance(each, Image)]


def parts(name: str, url: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": f"[image {name}]"}, {"type": "image_url", "image_url": {"url": url}}]


@pytest.mark.parametrize("payload", [INLINE, {"type": "image", "url": DATA_URL}, {"type": "image", "base64": DATA_URL}])
async def test_a_model_with_vision_gets_the_image(tmp_path: Path, payload: dict[str, Any]) -> None:
    world = world_with_vision(tmp_path, DONE)
    context_id = await say(world, payload)
    assert contents_of_request(world) == [parts("image.png", DATA_URL)]
    (image,) = await images(world, context_id)
    assert (image.data, image.media_type, image.error, image.recognised_text) == (PICTURE, "image/png", None, None)
    assert is_complete(image)
    assert "resolving_file_references" not in world.states


async def test_an_image_of_the_workspace_is_read_when_the_turn_begins(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(picture())
    world = world_with_vision(tmp_path, DONE)
    context_id = await say(world, AT_PATH)
    assert contents_of_request(world) == [parts("shot.png", DATA_URL)]
    assert world.states[:3] == ["processing_user_message", "resolving_file_references", "enhancing_system_prompt"]
    assert (await world.runtime.contexts.get(context_id)).core.title == "shot.png"


async def test_an_address_is_passed_on_and_never_fetched(tmp_path: Path) -> None:
    world = world_with_vision(tmp_path, DONE)
    await say(world, ELSEWHERE)
    assert contents_of_request(world) == [parts(ELSEWHERE["url"], ELSEWHERE["url"])]


@pytest.mark.parametrize("recognition", ["auto", "ocr"])
async def test_a_model_without_vision_gets_the_text_of_the_image(tmp_path: Path, recognition: str) -> None:
    (tmp_path / "shot.png").write_bytes(picture())
    world = World(tmp_path, DONE)
    context_id = await say(world, {**AT_PATH, "recognition": recognition})
    assert contents_of_request(world) == ["[image shot.png, read by OCR]\nHELLO 42"]
    (image,) = await images(world, context_id)
    assert (image.data, image.recognised_text, image.error) == (PICTURE, "HELLO 42", None)


async def test_requested_ocr_is_done_even_for_a_model_with_vision(tmp_path: Path) -> None:
    world = world_with_vision(tmp_path, DONE)
    await say(world, {**INLINE, "recognition": "ocr"})
    assert contents_of_request(world) == ["[image image.png, read by OCR]\nHELLO 42"]


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ({**INLINE, "recognition": "vision"}, Code.IMAGE_UNSEEN),
        (ELSEWHERE, Code.IMAGE_ELSEWHERE),
        ({**ELSEWHERE, "recognition": "ocr"}, Code.IMAGE_ELSEWHERE),
        ({"type": "image", "base64": b64encode(picture("")).decode()}, Code.OCR_EMPTY),
        ({"type": "image", "base64": b64encode(picture()[:60]).decode()}, Code.OCR_FAILED),
    ],
)
async def test_a_model_without_vision_is_given_the_reason_for_a_missing_text(
    tmp_path: Path, payload: dict[str, Any], code: Code
) -> None:
    world = World(tmp_path, DONE)
    context_id = await say(world, payload)
    (image,) = await images(world, context_id)
    assert image.error is not None
    assert image.error.code is code
    assert contents_of_request(world)[0].startswith(f"[image {image.name} could not be shown: ")
    assert (await world.runtime.contexts.get(context_id)).core.last_turn == "complete"


async def test_an_address_with_ocr_is_an_error_also_for_a_model_with_vision(tmp_path: Path) -> None:
    world = world_with_vision(tmp_path, DONE)
    await say(world, {**ELSEWHERE, "recognition": "ocr"})
    assert "never downloaded" in contents_of_request(world)[0]


async def test_without_tesseract_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "no programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    workspace = tmp_path / "work"
    workspace.mkdir()
    world = World(workspace, DONE)
    await say(world, INLINE)
    assert "apt install tesseract-ocr" in contents_of_request(world)[0]
    assert "a model that sees" in contents_of_request(world)[0]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../outside.png", "outside the workspace"),
        ("out.png", "outside the workspace"),
        (".ssh/shot.png", "is protected"),
        ("hidden.png", "is protected"),
        ("gone.png", "doesn't exist"),
        ("folder", "isn't a regular file"),
        ("pipe", "isn't a regular file"),
        ("large.png", "at most 5242880"),
        ("text.png", "isn't a supported image"),
        ("empty.png", "image (0 bytes)"),
        ("", "isn't a regular file"),
        ("nul\0", "outside the workspace"),
    ],
)
async def test_a_path_that_gives_no_image_is_an_error_that_the_model_sees(
    tmp_path: Path, path: str, reason: str
) -> None:
    workspace = tmp_path / "work"
    (workspace / ".ssh").mkdir(parents=True)
    (tmp_path / "outside.png").write_bytes(picture())
    (workspace / "out.png").symlink_to(tmp_path / "outside.png")
    (workspace / ".ssh" / "shot.png").write_bytes(picture())
    (workspace / "hidden.png").symlink_to(".ssh/shot.png")
    (workspace / "folder").mkdir()
    os.mkfifo(workspace / "pipe")
    (workspace / "large.png").write_bytes(SIGNATURE + bytes(6_000_000))
    (workspace / "text.png").write_text("this is no picture")
    (workspace / "empty.png").touch()
    world = world_with_vision(workspace, DONE)
    context_id = await say(world, {"type": "image", "path": path}, {"type": "text", "content": "see?"})
    error, text = contents_of_request(world)
    assert reason in error
    assert text == "see?"
    (image,) = await images(world, context_id)
    assert (image.data, is_complete(image)) == (None, True)


async def test_an_image_behind_a_link_inside_the_workspace_is_shown(tmp_path: Path) -> None:
    (tmp_path / "real.png").write_bytes(picture())
    (tmp_path / "shot.png").symlink_to("real.png")
    world = world_with_vision(tmp_path, DONE)
    await say(world, AT_PATH)
    assert contents_of_request(world) == [parts("shot.png", DATA_URL)]


async def test_two_images_and_a_text_come_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(picture())
    world = world_with_vision(tmp_path, DONE)
    context_id = await say(world, INLINE, {"type": "text", "content": "compare"}, AT_PATH)
    assert contents_of_request(world) == [parts("image.png", DATA_URL), "compare", parts("shot.png", DATA_URL)]
    assert (await world.runtime.contexts.get(context_id)).core.title == "image.png"


async def test_a_refused_image_refuses_the_whole_message_and_changes_nothing(tmp_path: Path) -> None:
    world = world_with_vision(tmp_path)
    context_id = await world.start()
    with pytest.raises(InvalidInput, match="PNG, JPEG, GIF, WebP"):
        await world.runtime.messages.send(
            context_id, [{"type": "text", "content": "x"}, {"type": "image", "base64": "AAAA"}]
        )
    assert (await world.runtime.contexts.get(context_id)).branches["main"].length == 0


async def test_an_image_can_be_edited_and_sent_again_on_a_branch(tmp_path: Path) -> None:
    world = world_with_vision(tmp_path, DONE, DONE)
    context_id = await say(world, INLINE)
    (first,) = await images(world, context_id)
    await world.runtime.messages.edit(context_id, first.id, [ELSEWHERE])
    await world.runtime.turns.rested(context_id)
    assert contents_of_request(world) == [parts(ELSEWHERE["url"], ELSEWHERE["url"])]
    assert [each.data for each in await world.runtime.messages.read(context_id, branch="main") if each == first] == [
        PICTURE
    ]


async def test_each_model_gets_an_image_in_the_form_it_supports(tmp_path: Path) -> None:
    """An image is encoded again for the next model; the first model's encoding is not reused."""
    blind = World(tmp_path, DONE, store=store_at(tmp_path))
    context_id = await say(blind, INLINE)
    few = (await blind.runtime.window.meter(context_id)).tokens
    await blind.runtime.close()
    world = world_with_vision(tmp_path, DONE, DONE, store=store_at(tmp_path), ids_from=1000)
    await world.turn(context_id, "and now?")
    assert contents_of_request(world) == [parts("image.png", DATA_URL), "done", "and now?"]
    assert (await world.runtime.window.meter(context_id)).tokens > few + IMAGE_TOKENS // 2
    await world.runtime.messages.send(context_id, [INLINE])
    await world.runtime.turns.rested(context_id)
    await world.runtime.close()
    blind = World(tmp_path, DONE, store=store_at(tmp_path), ids_from=2000)
    await blind.turn(context_id)
    first, *_, last, _, _ = contents_of_request(blind)
    assert first == "[image image.png, read by OCR]\nHELLO 42"
    assert "The model can't see images" in last
    await blind.runtime.close()


async def test_an_image_counts_its_documented_tokens(tmp_path: Path) -> None:
    world = world_with_vision(tmp_path, DONE)
    context_id = await say(world, INLINE)
    (image,) = await images(world, context_id)
    assert image.metadata.tokens is not None
    assert IMAGE_TOKENS < image.metadata.tokens < IMAGE_TOKENS + 20


async def test_a_large_image_is_stored_as_a_blob_and_survives_a_restart(tmp_path: Path) -> None:
    data = SIGNATURE + bytes(range(256)) * (MAX_IMAGE_BYTES // 256 - 1)
    world = world_with_vision(tmp_path, DONE, store=store_at(tmp_path))
    context_id = await say(world, {"type": "image", "base64": b64encode(data).decode()})
    (before,) = await images(world, context_id)
    await world.runtime.close()
    folder = tmp_path / "data" / "contexts" / context_id
    assert [path.stat().st_size > MAX_IMAGE_BYTES for path in (folder / "blobs").iterdir()] == [True]
    assert max(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.parent.name != "blobs") < (
        100_000
    )
    again = world_with_vision(tmp_path, store=store_at(tmp_path))
    assert await images(again, context_id) == [before]
    await again.runtime.close()


async def test_a_queued_image_waits_and_is_shown_in_its_turn(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(picture())
    world = world_with_vision(tmp_path, Answer(text="x", delay=0.05), DONE)
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "first")
    sent = await world.runtime.messages.send(context_id, [INLINE, AT_PATH], queue=True)
    assert sent.queued
    (item,) = await world.runtime.queue.read(context_id)
    assert [type(each) for each in item.messages] == [Image, Image]
    while (await world.runtime.contexts.get(context_id)).core.queue:
        await world.runtime.turns.rested(context_id)
        await asyncio.sleep(0)
    await world.runtime.turns.rested(context_id)
    assert contents_of_request(world)[2:] == [parts("image.png", DATA_URL), parts("shot.png", DATA_URL)]


async def test_images_come_through_export_and_import_also_those_that_wait(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(picture())
    world = World(tmp_path, DONE)
    context_id = await say(world, INLINE, AT_PATH)
    lines = await exported(world, context_id)
    other = World(tmp_path, DONE)
    await other.runtime.imports.create(packed(lines))
    assert await images(other, context_id) == await images(world, context_id)
    core = next(line["core"] for line in lines if line["type"] == "core")
    (first, _) = [line["message"] for line in lines if line["type"] == "message" and "data" in line["message"]]
    waiting = {**first, "message_id": "01900000-0000-7000-8000-00000000ffff"}
    lines.insert(1, {"type": "message", "message": waiting})
    item = {"id": waiting["message_id"], "message_ids": [waiting["message_id"]], "by": "local", "at": ""}
    core["queue"] = [item]
    third = World(tmp_path, DONE)
    await third.runtime.imports.create(packed(lines))
    assert [type(each) for each in (await third.runtime.queue.read(context_id))[0].messages] == [Image]


@pytest.mark.parametrize(
    "wrong",
    [
        {"data": "no base64!"},
        {"data": b64encode(b"no picture").decode()},
        {"media_type": "image/gif"},
        {"media_type": "text/html"},
        {"data": None, "url": "file:///etc/passwd"},
    ],
)
async def test_an_import_with_an_invalid_image_is_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    world = world_with_vision(tmp_path, DONE)
    lines = await exported(world, await say(world, INLINE))
    for line in lines:
        if line["type"] == "message" and "data" in line["message"]:
            line["message"].update(wrong)
    other = world_with_vision(tmp_path)
    with pytest.raises(InvalidInput):
        await other.runtime.imports.create(packed(lines))
    assert (await other.runtime.contexts.list()).items == ()


async def test_an_image_that_was_not_read_before_the_cancel_is_read_by_continue(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(picture())
    world = World(tmp_path, DONE)
    context_id = await world.start()
    await world.runtime.messages.send(context_id, [AT_PATH])
    await world.runtime.turns.cancel(context_id)
    (image,) = await images(world, context_id)
    assert (image.data, is_complete(image)) == (None, False)
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    assert contents_of_request(world) == ["[image shot.png, read by OCR]\nHELLO 42"]


def is_running(call_id: str) -> bool:
    """Whether the program itself runs already, not only its supervisor."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            is_marked = f"{MARK}={call_id}".encode() in (process / "environ").read_bytes()
            if is_marked and b"sleep" in (process / "cmdline").read_bytes().split(b"\0"):
                return True
    return False


async def test_a_cancel_while_the_text_is_read_ends_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "tesseract").write_text("#!/bin/sh\nsleep 3141\n")
    (folder / "tesseract").chmod(0o755)
    workspace = tmp_path / "work"
    workspace.mkdir()
    world = World(workspace, DONE)
    context_id = await world.start()
    with monkeypatch.context() as patched:
        patched.setenv("PATH", f"{folder}:/usr/bin:/bin")
        sent = await world.runtime.messages.send(context_id, [INLINE])
        while not is_running(sent.message_id):
            await asyncio.sleep(0.01)
        await world.runtime.turns.cancel(context_id)
    assert kill_marked([sent.message_id]) == 0
    assert world.states[-2:] == ["cancelling", "idle"]
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    assert contents_of_request(world) == ["[image image.png, read by OCR]\nHELLO 42"]


async def test_after_a_crash_before_it_was_read_continue_reads_it(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(picture())
    world = World(tmp_path, DONE, store=store_at(tmp_path))
    context_id = await world.start()
    await world.runtime.messages.send(context_id, [AT_PATH, INLINE])
    await crash(world)
    again = World(tmp_path, DONE, store=store_at(tmp_path), ids_from=1000)
    assert [is_complete(each) for each in await images(again, context_id)] == [False, False]
    await again.runtime.turns.continue_(context_id)
    await again.runtime.turns.rested(context_id)
    assert contents_of_request(again)[:2] == [
        f"[image {name}, read by OCR]\nHELLO 42" for name in ("shot.png", "image.png")
    ]
    assert all(map(is_complete, await images(again, context_id)))
    await again.runtime.close()


async def test_a_summary_request_has_images_by_name_or_text(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(picture())
    model = ScriptedAdapter(Script(turn=(DONE,) * 9, summary=(Answer(text="short"),)))
    world = world_with_vision(tmp_path, adapter=model)
    context_id = await say(world, AT_PATH, {**INLINE, "recognition": "ocr"})
    for _ in range(8):
        await world.turn(context_id)
    done = await world.runtime.compression.compress(context_id)
    (summary_request,) = [request for request in model.requests if request.purpose == "summary"]
    record = msgspec.json.decode(summary_request.messages[0])["content"]
    assert "Person shows the image shot.png" in record
    assert "read by OCR]\nHELLO 42" in record
    (summary,) = await world.runtime.messages.read(context_id, ids=[present(done.summary_id)])
    assert "shot.png" in content_of(summary)


async def test_a_title_is_made_from_the_name_of_an_image(tmp_path: Path) -> None:
    titles = ScriptedAdapter(Script(title=(Answer(text="A screenshot"),)))
    world = world_with_vision(tmp_path, DONE, titles=TitleModel(titles, "small"))
    async with world.runtime:
        await say(world, ELSEWHERE)
        while not titles.requests:
            await asyncio.sleep(0)
    assert ELSEWHERE["url"].encode() in titles.requests[0].messages[0]
