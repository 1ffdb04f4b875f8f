"""Uploads belong to the conversation: every tool reads them, none writes them, and the repository stays unchanged."""

import errno
import json
import os
import resource
import stat
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, StoreRefused, ToolError
from pilothouse.domain.messages import FileReference, Image
from pilothouse.domain.payloads import MAX_UPLOAD_BYTES, FileReferencePayload, ImagePayload, Payload
from pilothouse.domain.states import Idle
from pilothouse.domain.value import ContextId, MessageId
from pilothouse.testing.world import World
from pilothouse.tools import uploads as bounds
from pilothouse.tools.builtin.delegate import Delegate
from pilothouse.tools.builtin.execute import Execute
from tests.support.kernel import needs_sandbox
from tests.support.live_contexts import live_context
from tests.support.mcp_tools import DONE, answer_with_calls, builtin_tools_for_world, runs, world_with_tools, writes
from tests.support.pngs import SIGNATURE

SHOW = 'cat "$PILOTHOUSE_UPLOADS/data.csv"'


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def stored(world: World, context_id: str) -> Path:
    folder = world.dependencies.store.artifacts_folder(ContextId(context_id))
    assert folder is not None
    return folder / "uploads"


async def results(world: World, context_id: str) -> list[str]:
    calls = (await world.runtime.calls.read(context_id)).items
    messages = await world.runtime.messages.read(context_id, ids=[MessageId(call.result_id or "") for call in calls])
    return [getattr(message, "content", "") for message in messages]


async def answers(world: World, context_id: str) -> list[str]:
    """The results of the tools in the next turn."""
    count = len(await results(world, context_id))
    await world.turn(context_id, "go")
    assert isinstance((await world.runtime.contexts.get(context_id)).state, Idle)
    return (await results(world, context_id))[count:]


async def test_an_upload_is_stored_with_its_conversation_and_not_in_the_workspace(
    tmp_path: Path,
) -> None:
    world = world_with_tools(tmp_path)
    async with world.runtime:
        context_id = await world.start()
        upload = await world.runtime.uploads.add(context_id, "data.csv", b"a,b\n")
        file = tmp_path / "data" / "contexts" / context_id / "artifacts" / "uploads" / "data.csv"
        assert (upload.path, upload.size, file.read_bytes()) == ("uploads/data.csv", 4, b"a,b\n")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        assert tree(world.workspace) == []
        await world.runtime.contexts.delete(context_id)
        assert not file.exists()


async def test_file_tools_read_uploads_and_show_them_in_the_workspace(tmp_path: Path) -> None:
    ask = answer_with_calls(
        ("read_file", {"path": "uploads/data.csv"}),
        ("grep", {"pattern": "plum", "path": "uploads"}),
        ("grep", {"pattern": "plum"}),
        ("glob", {"pattern": "*.csv"}),
        ("glob", {"pattern": "uploads/*.csv"}),
        ("glob", {"pattern": "*.csv", "path": "uploads"}),
        ("list_directory", {}),
        ("list_directory", {"depth": 2}),
        ("list_directory", {"path": "uploads"}),
    )
    world = world_with_tools(tmp_path, ask, DONE)
    (world.workspace / "z").mkdir()
    (world.workspace / "z" / "own.txt").write_text("plum pie\n")
    async with world.runtime:
        context_id = await world.start(mode="review")
        await world.runtime.uploads.add(context_id, "data.csv", b"plum,1\n")
        read, inside, everywhere, by_name, by_path, below, top, deep, folder = await answers(world, context_id)
    assert read == "plum,1\n"
    assert inside == "uploads/data.csv:1: plum,1"
    assert sorted(everywhere.splitlines()) == ["uploads/data.csv:1: plum,1", "z/own.txt:1: plum pie"]
    assert (by_name, by_path, below) == ("uploads/data.csv",) * 3
    assert top.splitlines() == ["uploads/", "z/"]
    assert deep.splitlines() == ["uploads/", "uploads/data.csv", "z/", "z/own.txt"]
    assert folder == "data.csv"


