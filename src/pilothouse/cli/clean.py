"""`pilothouse clean`: show disk usage of the data directory, and delete files that are recreatable or not needed."""

import argparse
import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pilothouse.domain.codes import Language
from pilothouse.domain.deception.hidden_characters import visible
from pilothouse.i18n import ui_text
from pilothouse.settings import Settings
from pilothouse.storage.files.layout import DELETED_PREFIX, deleted_folders, is_data_directory
from pilothouse.storage.files.lock import lock_directory
from pilothouse.tools.undo.baseline import baseline_folders

_DAY_SECONDS = 86_400
_MAX_SHOWN_CONVERSATIONS = 5


class _Conversation(NamedTuple):
    id: str
    size: int
    outputs: int
    uploads: int
    undo: int


class _Usage(NamedTuple):
    conversations: list[_Conversation]
    cache: int
    remnants: int
    expired: int
    total: int

    @property
    def free(self) -> int:
        return self.cache + self.remnants + self.expired


def clean_command(options: argparse.Namespace, settings: Settings) -> int:
    """Show the disk usage and free space. Raises: StoreLocked while a running server holds the data directory."""
    language, data = settings.language, settings.data_dir
    days = settings.configuration.file.undo.days
    if not data.is_dir():
        print(visible(ui_text("clean", "nothing", language, data=data)))
        return 0
    if not is_data_directory(data):
        print(visible(ui_text("clean", "foreign", language, data=data)))
        return 0
    usage = _measure(data, days)
    print(visible("\n".join(_report(usage, data, days, language))))
    if not usage.free:
        return 0
    if not options.yes and not _confirms(ui_text("clean", "ask", language)):
        print(ui_text("clean", "hint", language))
        return 0
    lock = lock_directory(data)
    try:
        _delete_free(data, days)
    finally:
        os.close(lock)
    print(ui_text("clean", "freed", language, size=_megabytes(usage.total - _measure(data, days).total)))
    return 0


def _measure(data: Path, days: int) -> _Usage:
    conversations = [
        _Conversation(
            folder.name,
            _size(folder),
            _size(folder / "artifacts" / "outputs"),
            _size(folder / "artifacts" / "uploads"),
            _size(folder / "artifacts" / "before"),
        )
        for folder in _folders(data / "contexts")
        if not folder.name.startswith(DELETED_PREFIX)
    ]
    return _Usage(
        sorted(conversations, key=lambda each: each.size, reverse=True),
        cache=sum(map(_size, baseline_folders(_baselines(data)))),
        remnants=sum(map(_size, deleted_folders(data))),
        expired=sum(path.stat().st_size for path in _expired(data, days)),
        total=_size(data),
    )


def _report(usage: _Usage, data: Path, days: int, language: Language) -> Iterator[str]:
    yield ui_text("clean", "total", language, data=data, size=_megabytes(usage.total))
    sizes = usage.conversations
    yield ui_text(
        "clean", "conversations", language, size=_megabytes(sum(each.size for each in sizes)), count=len(sizes)
    )
    for name in ("outputs", "uploads", "undo"):
        yield ui_text("clean", name, language, size=_megabytes(sum(getattr(each, name) for each in sizes)))
    yield ui_text("clean", "cache", language, size=_megabytes(usage.cache))
    yield ui_text("clean", "remnants", language, size=_megabytes(usage.remnants))
    yield ui_text("clean", "expired", language, size=_megabytes(usage.expired), days=days)
    if sizes:
        yield ui_text("clean", "largest", language)
        yield from (f"    {_megabytes(each.size):>10}   {each.id}" for each in sizes[:_MAX_SHOWN_CONVERSATIONS])
    yield ui_text("clean", "free", language, size=_megabytes(usage.free))


def _delete_free(data: Path, days: int) -> None:
    for path in _expired(data, days):
        path.unlink(missing_ok=True)
    for path in (*baseline_folders(_baselines(data)), *deleted_folders(data)):
        shutil.rmtree(path, ignore_errors=True)
    for path in (_baselines(data), _baselines(data).parent):
        with contextlib.suppress(OSError):  # files that are not the program's own stay, and their folder with them
            path.rmdir()


def _baselines(data: Path) -> Path:
    return data / "cache" / "baselines"


def _expired(data: Path, days: int) -> list[Path]:
    """Return the undo packs older than `undo.days`, by the clock of the file system."""
    packs = [path for folder in _folders(data / "contexts") for path in (folder / "artifacts" / "before").glob("*")]
    if not packs:
        return []
    os.utime(data / "lock")
    oldest = (data / "lock").stat().st_mtime - days * _DAY_SECONDS
    return [path for path in packs if path.stat().st_mtime < oldest]


def _folders(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()] if folder.is_dir() else []


def _size(folder: Path) -> int:
    """Return the total bytes of all files below a folder. Unreadable files are skipped."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(path, name)).st_size
            except OSError:
                continue
    return total


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:,.1f} MB"


def _confirms(question: str) -> bool:
    return sys.stdin.isatty() and input(question).strip().casefold() in ("y", "yes", "是")
