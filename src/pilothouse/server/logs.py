"""Structured logs: one JSON object a line, and no secret in any of them."""

import contextlib
import logging
import sys
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import TextIO

import msgspec

from pilothouse.ambient import timestamp
from pilothouse.domain.errors import StoreDamaged

MAX_REPEATS_PER_MINUTE = 20
_WINDOW_SECONDS = 60.0
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


class _Repeats:
    """How often one message came since `began`."""

    def __init__(self, began: float) -> None:
        self.began = began
        self.count = 0


class RepeatLimitHandler(logging.StreamHandler[TextIO]):
    """Writes the same message MAX_REPEATS_PER_MINUTE times a minute at most, then says how many were left out: nobody
    without a token fills the disk. Requests of known users are all written.

    Messages that differ only in their arguments are the same: an address or a number in a flood makes none of them new.
    A logger that passes different texts must therefore pass each as the message, not as the argument of "%s".
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
        """The windows stand in the order in which they began."""
        while self._repeats:
            key, repeats = next(iter(self._repeats.items()))
            if 0 <= now - repeats.began < _WINDOW_SECONDS:
                return
            del self._repeats[key]
            suppressed = repeats.count - MAX_REPEATS_PER_MINUTE
            if suppressed > 0:
                name, level, message, path, status = key
                told = {"name": name, "levelno": level, "levelname": logging.getLevelName(int(str(level)))}
                fields = {"suppressed": suppressed, "path": path, "status": status}
                super().emit(logging.makeLogRecord({**told, "msg": message, "fields": fields}))


def set_up_logs(secrets: Callable[[], Iterable[str]]) -> None:
    """To standard error: everything where a program reads it, only what is wrong where a person does."""
    handler = RepeatLimitHandler(sys.stderr)
    handler.setFormatter(JsonLines(secrets))
    root = logging.getLogger()
    root.handlers = [handler]
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # what it warns of is a client's mistake
    root.setLevel(logging.WARNING if sys.stderr.isatty() else logging.INFO)