async def test_a_folder_of_the_workspace_with_the_same_name_and_the_uploads_are_seen_together(tmp_path: Path) -> None:
    ask = answer_with_calls(
        ("list_directory", {"path": "uploads"}),
        ("list_directory", {}),
        ("grep", {"pattern": "text", "path": "uploads"}),
        ("glob", {"pattern": "**/*.txt", "path": "uploads"}),
        ("read_file", {"path": "uploads/own.txt"}),
        ("read_file", {"path": "uploads/given.txt"}),
    )
    world = world_with_tools(tmp_path, ask, writes("uploads/new.txt", "new"), DONE)
    (world.workspace / "uploads").mkdir()
    (world.workspace / "uploads" / "own.txt").write_text("own text\n")
    async with world.runtime:
        context_id = await world.start()
        assert (await world.runtime.uploads.add(context_id, "given.txt", b"given text\n")).path == "uploads/given.txt"
        # An upload must not hide a file that messages of earlier versions name.
        assert (await world.runtime.uploads.add(context_id, "own.txt", b"other")).path == "uploads/own-2.txt"
        listed, top, globbed, named, own, uploaded, _ = await answers(world, context_id)
    assert listed.splitlines() == ["given.txt", "own-2.txt", "own.txt"]
    assert top == "uploads/"
    assert sorted(globbed.splitlines()) == ["uploads/given.txt:1: given text", "uploads/own.txt:1: own text"]
    assert sorted(named.splitlines()) == ["uploads/given.txt", "uploads/own-2.txt", "uploads/own.txt"]
    assert (own, uploaded) == ("own text\n", "given text\n")
    assert (world.workspace / "uploads" / "new.txt").read_text() == "new"


async def test_a_conversation_without_uploads_shows_no_folder_for_them(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, answer_with_calls(("list_directory", {}), ("glob", {"pattern": "*"})), DONE)
    async with world.runtime:
        context_id = await world.start()
        assert await answers(world, context_id) == ["[empty]", "No files match."]


async def test_an_uploaded_file_cannot_be_written_and_the_error_says_what_to_do(tmp_path: Path) -> None:
    cell = json.dumps({"cells": [{"cell_type": "code", "source": [], "metadata": {}}], "nbformat": 4})
    ask = answer_with_calls(
        ("write_file", {"path": "uploads/data.csv", "content": "x"}),
        ("edit_file", {"path": "uploads/data.csv", "edits": [{"old_text": "a", "new_text": "b"}]}),
        ("notebook_edit", {"path": "uploads/book.ipynb", "cell": 0, "source": "1"}),
        ("execute", {"command": "echo x > uploads/data.csv"}),
        ("read_file", {"path": "uploads/book.ipynb"}),
    )
    world = world_with_tools(tmp_path, ask, DONE)
    async with world.runtime:
        context_id = await world.start()
        await world.runtime.uploads.add(context_id, "data.csv", b"a,b\n")
        await world.runtime.uploads.add(context_id, "book.ipynb", cell.encode())
        *refused, ran, read = await answers(world, context_id)
        assert "No such file or directory" in ran, "a shell knows no name but the workspace's own"
        assert len(refused) == 3
        for text in refused:
            assert "uploads are read-only" in text
            assert "Copy it into the workspace first" in text
        assert read == cell
        assert (stored(world, context_id) / "data.csv").read_bytes() == b"a,b\n"
    assert tree(world.workspace) == []


