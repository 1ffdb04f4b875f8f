"""Attributes of a file beside its content: mode, owner, ACL, extended attributes, other names. A change keeps
them, or asks first, or names the ones it does not keep."""

import errno
import json
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.workspace import ABSENT, Workspace
from pilothouse.testing.world import World
from pilothouse.tools.builtin import builtin_tools
from tests.security.test_self_escalation import DONE, call_answer, writes
from tests.support.assertions import present
from tests.tools.builtin.test_builtin_tools import use

NOTEBOOK = json.dumps({"cells": [{"cell_type": "markdown", "metadata": {}, "source": []}], "nbformat": 4})
EDITS = [{"old_text": "old", "new_text": "new"}]
# An ACL that lets user 1234 read: version 2, then tag, permissions and id of each entry.
ACL = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", tag, permissions, user)
    for tag, permissions, user in (
        (1, 6, 2**32 - 1),
        (2, 4, 1234),
        (4, 4, 2**32 - 1),
        (16, 4, 2**32 - 1),
        (32, 0, 2**32 - 1),
    )
)


def read_only(path: Path, content: str) -> Path:
    path.write_text(content)
    path.chmod(0o444)
    return path


@pytest.mark.parametrize("mode", [0o444, 0o400, 0o555, 0o466])
def test_a_file_its_owner_may_not_write_is_asked_for(tmp_path: Path, mode: int) -> None:
    read_only(tmp_path / "a", "old").chmod(mode)
    (tmp_path / "link").symlink_to("a")
    workspace = Workspace(tmp_path)
    for path in ("a", "link"):
        reason = workspace.approval_reason(path)
        assert reason is not None
        assert reason.code is Code.FILE_READ_ONLY
    (tmp_path / "b").write_text("old")
    assert workspace.approval_reason("b") is None
    assert workspace.approval_reason("missing") is None


async def test_a_read_only_file_waits_for_the_person_even_in_agent(tmp_path: Path) -> None:
    read_only(tmp_path / "a", "old")
    world = World(tmp_path, call_answer(writes("a")), DONE, tools=builtin_tools())
    context_id = await world.start("agent")
    await world.turn(context_id)
    (pending,) = await world.runtime.calls.pending(context_id)
    assert present(pending.reason).code is Code.FILE_READ_ONLY
    assert (tmp_path / "a").read_text() == "old"


async def test_an_approved_change_keeps_the_mode(tmp_path: Path) -> None:
    path = read_only(tmp_path / "a", "old\n")
    await use(tmp_path, "edit_file", path="a", edits=EDITS)
    assert (path.read_text(), path.stat().st_mode & 0o7777) == ("new\n", 0o444)
    notebook = read_only(tmp_path / "n.ipynb", NOTEBOOK)
    await use(tmp_path, "notebook_edit", path="n.ipynb", cell=0, source="x")
    assert notebook.stat().st_mode & 0o7777 == 0o444


def attribute(path: Path, name: str) -> bytes | None:
    try:
        return os.getxattr(path, name)
    except OSError:
        return None


def set_attribute(path: Path, name: str, value: bytes) -> None:
    try:
        os.setxattr(path, name, value)
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.EPERM):
            pytest.skip(f"the file system has no {name}")
        raise


@pytest.mark.parametrize(("name", "value"), [("user.origin", b"here"), ("system.posix_acl_access", ACL)])
async def test_a_change_keeps_extended_attributes_and_acls(tmp_path: Path, name: str, value: bytes) -> None:
    path = tmp_path / "a"
    path.write_text("old\n")
    set_attribute(path, name, value)
    before = (attribute(path, name), path.stat().st_mode)
    await use(tmp_path, "edit_file", path="a", edits=EDITS)
    assert path.read_text() == "new\n"
    assert (attribute(path, name), path.stat().st_mode) == before


async def test_a_file_without_an_acl_gets_none_from_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old\n")
    set_attribute(tmp_path, "system.posix_acl_default", ACL)
    await use(tmp_path, "edit_file", path="a", edits=EDITS)
    assert attribute(path, "system.posix_acl_access") is None


async def test_a_file_with_other_names_is_replaced_and_the_answer_says_so(tmp_path: Path) -> None:
    """Another name may lie outside of the workspace: that file is not the agent's to change."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.write_text("old\n")
    for name in ("a", "b.ipynb"):
        os.link(outside, root / name)
    answer = await use(root, "edit_file", path="a", edits=EDITS)
    assert (outside.read_text(), (root / "a").read_text()) == ("old\n", "new\n")
    assert "2 other names (hard links) keep the old content" in answer
    answer = await use(root, "write_file", path="b.ipynb", content=NOTEBOOK)
    assert "1 other name (hard link) keeps the old content" in answer
    os.link(root / "b.ipynb", root / "c.ipynb")
    assert "1 other name" in await use(root, "notebook_edit", path="b.ipynb", cell=0, source="x")
    assert "other name" not in await use(root, "write_file", path="b.ipynb", content="x")


AS_SOMEBODY = """
import os, sys
from pathlib import Path
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.workspace import Workspace
os.setgroups([4321]); os.setgid(4321); os.setuid(4321)
workspace = Workspace(Path(sys.argv[1]))
for path in ("shared", "foreign", "mine"):
    try:
        workspace.write(path, b"new content", expected=workspace.content_hash(path))
        print(path, "written")
    except ToolError as error:
        print(path, error.reason.code)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of other users")
@pytest.mark.parametrize("is_writable", [True, False], ids=["writable folder", "read-only folder"])
def test_another_users_file_is_written_in_place_or_refused(is_writable: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:  # in a folder that other users may enter
        write_as_somebody(Path(folder), is_writable)


def write_as_somebody(root: Path, is_writable: bool) -> None:
    owners = {"shared": (0, 4321, 0o664), "foreign": (0, 0, 0o644), "mine": (4321, 4321, 0o644)}
    for name, (user, group, mode) in owners.items():
        (root / name).write_text("old")
        os.chown(root / name, user, group)
        (root / name).chmod(mode)
    root.chmod(0o777 if is_writable else 0o755)
    inodes = {name: (root / name).stat().st_ino for name in owners}
    done = subprocess.run(
        [sys.executable, "-c", AS_SOMEBODY, str(root)],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.split("\n")[:3] == ["shared written", "foreign file_not_writable", "mine written"], done.stderr
    for name, (user, group, mode) in owners.items():
        status = (root / name).stat()
        assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (user, group, mode)
        assert (root / name).read_text() == ("old" if name == "foreign" else "new content")
        in_place = name != "mine" or not is_writable
        assert (status.st_ino == inodes[name]) is in_place


def test_an_immutable_file_is_refused_with_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("old")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "replace", refuse)  # the kernel's error after `chattr +i`
    workspace = Workspace(tmp_path)
    with pytest.raises(ToolError, match="Can't write 'a': Operation not permitted") as caught:
        workspace.write("a", b"new", expected=None)
    assert caught.value.reason.code is Code.FILE_NOT_WRITABLE
    assert os.listdir(tmp_path) == ["a"]
    with pytest.raises(ToolError):
        workspace.write("new", b"new", expected=ABSENT)
