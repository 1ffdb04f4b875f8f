"""A server reports a rules log that was cut: in its log when it starts, and in the health of those it concerns."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from pilothouse.domain.rules import Scope
from pilothouse.testing.served import Served
from tests.storage.test_audit_heads import opened, with_half_a_last_line, without_last_line


async def rules_of(path: Path, user: str) -> Path:
    """The file of a user's rules log with two rules."""
    world = opened(path, ids_from=0)
    for tool in ("change", "look"):
        await world.runtime.rules.give("deny", Scope(tool=tool), user=user)
    await world.runtime.close()
    (log,) = (path / "data/users" / user / "journal").iterdir()
    return log


def unreadable(data: bytes) -> bytes:
    first, *others = data.splitlines(keepends=True)
    return b"x" * (len(first) - 1) + b"\n" + b"".join(others)


@pytest.mark.parametrize(
    ("damaged", "code"),
    [(without_last_line, "rules_cut"), (with_half_a_last_line, "rules_cut"), (unreadable, "rules_damaged")],
)
@pytest.mark.parametrize("owner", ["local", "anna"])
async def test_damaged_rules_are_a_problem_for_their_user_and_for_the_local_user(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    damaged: Callable[[bytes], bytes],
    code: str,
    owner: str,
) -> None:
    log = await rules_of(tmp_path, owner)
    log.write_bytes(damaged(log.read_bytes()))
    world = opened(tmp_path)
    served = Served(world.runtime, [tmp_path])
    tokens = {"local": served.token, **{user: served.tokens.add(user) for user in ("anna", "bert")}}
    caplog.set_level(logging.WARNING, "pilothouse.server")
    async with world.runtime, served:
        problems = {}
        for user, token in tokens.items():
            async with served.client(token) as client:
                for _ in range(2):
                    health = await client.request("GET", "/api/health")
                problems[user] = [(each["code"], each["severity"]) for each in health["problems"]]
                assert health["status"] == ("warning" if health["problems"] else "ok")
                for each in health["problems"]:
                    assert (user == owner) == (owner not in each["detail"] or owner == "local")
    concerned = {owner, "local"}
    assert {user for user, each in problems.items() if (code, "warning") in each} == concerned
    assert all(not each for user, each in problems.items() if user not in concerned)
    (record,) = caplog.records
    assert owner in record.getMessage()


async def test_whole_rules_are_no_problem(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    await rules_of(tmp_path, "local")
    world = opened(tmp_path)
    caplog.set_level(logging.WARNING, "pilothouse.server")
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        health = await client.request("GET", "/api/health")
        assert (health["status"], health["problems"]) == ("ok", [])
    assert not caplog.records


async def test_accepted_rules_are_no_problem_any_more(tmp_path: Path) -> None:
    log = await rules_of(tmp_path, "local")
    log.write_bytes(without_last_line(log.read_bytes()))
    world = opened(tmp_path)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        assert (await client.request("GET", "/api/health"))["status"] == "warning"
        rules = (await client.request("GET", "/api/rules"))["items"]
        (substitute,) = [rule for rule in rules if rule["scope"] == {"tool": "*"} or rule["effect"] == "ask"]
        await client.request("DELETE", f"/api/rules/{substitute['id']}")
        assert (await client.request("GET", "/api/health"))["status"] == "ok"