async def test_a_new_file_below_the_name_of_the_uploads_is_refused_while_it_means_them_alone(tmp_path: Path) -> None:
    ask = answer_with_calls(
        ("write_file", {"path": "uploads/new.txt", "content": "x"}),
        ("write_file", {"path": "uploads/sub/new.txt", "content": "x"}),
        ("write_file", {"path": "here/uploads/new.txt", "content": "x"}),
    )
    make_folder = answer_with_calls(("execute", {"command": "mkdir uploads"}))
    writes_of_names = [writes("uploads/new.txt", "x"), writes("docs/uploads/new.txt", "x"), writes("uploads.txt", "x")]
    world = world_with_tools(tmp_path, ask, DONE, *writes_of_names[1:], DONE, make_folder, writes_of_names[0], DONE)
    (world.workspace / "here").symlink_to(".")
    async with world.runtime:
        context_id = await world.start()
        await world.runtime.uploads.add(context_id, "data.csv", b"a,b\n")
        refused = await answers(world, context_id)
        assert len(refused) == 3
        for text in refused:
            assert "Create the file in another folder" in text
        with pytest.raises(Conflict) as conflict:
            await world.runtime.uploads.copy(context_id, "data.csv", "uploads/new.csv")
        assert conflict.value.reason.code is Code.UPLOADS_RESERVED
        workspace = (await live_context(world.runtime, context_id)).files.workspace()
        with pytest.raises(ToolError):
            workspace.write("uploads/new.txt", b"x", expected=None)
        assert tree(world.workspace) == ["here"]
        await answers(world, context_id)
        assert tree(world.workspace) == ["docs", "docs/uploads", "docs/uploads/new.txt", "here", "uploads.txt"]
        *_, written = await answers(world, context_id)
        assert "uploads/new.txt" in written, "the workspace has a folder of that name now"
    assert (world.workspace / "uploads" / "new.txt").read_text() == "x"


async def test_without_an_upload_the_name_means_a_folder_of_the_workspace(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("uploads/new.txt", "x"), DONE)
    async with world.runtime:
        await answers(world, await world.start())
    assert tree(world.workspace) == ["uploads", "uploads/new.txt"]


async def test_a_removed_folder_with_the_name_of_the_uploads_can_be_undone(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, answer_with_calls(("execute", {"command": "rm -r uploads"})), DONE)
    (world.workspace / "uploads").mkdir()
    (world.workspace / "uploads" / "own.txt").write_text("own")
    async with world.runtime:
        context_id = await world.start()
        await world.runtime.uploads.add(context_id, "data.csv", b"a,b\n")
        await answers(world, context_id)
        assert (await world.runtime.workspaces.undo(context_id)).paths == ("uploads/own.txt",)
    assert (world.workspace / "uploads" / "own.txt").read_text() == "own"


async def test_messages_refer_to_uploads_and_the_file_finder_finds_them(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, DONE)
    (world.workspace / "database.csv").write_text("")
    async with world.runtime:
        context_id = await world.start()
        await world.runtime.uploads.add(context_id, "data.csv", b"plum\n")
        await world.runtime.uploads.add(context_id, "shot.png", SIGNATURE)
        other = await world.start()
        for query, limit in (("data", 20), ("", 20)):
            paths = [item.path for item in (await world.runtime.workspaces.find_files(context_id, query, limit)).items]
            assert "uploads/data.csv" in paths
            assert "database.csv" in paths
            assert "uploads/data.csv" not in [
                item.path for item in (await world.runtime.workspaces.find_files(other, query, limit)).items
            ]
        payloads: list[Payload] = [FileReferencePayload(path="uploads/data.csv"), ImagePayload(path="uploads/shot.png")]
        await world.runtime.messages.send(context_id, payloads)
        await world.runtime.turns.rested(context_id)
        messages = await world.runtime.messages.read(context_id, branch="main")
        (reference,) = [message for message in messages if isinstance(message, FileReference)]
        (image,) = [message for message in messages if isinstance(message, Image)]
    assert (reference.content, reference.error) == ("plum\n", None)
    assert image.data == b64encode(SIGNATURE).decode()


async def test_a_file_whose_name_is_protected_in_a_project_is_read_as_an_upload(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, answer_with_calls(("read_file", {"path": "uploads/config.fish"})), DONE)
    async with world.runtime:
        context_id = await world.start()
        await world.runtime.uploads.add(context_id, "config.fish", b"set -x A 1\n")
        assert await answers(world, context_id) == ["set -x A 1\n"]


# commands


