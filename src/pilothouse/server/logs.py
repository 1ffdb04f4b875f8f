"""Structured logs: one JSON object a line, and no secret in any of them."""

import contextlib
import logging
import sys
import traceback
from collections.abc import Callable, Iterable

import msgspec

from pilothouse.ambient import timestamp
from pilothouse.domain.errors import StoreDamaged

_HIDDEN = "[hidden]"


class JsonLines(logging.Formatter):
    """`secrets` gives what must not be seen, as it is now."""

    def __init__(self, secrets: Callable[[], Iterable[str]]) -> None:
        super().__init__()
        self._secrets = secrets
        self._known: frozenset[str] = frozenset()

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": timestamp(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["trace"] = "".join(traceback.format_exception(*record.exc_info))
        text = msgspec.json.encode(line).decode()
        with contextlib.suppress(StoreDamaged):  # then those that were known last
            self._known = frozenset(self._secrets())
        for secret in self._known:
            text = text.replace(secret, _HIDDEN)
        return text


def set_up_logs(secrets: Callable[[], Iterable[str]]) -> None:
    """To standard error: everything where a program reads it, only what is wrong where a person does."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(secrets))
    root = logging.getLogger()
    root.handlers = [handler]
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # what it warns of is a client's mistake
    root.setLevel(logging.WARNING if sys.stderr.isatty() else logging.INFO)
