"""Uploads over HTTP: added, copied into the workspace, removed. Hostile names and other users get nothing."""

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import msgspec
import pytest

from pilothouse.client import Client
from pilothouse.domain.payloads import MAX_UPLOAD_BYTES
from pilothouse.llm.script import Answer
from pilothouse.testing.served import TOKEN, Served
from pilothouse.testing.world import World
from tests.server.test_commands import refusal
from tests.server.test_ownership import drained, export_of, import_to
from tests.support.mcp_tools import DONE, answer_with_calls, world_with_tools

READS = answer_with_calls(("read_file", {"path": "uploads/secret.txt"}))


@asynccontextmanager
async def serving(tmp_path: Path, *answers: Answer) -> AsyncIterator[tuple[World, Served, Client]]:
    world = world_with_tools(tmp_path, *answers)
    async with world.runtime, Served(world.runtime, [world.workspace]) as served, served.client() as client:
        yield world, served, client


async def upload(
    served: Served, context_id: str, name: str, data: Any = b"plum", token: str = TOKEN
) -> tuple[int, Any]:
    headers = {"authorization": f"Bearer {token}", "content-type": "application/octet-stream"}
    url = f"{served.url}/api/contexts/{context_id}/files?name={quote(name)}"
    async with aiohttp.ClientSession() as http, http.post(url, data=data, headers=headers) as answer:
        return answer.status, msgspec.json.decode(await answer.read())


def uploads_of(tmp_path: Path, context_id: str) -> dict[str, bytes]:
    folder = tmp_path / "data" / "contexts" / context_id / "artifacts" / "uploads"
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("notes.txt", "notes.txt"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        (".bashrc", "bashrc"),
        ("a\u202egnp.exe", "agnp.exe"),
        ("图片 1.png", "图片 1.png"),
        ("cafe\u0301.txt", "caf\xe9.txt"),
        ("CON", "CON"),
        ("/dev/sda", "sda"),
        ("a\0b", "ab"),
        ("n" * 200, "n" * 100),
    ],
)
async def test_an_upload_gets_a_safe_name_and_never_replaces_another(tmp_path: Path, name: str, stored: str) -> None:
    async with serving(tmp_path) as (world, served, client):
        context_id = await world.start()
        assert await upload(served, context_id, name, b"\x00\xff") == (201, {"path": f"uploads/{stored}", "size": 2})
        status, again = await upload(served, context_id, name, b"other")
        assert status == 201
        second = again["path"].removeprefix("uploads/")
        assert uploads_of(tmp_path, context_id) == {stored: b"\x00\xff", second: b"other"}
        at = f"/api/contexts/{context_id}/files/{quote(stored, safe='')}"
        copied = await client.request("POST", f"{at}/copy", {"path": f"docs/{stored}"})
        assert (world.workspace / copied["path"]).read_bytes() == b"\x00\xff"
        await client.request("DELETE", at)
        assert uploads_of(tmp_path, context_id) == {second: b"other"}
        assert await refusal(client, "DELETE", at) == (404, "unknown_upload")
        assert [str(path.relative_to(world.workspace)) for path in world.workspace.rglob("*") if path.is_file()] == [
            f"docs/{stored}"
        ]


async def test_uploads_of_the_same_name_at_once_are_as_many_files(tmp_path: Path) -> None:
    async with serving(tmp_path) as (world, served, _):
        context_id = await world.start()
        answers = await asyncio.gather(*(upload(served, context_id, "a.txt", b"%d" % each) for each in range(8)))
        paths = {answer["path"] for _, answer in answers}
        assert len(paths) == 8
        assert sorted(uploads_of(tmp_path, context_id).values()) == [b"%d" % each for each in range(8)]


async def test_an_upload_that_is_too_large_or_has_no_name_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as (world, served, _):
        context_id = await world.start()
        assert (await upload(served, context_id, "big", io.BytesIO(bytes(MAX_UPLOAD_BYTES + 1))))[0] == 413
        for name in ("..", "/", " ", "", "\0", "x" * 201):
            assert (await upload(served, context_id, name))[0] == 422
        assert uploads_of(tmp_path, context_id) == {}
        assert list(world.workspace.iterdir()) == []