@pytest.mark.parametrize("where", ["beside", "inside"])
@pytest.mark.parametrize("mode", ["agent", "review"])
@needs_sandbox
async def test_a_command_reads_uploads_wherever_the_data_directory_lies(tmp_path: Path, where: str, mode: str) -> None:
    workspace = tmp_path / "project"
    folder = workspace / ".data" if where == "inside" else tmp_path / "beside"
    folder.mkdir(parents=True)
    reads_more = 'cat "$PILOTHOUSE_UPLOADS/../../../../secret"'
    world = world_with_tools(folder, runs(SHOW), runs(reads_more), DONE, workspace=workspace)
    (folder / "data" / "secret").write_text("fig")
    async with world.runtime:
        context_id = await world.start(mode=mode)
        await world.runtime.uploads.add(context_id, "data.csv", b"plum,1\n")
        shown, more = await answers(world, context_id)
    assert shown == "plum,1\n"
    assert "fig" not in more, "a line that plainly leads to the runtime's own files is refused"


@needs_sandbox
async def test_a_command_that_is_confined_to_the_workspace_reads_uploads_and_cannot_write_them(tmp_path: Path) -> None:
    others = [tool for tool in builtin_tools_for_world() if tool.name != "execute"]
    change = 'echo x > "$PILOTHOUSE_UPLOADS/data.csv"; rm "$PILOTHOUSE_UPLOADS"/*'
    tools = [*others, Execute(sandbox="workspace")]
    world = world_with_tools(tmp_path, runs(SHOW), runs(change), DONE, tools=tools)
    async with world.runtime:
        context_id = await world.start()
        await world.runtime.uploads.add(context_id, "data.csv", b"plum,1\n")
        shown, refused = await answers(world, context_id)
        assert (shown, refused.count("ermission denied")) == ("plum,1\n", 2)
        assert tree(stored(world, context_id)) == ["data.csv"]


@needs_sandbox
async def test_another_conversations_uploads_cannot_be_reached(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path)
    async with world.runtime:
        mine, other = await world.start(mode="review"), await world.start()
        await world.runtime.uploads.add(other, "secret.txt", b"plum")
        secret = stored(world, other) / "secret.txt"
    ask = answer_with_calls(
        ("read_file", {"path": "uploads/secret.txt"}),
        ("read_file", {"path": str(secret)}),
        ("read_file", {"path": f"uploads/../../../{other}/artifacts/uploads/secret.txt"}),
        ("execute", {"command": f'cat "$PILOTHOUSE_UPLOADS/../../../{other}/artifacts/uploads/secret.txt"'}),
    )
    again = world_with_tools(tmp_path, ask, DONE, ids_from=1000)
    async with again.runtime:
        answered = await answers(again, mine)
    assert len(answered) == 4
    assert "plum" not in "".join(answered)


async def test_a_sub_agent_reads_the_uploads_of_its_conversation(tmp_path: Path) -> None:
    delegates = answer_with_calls(("delegate", {"task": "read it"}))
    read = answer_with_calls(("read_file", {"path": "uploads/data.csv"}))
    world = world_with_tools(tmp_path, delegates, read, DONE, DONE, tools=[*builtin_tools_for_world(), Delegate()])
    async with world.runtime:
        context_id = await world.start()
        await world.runtime.uploads.add(context_id, "data.csv", b"plum\n")
        await answers(world, context_id)
        (child,) = (await world.runtime.contexts.list(parent=context_id)).items
        assert await results(world, child.context_id) == ["plum\n"]
        await world.runtime.uploads.add(child.context_id, "more.csv", b"fig\n")
        assert tree(stored(world, context_id)) == ["data.csv", "more.csv"]


# copying and removing


