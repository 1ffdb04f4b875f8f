"""A cache of results for texts, bounded also by the total size of the texts: a result grows with its text."""

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

Text = TypeVar("Text", str, bytes)
Result = TypeVar("Result")


class TextCache(Generic[Text, Result]):
    """The results for the most recently used texts. Thread-safe."""

    def __init__(self, *, max_entries: int, max_size: int) -> None:
        """`max_size` bounds the length of all texts together, in characters or bytes."""
        self._max_entries = max_entries
        self._max_size = max_size
        self._size = 0
        self._results: OrderedDict[Text, Result] = OrderedDict()
        self._lock = Lock()

    @property
    def size(self) -> int:
        return self._size

    def get(self, text: Text) -> Result | None:
        with self._lock:
            result = self._results.get(text)
            if result is not None:
                self._results.move_to_end(text)
            return result

    def put(self, text: Text, result: Result) -> None:
        with self._lock:
            if text in self._results or len(text) > self._max_size:
                return
            self._results[text] = result
            self._size += len(text)
            while self._size > self._max_size or len(self._results) > self._max_entries:
                oldest, _ = self._results.popitem(last=False)
                self._size -= len(oldest)

    def clear(self) -> None:
        with self._lock:
            self._results.clear()
            self._size = 0