async def test_a_copy_never_replaces_a_file_and_stays_in_the_workspace(tmp_path: Path) -> None:
    async with serving(tmp_path) as (world, served, client):
        context_id = await world.start()
        (world.workspace / "taken.txt").write_text("mine")
        (tmp_path / "outside").mkdir()
        (world.workspace / "out").symlink_to(tmp_path / "outside")
        await upload(served, context_id, "notes.txt")
        at = f"/api/contexts/{context_id}/files/notes.txt/copy"
        assert await client.request("POST", at) == {"path": "notes.txt"}
        assert await client.request("POST", at, {}) == {"path": "notes.txt"}
        assert await refusal(client, "POST", at, {"path": "taken.txt"}) == (409, "file_exists")
        assert await refusal(client, "POST", at, {"path": "../x"}) == (409, "outside_workspace")
        assert await refusal(client, "POST", at, {"path": "out/x"}) == (409, "outside_workspace")
        assert await refusal(client, "POST", at, {"path": ".git/config"}) == (409, "protected_path")
        assert await refusal(client, "POST", at, {"path": "x" * 300}) == (409, "file_unreadable")
        assert await refusal(client, "POST", at, {"path": ""}) == (422, "invalid_request")
        assert await refusal(client, "POST", at, {"path": "x" * 5000}) == (422, "invalid_request")
        assert (world.workspace / "taken.txt").read_text() == "mine"
        assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("name", ["..", "%2e%2e", "a%2Fb", "..%2F..%2Fcore", "%00", "x" * 900, "%2Fetc%2Fpasswd"])
async def test_an_upload_name_with_a_path_is_not_found(tmp_path: Path, name: str) -> None:
    async with serving(tmp_path) as (world, served, _):
        context_id = await world.start()
        await upload(served, context_id, "notes.txt")
        before = uploads_of(tmp_path, context_id)
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        for line in (
            f"DELETE /api/contexts/{context_id}/files/{name}",
            f"POST /api/contexts/{context_id}/files/{name}/copy",
        ):
            head = f"{line} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\ncontent-length: 0\r\n\r\n"
            writer.write(head.encode())
            answer = (await reader.readuntil(b"\r\n\r\n")).lower()
            assert answer.startswith(b"http/1.1 404"), answer
            length = int(answer.split(b"content-length: ")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
        writer.close()
        assert uploads_of(tmp_path, context_id) == before
        assert list(world.workspace.iterdir()) == []


async def test_another_user_cannot_reach_uploads_by_any_route(tmp_path: Path) -> None:
    async with serving(tmp_path, READS, DONE) as (world, served, client):
        hers = (await client.request("POST", "/api/contexts", {"mode": "agent"}))["context_id"]
        await upload(served, hers, "secret.txt")
        token = served.tokens.add("bob")
        async with Client(served.url, token) as bob:
            assert (await upload(served, hers, "x", token=token))[0] == 404
            for method, path in (("DELETE", "secret.txt"), ("POST", "secret.txt/copy")):
                problem = await refusal(bob, method, f"/api/contexts/{hers}/files/{path}")
                assert problem == (404, "unknown_context")
            # A conversation that says it was sent by hers gets none of her files.
            mine = (await bob.request("POST", "/api/contexts", {"mode": "agent"}))["context_id"]
            lines = await export_of(served, token, mine)
            lines[1]["core"]["parent"] = hers
            assert await import_to(served, token, lines, "context_id=evil") == 201
            assert await refusal(bob, "POST", "/api/contexts/evil/files/secret.txt/copy") == (404, "unknown_upload")
            events = await drained(bob.chat("evil", "read it"))
            assert "plum" not in str(events)
        assert uploads_of(tmp_path, hers) == {"secret.txt": b"plum"}
        assert list(world.workspace.iterdir()) == []


async def test_the_chat_stream_takes_an_upload_among_its_files(tmp_path: Path) -> None:
    async with serving(tmp_path, DONE, DONE) as (world, served, client):
        await drained(client.chat("work", "hello"))
        _, upload_name = await upload(served, "work", "notes.txt")
        body = {"message": "what is it?", "files": [upload_name["path"]]}
        await drained(client.events("POST", "/api/chat/work", body))
        (reference,) = [
            each
            for each in (await client.request("GET", "/api/contexts/work/messages"))["items"]
            if each["type"] == "file_reference"
        ]
        assert (reference["path"], reference["content"]) == ("uploads/notes.txt", "plum")
        assert list(world.workspace.iterdir()) == []