async def test_copying_an_upload_is_an_act_of_the_person_that_never_replaces_a_file(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path)
    (world.workspace / "taken.csv").write_text("mine")
    (world.workspace / "docs").mkdir()
    async with world.runtime:
        context_id = await world.start(mode="plan")
        await world.runtime.uploads.add(context_id, "data.csv", b"plum\n")
        await world.runtime.uploads.add(context_id, "taken.csv", b"fig\n")

        async def copy(name: str, path: str | None = None) -> str:
            return (await world.runtime.uploads.copy(context_id, name, path, by="anna")).path

        assert await copy("data.csv") == "data.csv"
        assert await copy("data.csv") == "data.csv"  # the same again is no second copy
        assert await copy("data.csv", "a/b.csv") == "a/b.csv"
        assert await copy("data.csv", "docs") == "docs/data.csv"
        assert await copy("data.csv", "new/") == "new/data.csv"
        assert await copy("taken.csv") == "taken-2.csv"
        for path, code in (
            ("taken.csv", Code.FILE_EXISTS),
            ("../out.csv", Code.OUTSIDE_WORKSPACE),
            ("/etc/out.csv", Code.OUTSIDE_WORKSPACE),
            (".git/hooks/post-checkout", Code.PROTECTED_PATH),
            (".bashrc", Code.PROTECTED_PATH),
            (".pilothouse/config.toml", Code.PROTECTED_PATH),
            ("uploads/data.csv", Code.UPLOAD_READ_ONLY),
            ("a\0b", Code.OUTSIDE_WORKSPACE),
        ):
            with pytest.raises(Conflict) as refused:
                await copy("data.csv", path)
            assert refused.value.reason.code is code, path
        entries = [
            entry for entry in (await world.runtime.contexts.audit(context_id)).entries if entry.kind == "upload_copied"
        ]
        assert [entry.by for entry in entries] == ["anna"] * 5
        assert entries[0].detail == {"name": "data.csv", "path": "data.csv"}
    assert (world.workspace / "taken.csv").read_text() == "mine"
    assert tree(world.workspace) == [
        *("a", "a/b.csv", "data.csv", "docs", "docs/data.csv", "new", "new/data.csv", "taken-2.csv", "taken.csv"),
    ]


async def test_a_removed_upload_is_deleted_and_sent_messages_keep_its_content(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, DONE, answer_with_calls(("read_file", {"path": "uploads/data.csv"})), DONE)
    async with world.runtime:
        context_id = await world.start()
        await world.runtime.uploads.add(context_id, "data.csv", b"plum\n")
        await world.runtime.messages.send(context_id, [FileReferencePayload(path="uploads/data.csv")])
        await world.runtime.turns.rested(context_id)
        await world.runtime.uploads.remove(context_id, "data.csv", by="anna")
        assert tree(stored(world, context_id)) == []
        first = (await world.runtime.messages.read(context_id, branch="main"))[0]
        assert isinstance(first, FileReference)
        assert first.content == "plum\n"
        assert await answers(world, context_id) == ["'uploads/data.csv' doesn't exist."]
        (entry,) = [
            entry
            for entry in (await world.runtime.contexts.audit(context_id)).entries
            if entry.kind == "upload_removed"
        ]
        assert (entry.by, entry.detail) == ("anna", {"name": "data.csv"})
        with pytest.raises(NotFound):
            await world.runtime.uploads.remove(context_id, "data.csv")
        assert (await world.runtime.contexts.audit(context_id)).chain.whole


async def test_an_upload_removed_while_it_is_read_is_missing_and_nothing_else(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path)
    async with world.runtime:
        context_id = await world.start()
        await world.runtime.uploads.add(context_id, "data.csv", b"plum\n")
        workspace = (await live_context(world.runtime, context_id)).files.workspace()
        with workspace.open_file("uploads/data.csv") as file:
            await world.runtime.uploads.remove(context_id, "data.csv")
            assert file.read() == b"plum\n"  # a process with the file open reads it to its end
        assert (await world.runtime.uploads.add(context_id, "data.csv", b"fig\n")).path == "uploads/data.csv"
        assert workspace.read("uploads/data.csv") == b"fig\n"


# hostile names and links


