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
└── ToolError              the tool could not do it; the model is told
"""

from typing import Any

from pilothouse.domain.codes import Code, Reason, say


class PilothouseError(Exception):
    """Carries a reason: a code with parameters, put into words where it is read."""

    def __init__(self, code: Code, **params: Any) -> None:
        self.reason = Reason(code, params)
        super().__init__(code, params)

    def __str__(self) -> str:
        return say(self.reason)


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
    pass


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
    """`retry_after` is what the provider asked for, in seconds."""

    def __init__(self, code: Code, *, retry_after: float | None = None, **params: Any) -> None:
        super().__init__(code, **params)
        self.retry_after = retry_after


class ModelRefused(ModelError):
    pass


class ModelTooLong(ModelRefused):
    """`window` is how many tokens fit, where the provider said so."""

    def __init__(self, code: Code, *, window: int | None = None, **params: Any) -> None:
        super().__init__(code, **params)
        self.window = window


class ToolError(PilothouseError):
    pass


__all__ = [
    "Conflict",
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
