"""Folders and the paths in them, compared as texts."""

import pytest

from pilothouse.domain.touched_paths import clean_folder, is_beneath, may_touch, relative_to_workspace, stays_within


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("docs/a", "docs", True),
        ("docs/a", "docs/", True),
        ("./docs//a", "docs", True),
        ("docs", "docs", True),
        ("docsx/a", "docs", False),
        ("a", ".", True),
        ("docs/../deploy/a", "docs", False),
        ("../a", ".", False),
        ("/etc/x", "/etc", True),
        ("/etc", "/", True),
    ],
)
def test_beneath(path: str, folder: str, expected: bool) -> None:
    assert is_beneath(path, folder) is expected


def test_a_path_that_climbs_reaches_everything_and_stays_nowhere() -> None:
    assert may_touch(("docs/../x",), "deploy")
    assert not stays_within(("docs/../docs/x",), ["docs"])


def test_unknown_reach_reaches_everything_and_no_reach_nothing() -> None:
    assert may_touch(None, "deploy")
    assert not may_touch((), "deploy")
    assert not stays_within(None, ["."])
    assert not stays_within((), ["."])


def test_a_folder_that_holds_another_reaches_it() -> None:
    assert may_touch((".",), "deploy")
    assert may_touch(("a",), "a/b/c")
    assert not may_touch(("a/b",), "a/c")


def test_configured_folders_as_seen_from_a_workspace() -> None:
    assert relative_to_workspace("deploy/", "/work") == "deploy"
    assert relative_to_workspace("/work/deploy", "/work") == "deploy"
    assert relative_to_workspace("/", "/work") == "."
    assert relative_to_workspace("/work", "/work/project") == "."
    assert relative_to_workspace("/other", "/work") is None
    assert clean_folder("") == "."
