"""Only regular files are opened, without blocking, and no descriptor leaks."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from pilothouse.sandbox import gitignore
from pilothouse.sandbox.entries import Entries
from pilothouse.sandbox.workspace import Workspace
from pilothouse.system.regular_file import NotRegularFile, open_regular_fd, open_regular_file
from pilothouse.tools.undo import git_state


@pytest.fixture
def folder_fd(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


def open_descriptors() -> list[str]:
    return sorted(os.listdir("/proc/self/fd"))


def make(path: Path, kind: str) -> None:
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        with socket.socket(socket.AF_UNIX) as unix_socket:
            unix_socket.bind(str(path))


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_a_file_that_is_not_regular_is_refused_at_once(tmp_path: Path, folder_fd: int, kind: str) -> None:
    make(tmp_path / "a", kind)
    before = open_descriptors()
    for follow_links in (False, True):
        with pytest.raises(NotRegularFile):
            open_regular_file(tmp_path / "a", follow_links=follow_links)
        with pytest.raises(NotRegularFile):
            open_regular_fd("a", follow_links=follow_links, dir_fd=folder_fd)
    assert open_descriptors() == before


def test_a_link_is_followed_only_where_that_is_wanted(tmp_path: Path, folder_fd: int) -> None:
    (tmp_path / "target").write_text("text")
    (tmp_path / "link").symlink_to("target")
    with pytest.raises(OSError, match="link"):
        open_regular_file(tmp_path / "link")
    with open_regular_file("link", follow_links=True, dir_fd=folder_fd) as file:
        assert file.read() == b"text"
        assert not os.get_inheritable(file.fileno())


@pytest.mark.parametrize("kind", ["folder", "pipe", "socket"])
def test_refusing_a_file_that_is_not_regular_leaks_no_descriptor(
    tmp_path: Path, folder_fd: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket is short
    make(Path(".gitignore"), kind)
    before = open_descriptors()
    assert gitignore.read_ignore_files(folder_fd, "", ()) == ()
    assert git_state._read_small(tmp_path / ".gitignore") is None
    if kind != "socket":
        assert Entries(Workspace(tmp_path)).read(".gitignore") is None
    assert open_descriptors() == before
