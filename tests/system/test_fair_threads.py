"""Threads are shared fairly: one user's long scans do not stop the work of others."""

import asyncio
import contextlib
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.budgets import OverviewSettings
from pilothouse.runtime.request import overview as overview_module
from pilothouse.sandbox import gitignore
from pilothouse.sandbox.workspace import Workspace
from pilothouse.system.fair_threads import MAX_THREADS_PER_USER, FairThreads, acting_user
from pilothouse.testing.served import Served
from pilothouse.testing.world import World
from pilothouse.tools import overview
from pilothouse.tools.builtin.list_directory import _list_folder, _match_glob
from pilothouse.tools.undo import tree


def submit_as(threads: FairThreads, user: str, work: Any) -> Any:
    def submit() -> Any:
        acting_user.set(user)
        return threads.submit(work)

    return copy_context().run(submit)


def test_work_of_one_user_has_a_bounded_number_of_threads_and_the_rest_waits_in_order() -> None:
    gate, started = threading.Event(), threading.Semaphore(0)
    order: list[int] = []

    def held(number: int) -> int:
        started.release()
        gate.wait()
        order.append(number)
        return number

    with FairThreads(max_threads=8, max_per_user=1) as threads:
        futures = [submit_as(threads, "anna", lambda number=number: held(number)) for number in range(5)]
        started.acquire()
        assert submit_as(threads, "bob", lambda: "bob is served").result() == "bob is served"
        assert threads.submit(lambda: "so is the runtime").result() == "so is the runtime"
        futures[3].cancel()
        gate.set()
    assert order == [0, 1, 2, 4]
    assert [future.result() for future in futures if not future.cancelled()] == order


def test_an_error_reaches_the_waiter_and_frees_the_thread() -> None:
    def fail() -> None:
        raise ValueError("no")

    with FairThreads(max_threads=2, max_per_user=1) as threads:
        failed = submit_as(threads, "anna", fail)
        assert isinstance(failed.exception(), ValueError)
        assert submit_as(threads, "anna", lambda: 1).result() == 1


async def test_scans_of_one_user_do_not_stop_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anna asks for more overviews than there are threads; Bob's turn, his files and his overview come all the same."""
    gate, begun, describe = threading.Event(), threading.Semaphore(0), overview.describe_workspace

    def held(workspace: Workspace, *rest: Any) -> str:
        if workspace.root.name == "anna":
            begun.release()
            gate.wait()
        return describe(workspace, *rest)

    monkeypatch.setattr(overview_module, "describe_workspace", held)
    with contextlib.ExitStack() as end:
        end.callback(gate.set)
        await scan_beside_bob(tmp_path, begun, gate)


async def scan_beside_bob(tmp_path: Path, begun: threading.Semaphore, gate: threading.Event) -> None:
    for name in ("anna", "bob"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text("hello")
    world = World(tmp_path)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served:
        clients = {name: served.client(served.tokens.add(name)) for name in ("anna", "bob")}
        async with clients["anna"] as anna, clients["bob"] as bob:
            body = {"workspace": str(tmp_path / "anna")}
            ids = [(await anna.request("POST", "/api/contexts", body))["context_id"] for _ in range(40)]
            scans = [
                asyncio.create_task(anna.request("POST", f"/api/contexts/{each}/workspace-overview")) for each in ids
            ]
            for _ in range(MAX_THREADS_PER_USER):
                await asyncio.to_thread(begun.acquire)
            own = (await bob.request("POST", "/api/contexts", {"workspace": str(tmp_path / "bob")}))["context_id"]
            assert (await bob.request("POST", f"/api/contexts/{own}/workspace-overview"))["message_id"]
            response = await bob.request("GET", f"/api/contexts/{own}/files?query=bob")
            assert [each["path"] for each in response["items"]] == ["bob.txt"]
            assert not any(scan.done() for scan in scans)
            assert not begun.acquire(blocking=False), "Anna has no more threads than that"
            gate.set()
            await asyncio.gather(*scans)


# ignore files

COSTLY_RULES = "\n".join(f"*{'a*' * 30}{number}" for number in range(1000))


@pytest.mark.parametrize(
    "text",
    [COSTLY_RULES, "x\n" * (gitignore.MAX_RULES + 1), "x" * (gitignore.MAX_IGNORE_BYTES + 1)],
    ids=["wildcards", "rules", "bytes"],
)
def test_an_ignore_file_over_the_limit_is_not_applied_and_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".gitignore").write_text(f"{text}\n*.log\n")
    (tmp_path / "sub" / "a.log").touch()
    (tmp_path / ".gitignore").write_text("*.tmp\n")
    (tmp_path / "b.tmp").touch()
    notice = "[ignore files not applied, over the limit of 2000 rules, 4000 wildcards, 128 kB: sub/.gitignore]"
    workspace = Workspace(tmp_path)
    listed = _list_folder(workspace, ".", 3, lambda: False)
    assert "sub/a.log" in listed
    assert "b.tmp" not in listed
    assert notice in listed
    assert notice in _list_folder(workspace, "sub", 2, lambda: False)
    assert notice in _match_glob(workspace, ".", lambda path: path.endswith(".log"), lambda: False)
    assert notice in overview.describe_workspace(workspace, OverviewSettings(), len)


