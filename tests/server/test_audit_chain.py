"""The server reports a cut or rewritten audit with every page of it and with every explanation."""

from pathlib import Path
from typing import Any

from pilothouse.testing.served import Served
from tests.storage.test_audit_heads import CHANGE, DONE, audit_file, conversation, cut_audit, opened


async def entries_at(path: Path, *routes: str) -> list[Any]:
    world = opened(path, CHANGE, DONE)
    async with world.runtime as runtime, Served(runtime, [path]) as served, served.client() as client:
        return [await client.request("GET", route) for route in routes]


async def test_every_page_of_the_audit_says_whether_the_chain_is_whole(tmp_path: Path) -> None:
    context_id = await conversation(tmp_path)
    route = f"/api/contexts/{context_id}"
    first, second = await entries_at(tmp_path, f"{route}/audit?limit=2", f"{route}/audit?limit=2&cursor=2")
    assert first["chain"] == second["chain"] == {"whole": True, "confirmed": True}
    cut_audit(tmp_path, context_id, 1)
    count = len(audit_file(tmp_path, context_id).read_bytes().splitlines())
    page, shape = await entries_at(tmp_path, f"{route}/audit?limit=1", route)
    assert page["chain"] == {"whole": False, "confirmed": False, "broken_at": count + 1}
    assert [reason["code"] for reason in shape["damage"]] == ["audit_cut"]


async def test_an_explanation_from_a_forged_audit_says_so_and_no_entry_behind_it_is_hidden(tmp_path: Path) -> None:
    context_id = await conversation(tmp_path)
    file = audit_file(tmp_path, context_id)
    lines = file.read_bytes().splitlines(keepends=True)
    lines[1] = b"x" * (len(lines[1]) - 1) + b"\n"
    file.write_bytes(b"".join(lines))
    route = f"/api/contexts/{context_id}"
    calls = (await entries_at(tmp_path, f"{route}/tool-calls"))[0]["items"]
    why, page = await entries_at(tmp_path, f"{route}/tool-calls/{calls[-1]['id']}/explain", f"{route}/audit?limit=2")
    assert why["items"]
    assert why["chain"] == {"whole": False, "confirmed": False, "broken_at": 2}
    assert ([entry["sequence"] for entry in page["items"]], page["next"]) == ([1], "2")
