"""Contexts of one user are unreachable for others, also when ids change owners and bodies arrive slowly."""

import asyncio
import hashlib
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from pilothouse.client import Client
from pilothouse.domain.states import AwaitingToolApproval
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.served import TOKEN, Served
from pilothouse.testing.world import World
from tests.support.held_store import DONE, calls_answer
from tests.support.live_contexts import pool_of


async def drained(events: Any) -> list[tuple[str, Any]]:
    return [event async for event in events]


async def half_sent(served: Served, token: str, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A request whose body of two bytes has only come by half."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n"
    writer.write(f"{head}content-type: application/json\r\ncontent-length: 2\r\n\r\n{{".encode())
    await writer.drain()
    return reader, writer


async def answer_of(served: Served, token: str, method: str, path: str, body: Any = None) -> tuple[int, str]:
    """The status and the text of an answer."""
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    data = msgspec.json.encode(body) if body is not None else None
    async with (
        aiohttp.ClientSession() as http,
        http.request(method, served.url + path, data=data, headers=headers) as answer,
    ):
        return answer.status, (await answer.read()).decode()


async def test_a_thread_id_belongs_to_its_user(tmp_path: Path) -> None:
    world = World(tmp_path, *[DONE] * 6)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as alice:
        tokens = {name: served.tokens.add(name) for name in ("bob", "carl")}
        async with Client(served.url, tokens["bob"]) as bob, Client(served.url, tokens["carl"]) as carl:
            for client, text in ((alice, "hers"), (bob, "bob's"), (carl, "carl's")):
                assert [name for name, _ in await drained(client.chat("work", text))][-1] == "done"
            for client, text in ((alice, "hers"), (bob, "bob's"), (carl, "carl's")):
                response = (await client.request("GET", "/api/contexts/work/messages"))["items"]
                assert [each["content"] for each in response if each["role"] == "user"] == [text]
                (listed,) = (await client.request("GET", "/api/contexts"))["items"]
                shown = await client.request("GET", f"/api/contexts/{listed['context_id']}")
                assert shown == await client.request("GET", "/api/contexts/work")
                opened = await client.request("POST", "/api/session/open-contexts", {"context_id": "work"})
                assert [tab["context_id"] for tab in opened["open_contexts"]] == [listed["context_id"]]
                closed = await client.request("DELETE", "/api/session/open-contexts/work")
                assert closed["open_contexts"] == []
            await bob.request("DELETE", "/api/contexts/work")
            assert (await answer_of(served, tokens["bob"], "GET", "/api/contexts/work"))[0] == 404
            assert (await carl.request("GET", "/api/contexts/work"))["context_id"] == "work~carl"
            assert (await alice.request("GET", "/api/contexts/work"))["context_id"] == "work"


async def test_contexts_of_other_users_change_no_response(tmp_path: Path) -> None:
    """Every request that names an id, of a user for whom it exists nowhere and of one for whom others have it."""
    world = World(tmp_path, *[DONE] * 40)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as alice:
        bob = served.tokens.add("bob")
        taken = {"work": "plain", "0190c8f2-7c1a-7abc-8def-0123456789ab": "made"}
        for name in taken:
            await drained(alice.chat(name, "hers"))
        export = await export_of(served, TOKEN, "work")
        for name in taken:
            free = name.replace("work", "idle").replace("0190", "0191")
            for method, path, body in (
                ("GET", "/api/contexts/{}", None),
                ("GET", "/api/contexts/{}~local", None),
                ("GET", "/api/contexts/{}~bob", None),
                ("POST", "/api/chat/{}/resume", {"decisions": [{"type": "approve"}]}),
                ("GET", "/api/contexts?parent={}", None),
                ("GET", "/api/rules?context_id={}", None),
                ("POST", "/api/session/open-contexts", {"context_id": "{}"}),
                ("PUT", "/api/session/active-context", {"context_id": "{}"}),
                ("POST", "/api/chat/{}~local", {"message": "x"}),
                ("POST", "/api/chat/{}", {"message": "x"}),
            ):
                replies = []
                for used in (name, free):
                    sent = msgspec.json.decode(msgspec.json.encode(body).replace(b"{}", used.encode()))
                    status, text = await answer_of(served, bob, method, path.format(used), sent)
                    replies.append((status, text.replace(used, "ID")))
                assert replies[0] == replies[1], (method, path)
            for query in (f"context_id={name}-2", f"context_id={name}"):
                assert await import_to(served, bob, export, query) == (409 if query.endswith(name) else 201)
        assert await import_to(served, bob, export, "") == 409, "bob has a conversation of that name himself"
        carl = served.tokens.add("carl")
        assert await import_to(served, carl, export, "") == 201, "of carl's, nobody has taken anything"


async def test_a_thread_of_an_earlier_version_stays_with_its_owner_and_blocks_nobody(tmp_path: Path) -> None:
    world = World(tmp_path, *[DONE] * 4)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as alice:
        token = served.tokens.add("bob")
        context_id = await world.runtime.contexts.create(tmp_path, context_id="work", by="local")
        live = await pool_of(world.runtime).owned(context_id)
        draft = live.draft()
        draft.core["owner"] = "bob"  # as an earlier version that gave an id to its first user
        await live.commit(draft)
        async with Client(served.url, token) as bob:
            assert (await bob.request("GET", "/api/contexts/work"))["context_id"] == "work"
            await drained(bob.chat("work", "bob's"))
            assert [each["context_id"] for each in (await bob.request("GET", "/api/contexts"))["items"]] == ["work"]
            await drained(alice.chat("work", "hers"))
            assert (await alice.request("GET", "/api/contexts/work"))["context_id"] == "work~local"
            assert (await bob.request("GET", "/api/contexts/work"))["context_id"] == "work"


async def test_the_same_thread_begun_twice_at_once_is_one_context(tmp_path: Path) -> None:
    world = World(tmp_path, *[DONE] * 4)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served:
        bob = served.tokens.add("bob")
        body = {"message": "x"}
        both = await asyncio.gather(*(answer_of(served, bob, "POST", "/api/chat/work", body) for _ in range(2)))
        assert {status for status, _ in both} <= {200, 409}  # 409 where the other turn still runs
        (one,) = (await world.runtime.contexts.list(owner="bob")).items
        assert one.context_id == "work~bob"


async def test_a_guessed_name_opens_no_context_of_another_user(tmp_path: Path) -> None:
    """The time to open a context would reveal that it exists."""
    data, workspace = tmp_path / "data", tmp_path / "workspace"
    workspace.mkdir()
    stored = World(workspace, store=FileStore(data, now=lambda: "2026-01-01T00:00:00.000Z"))
    async with stored.runtime:
        await stored.runtime.contexts.create(workspace, context_id="work")
    world = World(workspace, store=FileStore(data, now=lambda: "2026-01-01T00:00:00.000Z"))
    async with world.runtime, Served(world.runtime, [workspace]) as served:
        bob = served.tokens.add("bob")
        for name in ("work", "work~local", "work~bob", "idle"):
            assert (await answer_of(served, bob, "GET", f"/api/contexts/{name}"))[0] == 404
            assert pool_of(world.runtime).in_memory() == ()


async def test_a_damaged_context_of_another_user_is_404(tmp_path: Path) -> None:
    data, workspace = tmp_path / "data", tmp_path / "workspace"
    workspace.mkdir()
    world = World(workspace, store=FileStore(data, now=lambda: "2026-01-01T00:00:00.000Z"))
    async with world.runtime, Served(world.runtime, [workspace]) as served:
        bob = served.tokens.add("bob")
        folder = data / "contexts" / "broken"
        (folder / "journal").mkdir(parents=True)
        (folder / "metadata.json").write_text('{"format": 999}')  # of a version to come
        assert (await answer_of(served, TOKEN, "GET", "/api/contexts/broken"))[0] == 503
        response = await answer_of(served, bob, "GET", "/api/contexts/broken")
        missing = await answer_of(served, bob, "GET", "/api/contexts/absent")
        assert response == (missing[0], missing[1].replace("absent", "broken"))
        assert (await answer_of(served, bob, "POST", "/api/chat/broken", {"message": "x"}))[0] == 200


async def test_a_request_whose_body_comes_after_the_context_has_changed_hands_is_404(tmp_path: Path) -> None:
    world = World(tmp_path, DONE, calls_answer(("change", "a")), DONE)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as alice:
        token = served.tokens.add("bob")
        async with Client(served.url, token) as bob:
            await drained(bob.chat("work", "mine"))
            reader, writer = await half_sent(served, token, "/api/contexts/work/tool-calls/approve-all")
            await bob.request("GET", "/api/contexts/work")  # the server has taken the other one too by now
            await bob.request("DELETE", "/api/contexts/work")
            await drained(alice.chat("work", "hers", mode="supervised"))
            writer.write(b"}")
            answer = await reader.readuntil(b"\r\n")
            writer.close()
            assert answer.startswith(b"HTTP/1.1 404")
            assert isinstance((await world.runtime.contexts.get("work")).state, AwaitingToolApproval)
            assert world.change.ran == []


async def test_a_request_whose_body_comes_after_its_user_was_removed_is_401(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served:
        token = served.tokens.add("bob")
        reader, writer = await half_sent(served, token, "/api/contexts")
        async with Client(served.url, token) as bob:
            await bob.request("GET", "/api/health")
        served.tokens.remove("bob")
        writer.write(b"}")
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 401")
        writer.close()
        assert (await world.runtime.contexts.list()).items == ()


async def test_a_stream_ends_with_its_context_and_shows_nothing_of_the_next_owners(tmp_path: Path) -> None:
    world = World(tmp_path, DONE, DONE)
    async with (
        world.runtime,
        Served(world.runtime, [tmp_path]) as served,
        served.client() as alice,
        Client(served.url, served.tokens.add("bob")) as bob,
    ):
        await drained(bob.chat("work", "mine"))
        one = bob.events("GET", "/api/contexts/work/stream")
        several = bob.events("GET", "/api/stream?contexts=work")
        await anext(one)
        await anext(several)
        await bob.request("DELETE", "/api/contexts/work")
        await drained(alice.chat("work", "hers"))
        assert [data for name, data in await drained(one) if name == "ContextChanged"][-1]["fields"] == ["deleted"]
        served.server_state.stopping.set()
        signals = [data for _, data in await drained(several) if data.get("context_id", "").startswith("work")]
        assert signals[-1]["fields"] == ["deleted"]


async def export_of(served: Served, token: str, context_id: str) -> list[Any]:
    headers = {"authorization": f"Bearer {token}"}
    url = f"{served.url}/api/contexts/{context_id}/export"
    async with aiohttp.ClientSession() as http, http.get(url, headers=headers) as answer:
        return [msgspec.json.decode(line) for line in (await answer.read()).splitlines()]


async def import_to(served: Served, token: str, lines: list[Any], query: str) -> int:
    body = b"".join(msgspec.json.encode(line) + b"\n" for line in lines[:-1])
    end = {"type": "end", "digest": hashlib.sha256(body).hexdigest()}
    headers = {"authorization": f"Bearer {token}", "content-type": "application/x-ndjson"}
    data = body + msgspec.json.encode(end) + b"\n"
    url = f"{served.url}/api/contexts/import?{query}"
    async with aiohttp.ClientSession() as http, http.post(url, data=data, headers=headers) as answer:
        return answer.status


@pytest.mark.parametrize("grants", ["false", "true"])
async def test_an_import_is_not_bound_to_another_users_context_as_parent(tmp_path: Path, grants: str) -> None:
    world = World(tmp_path, calls_answer(("change", "a")), DONE)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as alice:
        hers = await world.start("supervised")
        token = served.tokens.add("bob")
        async with Client(served.url, token) as bob:
            mine = (await bob.request("POST", "/api/contexts", {"mode": "supervised"}))["context_id"]
            lines = await export_of(served, token, mine)
            lines[1]["core"]["parent"] = hers
            assert await import_to(served, token, lines, f"context_id=evil&grants={grants}") == 201
            await bob.send("evil", "go")
            await world.runtime.turns.rested("evil~bob")
            assert world.change.ran == []
            assert (await alice.request("GET", f"/api/contexts/{hers}"))["waiting_below"] == []
            assert (await alice.request("GET", f"/api/contexts?parent={hers}"))["items"] == []
            await alice.request("POST", "/api/rules", {"effect": "deny", "scope": {"tool": "x"}, "context_id": hers})
            assert (await bob.request("GET", "/api/rules?context_id=evil"))["items"] == []
            await alice.request("DELETE", f"/api/contexts/{hers}")
            assert (await bob.request("GET", "/api/contexts/evil"))["context_id"] == "evil~bob"


async def test_an_import_reveals_no_context_of_another_user(tmp_path: Path) -> None:
    """Whether a parent or an id that a file names is another user's, damaged or absent: the answer is the same."""
    data, workspace = tmp_path / "data", tmp_path / "workspace"
    workspace.mkdir()
    world = World(workspace, store=FileStore(data, now=lambda: "2026-01-01T00:00:00.000Z"))
    async with world.runtime, Served(world.runtime, [workspace]) as served, served.client() as alice:
        token = served.tokens.add("bob")
        hers = (await alice.request("POST", "/api/contexts", {}))["context_id"]
        damaged, absent = f"{hers[:-4]}0000", f"{hers[:-4]}ffff"
        for name in (damaged, "work~anna"):
            (data / "contexts" / name / "journal").mkdir(parents=True)
            (data / "contexts" / name / "metadata.json").write_text('{"format": 999}')
        async with Client(served.url, token) as bob:
            mine = (await bob.request("POST", "/api/contexts", {}))["context_id"]
            lines = await export_of(served, token, mine)
            for number, parent in enumerate((hers, damaged, absent, "work~anna", "absent~anna")):
                lines[1]["core"]["parent"] = parent
                for grants in ("false", "true"):
                    status = await import_to(served, token, lines, f"context_id=i{number}-{grants}&grants={grants}")
                    assert status == 201, parent
                    shown = await bob.request("GET", f"/api/contexts/i{number}-{grants}")
                    assert (shown["damage"], shown["waiting_below"]) == ([], [])
            lines[1]["core"]["parent"] = None
            for name in (hers, damaged, absent):
                assert await import_to(served, token, lines, f"context_id={name}") == 201
                assert (await bob.request("GET", f"/api/contexts/{name}"))["context_id"] == f"{name}~bob"


async def test_a_folder_that_became_a_link_reveals_nothing_of_its_target(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "inner").mkdir(parents=True)
    outside.mkdir()
    world = World(root, DONE)
    async with world.runtime, Served(world.runtime, [root]) as served, served.client() as client:
        created = (await client.request("POST", "/api/contexts", {"workspace": "inner"}))["context_id"]
        (root / "inner").rmdir()
        for target in (outside, tmp_path / "absent"):
            (root / "inner").symlink_to(target)
            assert await upload(served, created) == "outside_roots"
            (root / "inner").unlink()


async def test_copying_an_upload_reveals_no_folder_outside(tmp_path: Path) -> None:
    root, hidden = tmp_path / "root", tmp_path / "hidden"
    root.mkdir()
    hidden.mkdir()
    world = World(root, DONE, store=FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z"))
    async with world.runtime, Served(world.runtime, [root]) as served, served.client() as client:
        created = (await client.request("POST", "/api/contexts", {}))["context_id"]
        await world.runtime.uploads.add(created, "x", b"x")
        for prefix in ("../", f"{tmp_path}/"):
            answers = []
            for name in ("hidden", "absent"):
                path = f"/api/contexts/{created}/files/x/copy"
                status, text = await answer_of(served, TOKEN, "POST", path, {"path": prefix + name})
                answers.append((status, text.replace(name, "NAME")))
            assert answers[0] == answers[1]
            assert answers[0][0] == 409


async def test_a_context_whose_folder_became_a_link_outside_works_on_nothing_there(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "inner").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.txt").write_text("plum")
    world = World(root, DONE)
    async with world.runtime, Served(world.runtime, [root]) as served, served.client() as client:
        created = (await client.request("POST", "/api/contexts", {"workspace": "inner"}))["context_id"]
        (root / "inner").rmdir()
        (root / "inner").symlink_to(outside)
        assert await upload(served, created) == "outside_roots"
        body = {"payloads": [{"type": "file_reference", "path": "secret.txt"}]}
        await client.request("POST", f"/api/contexts/{created}/messages", body)
        await world.runtime.turns.rested(created)
        assert "plum" not in str((await client.request("GET", f"/api/contexts/{created}/messages"))["items"])
    assert sorted(path.name for path in outside.iterdir()) == ["secret.txt"]


async def upload(served: Served, context_id: str) -> str:
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/octet-stream"}
    url = f"{served.url}/api/contexts/{context_id}/files?name=x"
    async with aiohttp.ClientSession() as http, http.post(url, data=b"x", headers=headers) as answer:
        return str(msgspec.json.decode(await answer.read())["code"])


async def test_a_refused_body_of_any_size_gets_a_response_and_the_connection_stays_open(tmp_path: Path) -> None:
    world = World(tmp_path)
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/octet-stream"}
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, aiohttp.ClientSession() as http:
        for _ in range(10):
            url = f"{served.url}/api/contexts/nobody/files?name=x"
            async with http.post(url, data=b"x" * 300_000, headers=headers) as answer:
                assert answer.status == 404


async def test_a_change_that_is_refused_in_part_changes_nothing(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        path = f"/api/contexts/{await world.start()}"
        before = await client.request("GET", path)
        for bad in ({"persona": "nope"}, {"policy": {"depth": 0}}, {"title": "\x07"}):
            with pytest.raises(Exception, match=r"."):
                await client.request("PATCH", path, {"title": "new", "archived": True, **bad})
            assert await client.request("GET", path) == before
