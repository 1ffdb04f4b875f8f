"""The exception tree. Who must act decides the branch; the reason says what happened.

PilothouseError
├── RequestError           the caller must ask for something else
│   ├── InvalidInput       the input is wrong in itself
│   ├── NotFound           nothing has this name or id
│   └── Conflict           right in itself, but not now
├── StoreError             the disk or its content
│   ├── StoreRefused       this write did not happen; nothing is damaged
│   ├── StoreReadOnly      a sync failed; reopen before writing again
│   ├── StoreUnavailable   the data directory is gone, or cannot be read
│   ├── StoreDamaged       what is stored cannot be read
│   ├── StoreLocked        another process owns the data directory
│   └── StaleWrite         another writer was first (version or fence)
├── ModelError             the provider
│   ├── ModelUnavailable   may work later: retried
│   └── ModelRefused       will not work by repeating
│       └── ModelTooLong   more than the model's window holds: a shorter one may work
└── ToolError              a tool failed; the model gets the reason
"""

from collections.abc import Callable
from typing import Any, ClassVar

from pilothouse.domain.codes import Code, Reason


class PilothouseError(Exception):
    """The base of all errors: carries a reason, which is translated where it is read."""

    text_of: ClassVar[Callable[[Reason], str]] = staticmethod(lambda reason: f"{reason.code} {dict(reason.params)}")
    """Makes the text for `str()`. `i18n` sets it to its English texts: the domain holds no texts."""

    def __init__(self, code: Code, **params: Any) -> None:
        self.reason = Reason(code, params)
        super().__init__(code, params)

    def __str__(self) -> str:
        return type(self).text_of(self.reason)


class RequestError(PilothouseError):
    pass


class InvalidInput(RequestError):
    pass


class NotFound(RequestError):
    pass


class Conflict(RequestError):
    pass


class StoreError(PilothouseError):
    pass


class StoreRefused(StoreError):
    @classmethod
    def because_of(cls, error: OSError) -> "StoreRefused":
        return cls(Code.STORE_REFUSED, detail=os_error_text(error))


class StoreReadOnly(StoreError):
    pass


class StoreUnavailable(StoreError):
    pass


class StoreDamaged(StoreError):
    pass


class StoreLocked(StoreError):
    pass


class StaleWrite(StoreError):
    pass


class ModelError(PilothouseError):
    pass


class ModelUnavailable(ModelError):
    """The provider may answer later."""

    def __init__(self, code: Code, *, retry_after: float | None = None, **params: Any) -> None:
        super().__init__(code, **params)
        self.retry_after = retry_after
        """The seconds that the provider asks to wait."""


class ModelRefused(ModelError):
    pass


class ModelTooLong(ModelRefused):
    """The request does not fit into the model's context window."""

    def __init__(self, code: Code, *, window: int | None = None, **params: Any) -> None:
        super().__init__(code, **params)
        self.window = window
        """The size of the window in tokens, where the provider's error names it."""


class ToolError(PilothouseError):
    pass


class ConnectionLost(ToolError):
    """A tool lost its connection in the middle of a call, which may have run. A call that only reads is tried again."""


__all__ = [
    "Conflict",
    "ConnectionLost",
    "InvalidInput",
    "ModelError",
    "ModelRefused",
    "ModelTooLong",
    "ModelUnavailable",
    "NotFound",
    "PilothouseError",
    "RequestError",
    "StaleWrite",
    "StoreDamaged",
    "StoreError",
    "StoreLocked",
    "StoreReadOnly",
    "StoreRefused",
    "StoreUnavailable",
    "ToolError",
]


def os_error_text(error: OSError) -> str:
    """The system's error message without the path, which does not help the reader."""
    return error.strerror or str(error)


def tool_failure(tool: str, cause: BaseException | str) -> Reason:
    """The reason of a call whose tool has a bug: it raised an unexpected exception or returned no text."""
    detail = cause if isinstance(cause, str) else f"{type(cause).__name__}: {cause}"
    return Reason(Code.TOOL_FAILED, {"tool": tool, "detail": detail})


def invalid_file(file: object, detail: str, allowed: str, *, line: int = 1, key: str = "-") -> InvalidInput:
    """The error for a configuration file or a key in it."""
    return InvalidInput(Code.INVALID_CONFIG, file=str(file), line=line, key=key, detail=detail, allowed=allowed)
