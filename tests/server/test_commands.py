"""The other routes, through real HTTP: each runs its command of the runtime, and refuses clearly."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from pilothouse.client import Client, ServerError
from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.errors import Conflict
from pilothouse.domain.messages import Usage
from pilothouse.domain.promises import SandboxPromise
from pilothouse.llm.model_catalog import ModelCatalog, ModelFacts
from pilothouse.llm.prices import Price
from pilothouse.llm.script import Answer
from pilothouse.server.problems import problem_response
from pilothouse.testing.served import TOKEN, Served
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from tests.support.held_store import DONE, calls_answer


@asynccontextmanager
async def serving(tmp_path: Path, *answers: Answer, **options: Any) -> AsyncIterator[tuple[World, Client, str]]:
    world = World(tmp_path, *answers, **options)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        yield world, client, served.url


async def raw(url: str, method: str, path: str, data: Any, kind: str) -> tuple[int, bytes]:
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": kind}
    async with aiohttp.ClientSession() as http, http.request(method, url + path, data=data, headers=headers) as answer:
        return answer.status, await answer.read()


async def refusal(client: Client, method: str, path: str, body: Any = None) -> tuple[int, str]:
    with pytest.raises(ServerError) as refused:
        await client.request(method, path, body)
    return refused.value.problem.status, refused.value.problem.code


async def test_contexts_are_created_listed_changed_and_deleted(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, client, _):
        created = [await client.request("POST", "/api/contexts", {"title": f"n{number}"}) for number in range(3)]
        page = await client.request("GET", "/api/contexts?limit=2")
        assert len(page["items"]) == 2
        rest = await client.request("GET", f"/api/contexts?limit=2&cursor={quote(page['next'])}")
        assert len(rest["items"]) == 1
        assert rest["next"] is None
        one = f"/api/contexts/{created[0]['context_id']}"
        changed = await client.request("PATCH", one, {"title": "  New  name ", "archived": True})
        assert (changed["title"], changed["archived"]) == ("New name", True)
        assert len((await client.request("GET", "/api/contexts?archived=true"))["items"]) == 1
        await client.request("DELETE", one)
        assert await refusal(client, "GET", one) == (404, "unknown_context")


async def test_sampling_settings_are_set_one_by_one_removed_and_range_checked(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, client, _):
        one = f"/api/contexts/{(await client.request('POST', '/api/contexts', {}))['context_id']}"
        settings = []
        for change in ({"temperature": 0.5}, {"max_output_tokens": 900}, {"temperature": None}):
            config = (await client.request("PATCH", one, change))["config"]
            settings.append((config["temperature"], config["max_output_tokens"]))
        assert settings == [(0.5, None), (0.5, 900), (None, 900)]
        for wrong in ({"temperature": 2.5}, {"temperature": "hot"}, {"max_output_tokens": 0}):
            assert await refusal(client, "PATCH", one, wrong) == (422, "invalid_request")
        assert (await client.request("GET", one))["config"]["max_output_tokens"] == 900


@pytest.mark.parametrize(
    "body",
    [
        {"mode": "nope"},
        {"workspace": "/etc"},
        {"workspace": "../.."},
        {"workspace": "missing"},
        {"workspace": "a\0b"},
        {"persona": "nobody"},
        {"model": "other"},
        {"title": "\x07"},
        {"title": 5},
        {"unknown": 1},
        [],
        "x",
    ],
)
async def test_an_invalid_context_is_422_and_not_created(tmp_path: Path, body: Any) -> None:
    root = tmp_path / "root"
    root.mkdir()
    world = World(root)
    async with world.runtime, Served(world.runtime, [root]) as served, served.client() as client:
        assert (await refusal(client, "POST", "/api/contexts", body))[0] == 422
        assert (await client.request("GET", "/api/contexts"))["items"] == []


async def test_a_workspace_must_be_beneath_a_root_also_through_links(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "inner").mkdir(parents=True)
    outside.mkdir()
    (root / "link").symlink_to(outside)
    world = World(root)
    async with world.runtime, Served(world.runtime, [root]) as served, served.client() as client:
        created = await client.request("POST", "/api/contexts", {"workspace": "inner"})
        assert created["workspace"] == str(root / "inner")
        assert await refusal(client, "POST", "/api/contexts", {"workspace": "link"}) == (422, "outside_roots")


async def test_the_same_request_under_the_same_key_is_one_message(tmp_path: Path) -> None:
    async with serving(tmp_path, DONE, DONE) as (world, client, _):
        context_id = await world.start()
        first = await client.send(context_id, "hi", key="k1")
        assert await client.send(context_id, "hi", key="k1") == first
        with pytest.raises(ServerError) as refused:
            await client.send(context_id, "something else", key="k1")
        assert (refused.value.problem.status, refused.value.problem.code) == (422, "key_reused")
        await world.runtime.turns.rested(context_id)
        page = await client.request("GET", f"/api/contexts/{context_id}/messages")
        assert [each["content"] for each in page["items"] if each["role"] == "user"] == ["hi"]


async def test_a_queue_is_listed_edited_and_emptied(tmp_path: Path) -> None:
    pay = NoteTool("pay", "mutating", hold=True)
    async with serving(tmp_path, calls_answer(("pay", "a")), DONE, DONE, tools=[pay]) as (world, client, _):
        context_id = await world.start()
        path = f"/api/contexts/{context_id}"
        body = {"payload": {"type": "text", "content": "go"}}
        await client.request("POST", f"{path}/messages", body)
        await pay.started.wait()
        assert await refusal(client, "POST", f"{path}/messages", body) == (409, "turn_active")
        one = await client.request("POST", f"{path}/messages", {**body, "queue": True})
        two = await client.request("POST", f"{path}/messages", {**body, "queue": True})
        assert one["turn_id"] is None
        edited = {"payload": {"type": "text", "content": "rather this"}}
        page = await client.request("PATCH", f"{path}/queue/{one['message_id']}", edited)
        assert [item["messages"][0]["content"] for item in page["items"]] == ["rather this", "go"]
        await client.request("DELETE", f"{path}/queue/{two['message_id']}")
        assert await refusal(client, "DELETE", f"{path}/queue/{two['message_id']}") == (404, "unknown_queued")
        pay.release.set()
        await world.runtime.turns.rested(context_id)
        page = await client.request("GET", f"{path}/messages")
        assert [each["content"] for each in page["items"] if each["role"] == "user"] == ["go", "rather this"]


async def test_calls_are_decided_one_by_one_together_and_explained(tmp_path: Path) -> None:
    requests = calls_answer(("change", "a"), ("change", "b"), ("change", "c"), ("change", "d"), ("change", "e"))
    async with serving(tmp_path, requests, DONE) as (world, client, _):
        context_id = await world.start("supervised")
        await world.turn(context_id)
        path = f"/api/contexts/{context_id}/tool-calls"
        calls = (await client.request("GET", f"{path}?status=pending"))["items"]
        a, b, c, d, e = calls
        assert [offer["scope"] for offer in a["rule_offers"]] == ["exact", "tool", "exact_for_good", "tool_for_good"]
        assert await refusal(client, "POST", f"{path}/{a['id']}/approve", {"digest": "x"}) == (409, "digest_changed")
        approved = await client.request("POST", f"{path}/{a['id']}/approve", {"digest": a["digest"]})
        assert (approved["decided_by"], approved["status"]) == ("local", "executing")
        assert await refusal(client, "POST", f"{path}/{a['id']}/approve", {}) == (409, "call_decided")
        await client.request("POST", f"{path}/{b['id']}/reject", {"reason": "no"})
        both = [{"id": c["id"], "verdict": "approve"}, {"id": d["id"], "verdict": "reject", "reason": "never"}]
        decided = await client.request("POST", f"{path}/decide", {"decisions": both})
        assert [each["status"] for each in decided["items"]][1] == "rejected"
        assert len((await client.request("POST", f"{path}/approve-all", {"ids": [e["id"]]}))["items"]) == 1
        await world.runtime.turns.rested(context_id)
        assert world.change.ran == ["a", "c", "e"]
        page = await client.request("GET", f"{path}?limit=3")
        assert [each["id"] for each in page["items"]] == [a["id"], b["id"], c["id"]]
        assert page["items"][0]["result"]
        rest = await client.request("GET", f"{path}?limit=3&cursor={page['next']}")
        assert ([each["id"] for each in rest["items"]], rest["next"]) == ([d["id"], e["id"]], None)
        rejected = await client.request("GET", f"{path}?status=rejected")
        assert [each["id"] for each in rejected["items"]] == [b["id"], d["id"]]
        why = await client.request("GET", f"{path}/{b['id']}/explain")
        assert any("no" in (step.get("why") or "") for step in why["items"])
        assert await refusal(client, "GET", f"{path}/nobody") == (404, "unknown_call")


async def test_a_mode_switch_is_previewed_and_reports_its_effect_on_pending_calls(tmp_path: Path) -> None:
    async with serving(tmp_path, calls_answer(("change", "a")), DONE) as (world, client, _):
        context_id = await world.start("supervised")
        await world.turn(context_id)
        path = f"/api/contexts/{context_id}/mode"
        would = await client.request("GET", f"{path}/preview?mode=build")
        response = await client.request("PUT", path, {"mode": "build"})
        assert (response["mode"], response["started"]) == ("agent", [would["items"][0]["id"]])
        assert await refusal(client, "PUT", path, {"mode": "nope"}) == (422, "unknown_mode")


async def test_rules_are_created_listed_and_revoked(tmp_path: Path) -> None:
    async with serving(tmp_path) as (world, client, _):
        context_id = await world.start()
        here = await client.request(
            "POST", "/api/rules", {"effect": "deny", "scope": {"tool": "change"}, "context_id": context_id}
        )
        good = await client.request("POST", "/api/rules", {"effect": "ask", "scope": {"tool": "look"}})
        lasting = await client.request("GET", "/api/rules")
        assert [rule["id"] for rule in lasting["items"]] == [good["id"]]
        counting = await client.request("GET", f"/api/rules?context_id={context_id}")
        assert {rule["id"] for rule in counting["items"]} == {here["id"], good["id"]}
        await client.request("DELETE", f"/api/rules/{here['id']}?context_id={context_id}")
        await client.request("DELETE", f"/api/rules/{good['id']}")
        assert (await client.request("GET", f"/api/rules?context_id={context_id}"))["items"] == []
        assert (await refusal(client, "DELETE", f"/api/rules/{good['id']}"))[0] == 404


async def test_branches_with_any_name_are_created_switched_merged_and_deleted(tmp_path: Path) -> None:
    async with serving(tmp_path, DONE, DONE) as (world, client, _):
        context_id = await world.start()
        await world.turn(context_id)
        path = f"/api/contexts/{context_id}"
        name = "feature/é 100%?#"
        at = f"{path}/branches/{quote(name, safe='')}"
        response = await client.request("POST", f"{path}/branches", {"name": name})
        assert (response["name"], response["length"]) == (name, 2)
        await client.request("PUT", f"{path}/active-branch", {"branch": name})
        await world.turn(context_id, "there")
        assert (await client.request("GET", f"{at}?limit=1"))["length"] == 4
        preview = await client.request("POST", f"{at}/merge", {"target": "main", "preview": True})
        merged = await client.request("POST", f"{at}/merge", {"target": "main"})
        assert merged == preview
        where = await client.request("GET", f"{path}/messages/{merged['message_ids'][0]}/provenance?branch=main")
        assert where["branch"] == name
        assert await refusal(client, "DELETE", at) == (409, "branch_in_use")
        await client.request("PUT", f"{path}/active-branch", {"branch": "main"})
        await client.request("PATCH", at, {"prompt_addition": "Be brief."})
        await client.request("DELETE", at)
        assert await refusal(client, "GET", at) == (404, "unknown_branch")


async def test_an_edited_message_and_the_one_before_lead_to_each_other_on_branches_longer_than_a_page(
    tmp_path: Path,
) -> None:
    turns = 60
    async with serving(tmp_path, *[DONE] * (turns + 2)) as (world, client, _):
        context_id = await world.start()
        for number in range(turns):
            await world.turn(context_id, str(number))
        path = f"/api/contexts/{context_id}"
        before = await client.request("GET", path)
        assert before["branches"]["main"]["fork"] is None
        (first, *_) = (await client.request("GET", f"{path}/branches/main?before=1"))["message_ids"]
        body = {"payloads": [{"type": "text", "content": "said otherwise"}]}
        sent = await client.request("POST", f"{path}/messages/{first}/edit", body)
        await world.runtime.turns.rested(context_id)
        for active, other, here, there in [
            ("main-2", "main", sent["message_id"], first),
            ("main", "main-2", first, sent["message_id"]),
        ]:
            context = await client.request("PUT", f"{path}/active-branch", {"branch": active})
            expected = {"position": 0, "message_id": here, "sibling_id": there}
            assert context["branches"][active]["fork"] is None
            assert context["branches"][other]["fork"] == expected
            assert (await client.request("GET", f"{path}/branches/{other}"))["fork"] == expected


async def test_messages_are_paged_from_the_end_and_edited_in_place(tmp_path: Path) -> None:
    async with serving(tmp_path, DONE, DONE, DONE) as (world, client, _):
        context_id = await world.start()
        await world.turn(context_id, "one")
        await world.turn(context_id, "two")
        path = f"/api/contexts/{context_id}/messages"
        last = await client.request("GET", f"{path}?limit=3")
        first = await client.request("GET", f"{path}?limit=3&before={last['next']}")
        assert (len(last["items"]), len(first["items"]), first["next"]) == (3, 1, None)
        ids = ",".join(each["message_id"] for each in reversed(last["items"]))
        by_id = await client.request("GET", f"{path}?ids={ids}")
        assert by_id == list(reversed(last["items"]))
        edited = {"payloads": [{"type": "text", "content": "uno"}]}
        await client.request("POST", f"{path}/{first['items'][0]['message_id']}/edit", edited)
        await world.runtime.turns.rested(context_id)
        page = await client.request("GET", path)
        assert [each["content"] for each in page["items"] if each["role"] == "user"] == ["uno"]


async def test_an_export_comes_back_by_import_but_only_beneath_the_roots(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    world = World(root, DONE)
    away = await world.runtime.contexts.create(outside, context_id="away")
    async with world.runtime, Served(world.runtime, [root]) as served, served.client() as client:
        context_id = await world.start()
        await world.turn(context_id)
        status, data = await raw(served.url, "GET", f"/api/contexts/{context_id}/export", b"", "")
        assert status == 200
        kind, path = "application/x-ndjson", "/api/contexts/import"
        status, _ = await raw(served.url, "POST", path, data, kind)
        assert status == 409
        status, answer = await raw(served.url, "POST", f"{path}?context_id=copy", data, kind)
        assert (status, answer) == (201, b'{"context_id":"copy"}')
        assert len((await client.request("GET", "/api/contexts/copy/messages"))["items"]) == 2
        status, answer = await raw(served.url, "POST", f"{path}?context_id=x", data[:-5], kind)
        assert (status, b"invalid_export" in answer) == (422, True)
        _, data = await raw(served.url, "GET", f"/api/contexts/{away}/export", b"", "")
        await client.request("DELETE", "/api/contexts/away")
        status, answer = await raw(served.url, "POST", path, data, kind)
        assert (status, b"outside_roots" in answer) == (422, True)
        status, _ = await raw(served.url, "POST", f"{path}?workspace=.", data, kind)
        assert status == 201


async def test_errors_are_problems_in_the_readers_language(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served:
        async with served.client(language="zh-CN,zh;q=0.9,en;q=0.8") as client:
            with pytest.raises(ServerError, match="不存在"):
                await client.request("GET", "/api/contexts/nobody")
            assert (await client.request("GET", "/api/modes"))["items"][0]["title"] == "智能体"
        async with served.client(language="de, en;q=0.5") as client:
            with pytest.raises(ServerError, match="doesn't exist"):
                await client.request("GET", "/api/contexts/nobody")
            assert await refusal(client, "GET", "/api/nothing") == (404, "no_such_path")
            assert await refusal(client, "GET", "/api/contexts?limit=0") == (422, "invalid_request")
            assert await refusal(client, "GET", "/api/contexts?limit=x") == (422, "invalid_request")
            assert await refusal(client, "GET", "/api/contexts?limit=1&limit=2") == (422, "invalid_request")
            assert await refusal(client, "GET", "/api/contexts?nope=1") == (422, "invalid_request")
        status, answer = await raw(served.url, "POST", "/api/contexts", b"{", "application/json")
        assert (status, b"not_json" in answer) == (400, True)
        status, answer = await raw(
            served.url, "POST", "/api/contexts", b'{"title":' + b"[" * 100_000, "application/json"
        )
        assert status in (400, 422)


async def test_the_facts_of_a_model_are_listed(tmp_path: Path) -> None:
    facts = ModelFacts(window=32_000, vision=True, tokenizer="o200k", price=Price(input=0.5, output=2))
    async with serving(tmp_path, DONE, catalog=ModelCatalog({"test": facts})) as (_, client, _):
        (model,) = (await client.request("GET", "/api/models"))["items"]
        assert (model["window"], model["vision"], model["tokenizer"]) == (32_000, True, "o200k")
        assert (model["input_price"], model["output_price"]) == (0.5, 2)


async def test_modes_tools_models_and_health_are_listed_and_metrics_parse(tmp_path: Path) -> None:
    async with serving(tmp_path, DONE) as (world, client, url):
        assert {mode["name"] for mode in (await client.request("GET", "/api/modes"))["items"]} >= {
            "agent",
            "plan",
            "ask",
        }
        tools = (await client.request("GET", "/api/tools"))["items"]
        assert {"look", "change", "ask_user"} <= {tool["name"] for tool in tools}
        assert tools[0]["parameters"]["type"] == "object"
        nothing = dict.fromkeys(("window", "tokenizer", "input_price", "output_price"))
        own = {"name": "test", "is_default": True, "is_demo": False, "vision": False, **nothing}
        assert (await client.request("GET", "/api/models"))["items"] == [own], "nothing is made up of an unknown one"
        health = await client.request("GET", "/api/health")
        assert health["status"] == "ok"
        assert [promise["name"] for promise in health["promises"]] == list(SandboxPromise)
        assert health["sandbox"] is all(promise["kept"] for promise in health["promises"])
        await refusal(client, "GET", "/api/contexts/nobody")
        await refusal(client, "GET", "/no/such/path")
        _, data = await raw(url, "GET", "/metrics", b"", "")
        families = {family.name: family for family in text_string_to_metric_families(data.decode())}
        labels = [sample.labels for sample in families["pilothouse_requests"].samples]
        assert {"method": "GET", "path": "/api/contexts/{context_id}", "status": "404"} in labels
        assert {"method": "-", "path": "-", "status": "404"} in labels
        assert families["pilothouse_request_seconds"].type == "histogram"


async def test_usage_audit_and_elevation(tmp_path: Path) -> None:
    async with serving(tmp_path, Answer(text="x", usage=Usage(input_tokens=5, output_tokens=2))) as (world, client, _):
        context_id = await world.start("review")
        await world.turn(context_id)
        path = f"/api/contexts/{context_id}"
        assert (await client.request("GET", f"{path}/usage"))["total"] == {"input_tokens": 5, "output_tokens": 2}
        await client.request("POST", f"{path}/elevation", {"minutes": 5})
        assert (await client.request("GET", path))["elevation"]["until"]
        await client.request("DELETE", f"{path}/elevation")
        assert await refusal(client, "DELETE", f"{path}/elevation") == (409, "no_elevation")
        assert (await refusal(client, "POST", f"{path}/elevation", {}))[0] == 422
        page = await client.request("GET", f"{path}/audit?limit=2")
        assert [entry["sequence"] for entry in page["items"]] == [1, 2]
        rest = await client.request("GET", f"{path}/audit?limit=200&cursor={page['next']}")
        assert (rest["items"][0]["sequence"], rest["next"]) == (3, None)
        assert await refusal(client, "GET", f"{path}/audit?cursor=x") == (422, "invalid_cursor")


async def test_a_turn_is_cancelled_continued_paused_and_resumed(tmp_path: Path) -> None:
    pay = NoteTool("pay", "mutating", hold=True)
    async with serving(tmp_path, calls_answer(("pay", "a")), DONE, DONE, tools=[pay]) as (world, client, _):
        context_id = await world.start()
        path = f"/api/contexts/{context_id}"
        for command in ("cancel", "pause", "resume", "continue", "retry"):
            assert (await refusal(client, "POST", f"{path}/{command}"))[0] == 409
        await client.send(context_id, "go")
        await pay.started.wait()
        await client.request("POST", f"{path}/pause")
        pay.release.set()
        await world.runtime.turns.rested(context_id)
        assert (await client.request("GET", path))["current_state"]["type"] == "paused"
        await client.request("POST", f"{path}/cancel")
        assert (await client.request("GET", path))["last_turn"] == "cancelled"
        await client.request("POST", f"{path}/continue")
        await world.runtime.turns.rested(context_id)
        assert (await client.request("GET", path))["last_turn"] == "complete"


@pytest.mark.parametrize("bad_id", ["known\n", "known\r", "\nknown", "kn own", "", "x" * 65])
async def test_an_id_with_a_trailing_line_end_is_refused(tmp_path: Path, bad_id: str) -> None:
    async with serving(tmp_path) as (_, client, _):
        await client.request("POST", "/api/contexts", {"title": "one"})
        refused = (422, "invalid_request")
        assert await refusal(client, "PUT", "/api/session/active-context", {"context_id": bad_id}) == refused
        assert await refusal(client, "GET", f"/api/contexts?parent={quote(bad_id)}") == refused
        for end in ("\n", "a\nb"):
            assert await refusal(client, "GET", f"/api/stream?contexts={quote(end)}") == refused


@pytest.mark.parametrize(("language", "words"), [("en", "isn't known"), ("zh", "无法得知文件之前的内容")])
def test_a_problem_gives_the_reasons_within_it_as_json_and_in_the_readers_language(
    language: Language, words: str
) -> None:
    inner = Reason(Code.UNDO_UNKNOWN, {"detail": "a.txt"})
    body = json.loads(bytes(problem_response(Conflict(Code.UNDO_NOTHING, left=[inner]), language).body))
    assert body["params"] == {"left": [{"code": "undo_unknown", "params": {"detail": "a.txt"}}]}
    assert words in body["detail"]
    many = Conflict(Code.UNDO_NOTHING, left=[inner] * 1000, paths="x" * 100_000)
    assert len(bytes(problem_response(many, language).body)) < 10_000