@pytest.mark.parametrize(
    "name",
    [
        "..",
        ".",
        "",
        "a/b",
        "../data.csv",
        "/etc/passwd",
        "a\0b",
        "x" * 300,
        "data.csv/",
        "./data.csv",
        "\u202edata.csv",
    ],
)
async def test_a_name_that_is_no_upload_is_not_found(tmp_path: Path, name: str) -> None:
    world = world_with_tools(tmp_path)
    async with world.runtime:
        context_id = await world.start()
        await world.runtime.uploads.add(context_id, "data.csv", b"plum\n")
        for act in (world.runtime.uploads.copy, world.runtime.uploads.remove):
            with pytest.raises(NotFound) as refused:
                await act(context_id, name)
            assert refused.value.reason.code is Code.UNKNOWN_UPLOAD
        assert tree(stored(world, context_id)) == ["data.csv"]
    assert tree(world.workspace) == []


async def test_a_link_put_among_the_uploads_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("plum")
    ask = answer_with_calls(
        ("read_file", {"path": "uploads/link"}),
        ("read_file", {"path": "uploads/folder/secret"}),
        ("grep", {"pattern": "plum", "path": "uploads"}),
        ("grep", {"pattern": "plum", "path": "uploads/link"}),
    )
    world = world_with_tools(tmp_path, ask, DONE)
    async with world.runtime:
        context_id = await world.start()
        await world.runtime.uploads.add(context_id, "data.csv", b"fig\n")
        (stored(world, context_id) / "link").symlink_to(tmp_path / "secret")
        (stored(world, context_id) / "folder").symlink_to(tmp_path)
        for act in (world.runtime.uploads.copy, world.runtime.uploads.remove):
            with pytest.raises(NotFound):
                await act(context_id, "link")
        paths = (await world.runtime.workspaces.find_files(context_id)).items
        assert [item.path for item in paths] == ["uploads/data.csv"]
        assert "plum" not in "".join(await answers(world, context_id))
        exported = b"".join([piece async for piece in world.runtime.exports.create(context_id)])
        assert b64encode(b"plum") not in exported
    assert (tmp_path / "secret").read_text() == "plum"


async def test_a_link_in_the_place_of_the_uploads_opens_no_other_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("plum")
    world = world_with_tools(
        tmp_path, answer_with_calls(("read_file", {"path": "uploads/secret"}), ("list_directory", {})), DONE
    )
    async with world.runtime:
        context_id = await world.start()
        folder = tmp_path / "data" / "contexts" / context_id / "artifacts"
        folder.mkdir(exist_ok=True)
        (folder / "uploads").symlink_to(outside)
        read, listed = await answers(world, context_id)
        assert (read, listed) == ("'uploads/secret' doesn't exist.", "[empty]")
        with pytest.raises(StoreRefused):
            await world.runtime.uploads.add(context_id, "data.csv", b"x")
        with pytest.raises(StoreRefused):
            await world.runtime.uploads.remove(context_id, "secret")
        assert (await world.runtime.workspaces.find_files(context_id)).items == ()
    assert tree(outside) == ["secret"]


# bounds and faults


