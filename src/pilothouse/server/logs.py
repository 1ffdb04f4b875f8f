"""Structured logs: one JSON object a line, and no secret in any of them."""

import logging
import sys
import traceback
from collections.abc import Callable, Iterable

import msgspec

from pilothouse.ambient import timestamp

_HIDDEN = "[hidden]"


class JsonLines(logging.Formatter):
    """`secrets` gives what must not be seen, as it is now."""

    def __init__(self, secrets: Callable[[], Iterable[str]]) -> None:
        super().__init__()
        self._secrets = secrets

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
        for secret in self._secrets():
            text = text.replace(secret, _HIDDEN)
        return text


def set_up_logs(secrets: Callable[[], Iterable[str]]) -> None:
    """To standard error: everything where a program reads it, only what is wrong where a person does."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(secrets))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING if sys.stderr.isatty() else logging.INFO)
