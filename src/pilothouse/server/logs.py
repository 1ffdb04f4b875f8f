"""Structured logs: one JSON object per line, without secrets, and with a limit on repeated messages."""

import contextlib
import logging
import sys
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import TextIO

import msgspec

from pilothouse.domain.errors import StoreDamaged
from pilothouse.system.ambient import timestamp

MAX_REPEATS_PER_MINUTE = 20
_REPEAT_WINDOW_SECONDS = 60.0
_REDACTED = "[hidden]"


class JsonLines(logging.Formatter):
    """Formats records as JSON and redacts the texts that `secrets` returns at that moment."""

    def __init__(self, secrets: Callable[[], Iterable[str]]) -> None:
        super().__init__()
        self._secrets = secrets
        self._latest: frozenset[str] = frozenset()

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
        with contextlib.suppress(StoreDamaged):  # then the secrets of the last successful read are redacted
            self._latest = frozenset(self._secrets())
        for secret in self._latest:
            text = text.replace(secret, _REDACTED)
        return text


class _Repeats:
    """The number of times that a message was logged since `started_at`."""

    def __init__(self, started_at: float) -> None:
        self.started_at = started_at
        self.count = 0


class RepeatLimitHandler(logging.StreamHandler[TextIO]):
    """Writes a message at most MAX_REPEATS_PER_MINUTE times a minute, then reports how many were suppressed, so that
    unauthenticated clients cannot fill the disk. Requests of authenticated users are always written.

    Messages that differ only in their arguments count as the same, so that varying addresses or numbers do not evade
    the limit. Code that logs different texts must therefore pass each as the message, not as the argument of "%s".
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._repeats: OrderedDict[tuple[object, ...], _Repeats] = OrderedDict()

    def emit(self, record: logging.LogRecord) -> None:
        self._end_windows(record.created)
        fields = getattr(record, "fields", {})
        if fields.get("user") is None:
            key = (record.name, record.levelno, str(record.msg), fields.get("path"), fields.get("status"))
            repeats = self._repeats.setdefault(key, _Repeats(record.created))
            repeats.count += 1
            if repeats.count > MAX_REPEATS_PER_MINUTE:
                return
        super().emit(record)

    def _end_windows(self, now: float) -> None:
        """Report and remove the windows that are over. `_repeats` is ordered by their start."""
        while self._repeats:
            key, repeats = next(iter(self._repeats.items()))
            if 0 <= now - repeats.started_at < _REPEAT_WINDOW_SECONDS:
                return
            del self._repeats[key]
            suppressed = repeats.count - MAX_REPEATS_PER_MINUTE
            if suppressed > 0:
                name, level, message, path, status = key
                attributes = {"name": name, "levelno": level, "levelname": logging.getLevelName(int(str(level)))}
                fields = {"suppressed": suppressed, "path": path, "status": status}
                super().emit(logging.makeLogRecord({**attributes, "msg": message, "fields": fields}))


def set_up_logs(secrets: Callable[[], Iterable[str]]) -> None:
    """Log to standard error: from INFO on, or only warnings and errors if it is a terminal."""
    handler = RepeatLimitHandler(sys.stderr)
    handler.setFormatter(JsonLines(secrets))
    root = logging.getLogger()
    root.handlers = [handler]
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # uvicorn's warnings are about mistakes of clients
    root.setLevel(logging.WARNING if sys.stderr.isatty() else logging.INFO)