@contextmanager
def files_end_at(size: int) -> Iterator[None]:
    """Writing more fails, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_an_upload_that_the_disk_refuses_leaves_nothing_and_the_next_one_works(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path)
    async with world.runtime:
        context_id = await world.start()
        with files_end_at(100_000), pytest.raises(StoreRefused) as refused:
            await world.runtime.uploads.add(context_id, "data.csv", bytes(200_000))
        assert refused.value.reason.code is Code.UPLOAD_NOT_STORED
        assert os.strerror(errno.EFBIG) in str(refused.value)
        folder = stored(world, context_id)
        assert tree(folder.parent) == ["outputs", "uploads"]
        (folder.parent / ".upload").write_bytes(b"left by a crash")
        assert (await world.runtime.uploads.add(context_id, "data.csv", bytes(200_000))).path == "uploads/data.csv"
        assert tree(folder.parent) == ["outputs", "uploads", "uploads/data.csv"]


async def test_the_uploads_of_a_conversation_are_bounded_in_number_and_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_UPLOADS", 2)
    monkeypatch.setattr(bounds, "MAX_ALL_UPLOADS_BYTES", 10)
    world = world_with_tools(tmp_path)
    async with world.runtime:
        context_id = await world.start()
        await world.runtime.uploads.add(context_id, "a", b"12345")
        with pytest.raises(Conflict) as refused:
            await world.runtime.uploads.add(context_id, "b", b"123456")
        assert str(refused.value) == (
            "The uploads of this conversation would be too large: they take up 5 bytes, and 6 more would exceed the "
            "limit of 10. Remove some first."
        )
        await world.runtime.uploads.add(context_id, "b", b"12345")
        with pytest.raises(Conflict, match="already has 2 uploads"):
            await world.runtime.uploads.add(context_id, "c", b"")
        await world.runtime.uploads.remove(context_id, "a")
        await world.runtime.uploads.add(context_id, "c", b"12345")
        with pytest.raises(InvalidInput):
            await world.runtime.uploads.add(context_id, "d", bytes(MAX_UPLOAD_BYTES + 1))


# earlier versions


async def test_an_upload_of_an_earlier_version_is_still_read_in_the_workspace(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, DONE)
    (world.workspace / "uploads").mkdir()
    (world.workspace / "uploads" / "old.txt").write_text("plum\n")
    async with world.runtime:
        context_id = await world.start()
        await world.runtime.uploads.add(context_id, "new.txt", b"fig\n")
        await world.runtime.messages.send(context_id, [FileReferencePayload(path="uploads/old.txt")])
        await world.runtime.turns.rested(context_id)
        first = (await world.runtime.messages.read(context_id, branch="main"))[0]
        assert isinstance(first, FileReference)
        assert first.content == "plum\n"
        with pytest.raises(NotFound):  # the file belongs to the repository now: the runtime never removes it
            await world.runtime.uploads.remove(context_id, "old.txt")
    assert tree(world.workspace) == ["uploads", "uploads/old.txt"]


async def test_a_conversation_in_memory_refuses_uploads_with_a_reason(tmp_path: Path) -> None:
    world = World(tmp_path)
    context_id = await world.start()
    with pytest.raises(Conflict) as refused:
        await world.runtime.uploads.add(context_id, "a.txt", b"x")
    assert refused.value.reason.code is Code.UPLOADS_NOT_KEPT
    assert tree(tmp_path) == []


@pytest.mark.parametrize("mode", ["agent", "review"])
async def test_a_folder_of_the_conversation_is_no_place_to_run_a_command_in(tmp_path: Path, mode: str) -> None:
    """From there, relative paths would lead into the runtime's own data."""
    ask = answer_with_calls(
        ("execute", {"cwd": "uploads", "command": "cat ../../../../secret"}),
        ("execute", {"cwd": "uploads", "command": "echo x > ../changes.jsonl"}),
    )
    world = world_with_tools(tmp_path, ask, DONE)
    (tmp_path / "data" / "secret").write_text("fig")
    async with world.runtime:
        context_id = await world.start(mode=mode)
        await world.runtime.uploads.add(context_id, "data.csv", b"plum,1\n")
        await world.turn(context_id, "go")
        calls = (await world.runtime.calls.read(context_id)).items
        assert not any(call.status == "executed" for call in calls)
        assert not (stored(world, context_id).parent / "changes.jsonl").exists()


async def test_an_upload_is_not_run_in_place_of_a_script_of_the_workspace(tmp_path: Path) -> None:
    """The shell runs the file shown in the approval: the workspace's uploads/run.sh, not the upload of that name."""
    world = world_with_tools(tmp_path, runs("sh uploads/run.sh"), DONE)
    async with world.runtime:
        context_id = await world.start(mode="supervised")
        await world.runtime.uploads.add(context_id, "run.sh", b"echo harmless")
        (world.workspace / "uploads").mkdir()
        (world.workspace / "uploads" / "run.sh").write_text("echo harmless")
        await world.turn(context_id, "go")
        (world.workspace / "uploads" / "run.sh").write_text("echo EVIL")
        await world.runtime.calls.approve_all(context_id)
        await world.runtime.turns.rested(context_id)
        (call,) = (await world.runtime.calls.read(context_id)).items
        assert call.status == "failed"