def test_ignore_files_that_hold_in_one_folder_share_the_limit(tmp_path: Path) -> None:
    """Many nested files, each below the limit, cost as much as one above it."""
    folder, rules = tmp_path, "".join(f"*a{number}*\n" for number in range(gitignore.MAX_WILDCARDS // 5))
    for _ in range(5):
        (folder / ".gitignore").write_text(rules)
        folder = folder / "sub"
        folder.mkdir()
    listed = _list_folder(Workspace(tmp_path), ".", 5, lambda: False)
    named = [line for line in listed.splitlines() if "not applied" in line]
    assert "sub/sub/.gitignore, sub/sub/sub/.gitignore, sub/sub/sub/sub/.gitignore" in named[0]


def test_a_walk_ends_when_ignore_rules_have_used_their_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".gitignore").write_text("*a*b*c\n" * 20)
    for number in range(200):
        (tmp_path / f"{'x' * 100}{number}").touch()
    workspace = Workspace(tmp_path)
    whole = _match_glob(workspace, ".", lambda _: True, lambda: False)
    assert len(whole.splitlines()) == 201
    compiled = gitignore.IgnoreFile("", ".gitignore", "*a*b*c\n" * 20).work_to_compile()
    monkeypatch.setattr(gitignore, "MAX_RULE_WORK_CHARACTERS", compiled + 50 * 100 * 60)
    cut = _match_glob(workspace, ".", lambda _: True, lambda: False)
    assert 10 < len(cut.splitlines()) < 100
    assert "ignore files that take too long to apply" in cut
    assert "of the first" in overview.describe_workspace(workspace, OverviewSettings(), lambda _: 0)


def test_undo_covers_every_file_once_ignore_rules_have_used_their_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gitignore, "MAX_RULE_WORK_CHARACTERS", 1)
    (tmp_path / ".gitignore").write_text("sub\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a").touch()
    scanned: list[str] = []
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        tree.scan(fd, str(tmp_path), (), 100, lambda _fd, _name, path, _status: scanned.append(path), lambda: False)
    finally:
        os.close(fd)
    assert "sub/a" in scanned


def test_work_after_the_end_is_refused_every_time() -> None:
    threads = FairThreads(max_threads=2, max_per_user=1)
    threads.shutdown()
    for _ in range(3):
        with pytest.raises(RuntimeError):
            submit_as(threads, "anna", lambda: None)


def test_a_shutdown_that_cancels_ends_all_work_that_has_not_begun() -> None:
    gate, started = threading.Event(), threading.Semaphore(0)

    def held() -> str:
        started.release()
        gate.wait()
        return "done"

    threads = FairThreads(max_threads=1, max_per_user=1)
    try:
        running = submit_as(threads, "anna", held)
        started.acquire()
        waiting = [submit_as(threads, "anna", held) for _ in range(2)]  # for a thread of Anna's
        queued = submit_as(threads, "bob", held)  # for a thread of the pool
        threads.shutdown(wait=False, cancel_futures=True)
        assert all(future.cancelled() for future in (*waiting, queued))
        with pytest.raises(RuntimeError):
            submit_as(threads, "anna", held)
    finally:
        gate.set()
        threads.shutdown()
    assert running.result() == "done"


def test_a_shutdown_without_cancelling_finishes_queued_work() -> None:
    gate = threading.Event()
    threads = FairThreads(max_threads=1, max_per_user=1)
    futures = [submit_as(threads, "anna", gate.wait) for _ in range(3)]
    threads.shutdown(wait=False)
    gate.set()
    threads.shutdown()
    assert [future.result() for future in futures] == [True] * 3


def test_work_that_waits_for_work_that_the_pool_refuses_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = FairThreads(max_threads=1, max_per_user=1)
    waiting: list[Any] = []

    def refuse(*_: Any) -> Any:
        waiting.extend(submit_as(threads, "anna", lambda: None) for _ in range(2))
        raise RuntimeError("cannot schedule new futures after shutdown")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", refuse)
    with pytest.raises(RuntimeError):
        submit_as(threads, "anna", lambda: None)
    assert [future.cancelled() for future in waiting] == [True, True]
    threads.shutdown()
