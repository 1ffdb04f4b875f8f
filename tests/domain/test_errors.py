"""Errors made from system errors and tool exceptions."""

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import StoreRefused, invalid_file, os_error_text, tool_failure


def test_a_refused_write_has_the_system_error_without_the_path() -> None:
    error = OSError(28, "No space left on device", "/secret/path")
    assert StoreRefused.because_of(error).reason.params == {"detail": "No space left on device"}
    assert os_error_text(OSError("the disk took no bytes")) == "the disk took no bytes"


def test_a_tool_failure_names_the_tool_and_the_kind_of_the_exception() -> None:
    assert tool_failure("read", ValueError("odd")).params == {"tool": "read", "detail": "ValueError: odd"}
    assert tool_failure("read", "it gave int").params == {"tool": "read", "detail": "it gave int"}


def test_an_error_in_a_file_names_the_place_and_the_allowed_values() -> None:
    about = {"file": "a.toml", "line": 1, "key": "-", "detail": "It is empty.", "allowed": "TOML"}
    error = invalid_file("a.toml", "It is empty.", "TOML")
    assert (error.reason.code, error.reason.params) == (Code.INVALID_CONFIG, about)
    assert invalid_file("a.toml", "", "", line=3, key="a.b").reason.params["line"] == 3
