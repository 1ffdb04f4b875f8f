"""Assertions that also narrow the type for the type checker: a value is present, or of a type."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar

from pilothouse.domain.codes import Reason
from pilothouse.domain.messages import ErrorMessage
from pilothouse.storage.base import Store
from pilothouse.storage.files.store import FileStore

T = TypeVar("T")


def present(value: T | None) -> T:
    assert value is not None
    return value


def instance_of(kind: type[T], value: object) -> T:
    assert isinstance(value, kind), value
    return value


def content_of(message: object) -> str:
    """The text of a message, or of its view, which must be of a type that has one."""
    content = getattr(message, "content", None)
    assert isinstance(content, str), message
    return content


def reason_of(message: object) -> Reason:
    return instance_of(ErrorMessage, message).reason


async def ended(stream: AsyncIterator[object]) -> None:
    """End a stream whose reader has heard enough."""
    assert isinstance(stream, AsyncGenerator)
    await stream.aclose()


def file_store(store: Store) -> FileStore:
    return instance_of(FileStore, store)
