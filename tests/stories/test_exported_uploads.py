"""An exported conversation contains its uploads, or names the omitted ones."""

import hashlib
import json
import shutil
import stat
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from pilothouse.cli.contexts import contexts_command
from pilothouse.domain.errors import InvalidInput, NotFound, StoreRefused
from pilothouse.i18n import translate
from pilothouse.runtime.commands import context_export
from tests.stories.test_uploads import files_end_at, stored, tree
from tests.support.live_contexts import live_context
from tests.support.mcp_tools import world_with_tools


async def test_a_copied_folder_and_an_export_bring_the_uploads_with_them(tmp_path: Path) -> None:
    workspace = tmp_path / "project"
    for name in ("old", "copied", "imported"):
        (tmp_path / name).mkdir()
    world = world_with_tools(tmp_path / "old", workspace=workspace)
    async with world.runtime:
        context_id = await world.start()
        await world.runtime.uploads.add(context_id, "数据 1.csv", b"plum\xff\n")
        exported = b"".join([piece async for piece in world.runtime.exports.create(context_id)])
        assert await world.runtime.exports.left_out(context_id) == ()
    shutil.copytree(tmp_path / "old/data/contexts" / context_id, tmp_path / "copied/data/contexts" / context_id)
    copied = world_with_tools(tmp_path / "copied", workspace=workspace, ids_from=1000)
    imported = world_with_tools(tmp_path / "imported", workspace=workspace, ids_from=1000)
    async with copied.runtime, imported.runtime:
        assert (await imported.runtime.imports.create(exported)).left_out == ()
        for each in (copied, imported):
            content = (await live_context(each.runtime, context_id)).files.workspace().read("uploads/数据 1.csv")
            assert content == b"plum\xff\n"
            assert stat.S_IMODE((stored(each, context_id) / "数据 1.csv").stat().st_mode) == 0o600


async def test_an_export_names_the_uploads_over_its_size_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(context_export, "MAX_EXPORTED_UPLOAD_BYTES", 10)
    (tmp_path / "new").mkdir()
    world = world_with_tools(tmp_path)
    new = world_with_tools(tmp_path / "new", workspace=world.workspace, ids_from=1000)
    async with world.runtime, new.runtime:
        context_id = await world.start()
        await world.runtime.uploads.add(context_id, "large", bytes(11))
        await world.runtime.uploads.add(context_id, "small", bytes(10))
        file = tmp_path / "moved.jsonl"
        await contexts_command(
            Namespace(action="export", id=context_id, file=file, system_prompt=False), world.runtime, "en"
        )
        (reason,) = await world.runtime.exports.left_out(context_id)
        text = "The export doesn't include the upload 'large' (11 bytes): an export holds at most 10 bytes of uploads."
        assert translate(reason) == text
        assert text in capsys.readouterr().out.splitlines()
        taken = Namespace(action="import", file=file, new_id=None, workspace=None, with_grants=False)
        await contexts_command(taken, new.runtime, "zh")
        assert translate(reason, "zh") in capsys.readouterr().out.splitlines()
        assert tree(stored(new, context_id)) == ["small"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({"name": "../x", "size": 1, "data": "eA=="}, "isn't a valid upload name"),
        ({"name": "a/b", "size": 1, "data": "eA=="}, "isn't a valid upload name"),
        ({"name": ".x", "size": 1, "data": "eA=="}, "isn't a valid upload name"),
        ({"name": "a\0b", "size": 1, "data": "eA=="}, "isn't a valid upload name"),
        ({"name": "..", "size": 1, "data": "eA=="}, "isn't a valid upload name"),
        ({"name": "x", "size": 2, "data": "eA=="}, "is incomplete"),
        ({"name": "x", "size": 1, "data": "not base64"}, "line 3"),
        ({"name": "same", "size": 1, "data": "eA=="}, "same name"),
    ],
)
async def test_uploads_in_a_forged_import_are_checked(tmp_path: Path, line: dict[str, Any], why: str) -> None:
    world = world_with_tools(tmp_path)
    (tmp_path / "new").mkdir()
    new = world_with_tools(tmp_path / "new", workspace=world.workspace, ids_from=1000)
    async with world.runtime, new.runtime:
        context_id = await world.start()
        lines = b"".join([piece async for piece in world.runtime.exports.create(context_id)]).splitlines()[:-1]
        more = {"type": "upload", "name": "same", "size": 1, "data": "eA=="}
        head = [json.loads(each) for each in lines]
        body = b"".join(
            json.dumps(each).encode() + b"\n" for each in [*head[:2], {"type": "upload", **line}, more, *head[2:]]
        )
        end = json.dumps({"type": "end", "digest": hashlib.sha256(body).hexdigest()}).encode() + b"\n"
        with pytest.raises(InvalidInput, match=why):
            await new.runtime.imports.create(body + end)
        with pytest.raises(NotFound):
            await new.runtime.contexts.get(context_id)


async def test_an_import_whose_uploads_the_disk_refuses_leaves_no_conversation(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path)
    (tmp_path / "new").mkdir()
    new = world_with_tools(tmp_path / "new", workspace=world.workspace, ids_from=1000)
    async with world.runtime, new.runtime:
        context_id = await world.start()
        await world.runtime.uploads.add(context_id, "data.csv", bytes(200_000))
        exported = b"".join([piece async for piece in world.runtime.exports.create(context_id)])
        with files_end_at(100_000), pytest.raises(StoreRefused):
            await new.runtime.imports.create(exported)
        with pytest.raises(NotFound):
            await new.runtime.contexts.get(context_id)
        await new.runtime.imports.create(exported)
        assert tree(stored(new, context_id)) == ["data.csv"]
