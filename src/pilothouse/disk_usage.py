"""`pilothouse clean`: what the data directory takes, and freeing what can be made again or is no longer needed."""

import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pilothouse.domain.codes import Language
from pilothouse.domain.hidden_characters import visible
from pilothouse.settings import Settings
from pilothouse.storage.files.layout import GRAVE
from pilothouse.storage.files.lock import lock_directory

_DAY_SECONDS = 86_400
_MAX_SHOWN_CONVERSATIONS = 5
_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "nothing": "There is no data in {data} yet.",
        "total": "{data}: {size}",
        "conversations": "  conversations   {size:>10}   {count}",
        "outputs": "    whole outputs {size:>10}",
        "uploads": "    uploads       {size:>10}",
        "undo": "    undo          {size:>10}",
        "largest": "  Largest conversations (pilothouse contexts delete ID removes one):",
        "cache": "  undo cache      {size:>10}   made again when needed",
        "remnants": "  remnants        {size:>10}   of deleted conversations and earlier versions",
        "expired": "  expired undo    {size:>10}   older than {days} days",
        "free": "Can be freed: {size}.",
        "hint": "Run `pilothouse clean --yes` to free it.",
        "ask": "Free it now? [y/N] ",
        "freed": "Freed {size}.",
    },
    "zh": {
        "nothing": "{data} 中还没有数据。",
        "total": "{data}：{size}",
        "conversations": "  对话            {size:>10}   {count} 个",
        "outputs": "    完整输出      {size:>10}",
        "uploads": "    上传的文件    {size:>10}",
        "undo": "    撤销数据      {size:>10}",
        "largest": "  最大的对话（用 pilothouse contexts delete ID 删除）：",
        "cache": "  撤销缓存        {size:>10}   需要时会重新生成",
        "remnants": "  残留            {size:>10}   来自已删除的对话和早期版本",
        "expired": "  过期的撤销数据  {size:>10}   超过 {days} 天",
        "free": "可以释放 {size}。",
        "hint": "运行 `pilothouse clean --yes` 即可释放。",
        "ask": "现在释放吗？[y/N] ",
        "freed": "已释放 {size}。",
    },
}


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
    """Raises: StoreLocked where a running server holds the data that is to be freed."""
    words, data = _WORDS[settings.language], settings.data_dir
    days = settings.configuration.file.undo.days
    if not data.is_dir():
        print(words["nothing"].format(data=data))
        return 0
    usage = _measure(data, days)
    print(visible("\n".join(_report(usage, data, days, words))))
    if not usage.free:
        return 0
    if not options.yes and not _confirms(words["ask"]):
        print(words["hint"])
        return 0
    lock = lock_directory(data)
    try:
        _free(data, days)
    finally:
        os.close(lock)
    print(words["freed"].format(size=_shown(usage.total - _measure(data, days).total)))
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
        if not folder.name.startswith(GRAVE)
    ]
    return _Usage(
        sorted(conversations, key=lambda each: each.size, reverse=True),
        cache=_size(data / "cache"),
        remnants=sum(map(_size, _remnants(data))),
        expired=sum(path.stat().st_size for path in _expired(data, days)),
        total=_size(data),
    )


def _report(usage: _Usage, data: Path, days: int, words: dict[str, str]) -> Iterator[str]:
    yield words["total"].format(data=data, size=_shown(usage.total))
    sizes = usage.conversations
    yield words["conversations"].format(size=_shown(sum(each.size for each in sizes)), count=len(sizes))
    for name in ("outputs", "uploads", "undo"):
        yield words[name].format(size=_shown(sum(getattr(each, name) for each in sizes)))
    yield words["cache"].format(size=_shown(usage.cache))
    yield words["remnants"].format(size=_shown(usage.remnants))
    yield words["expired"].format(size=_shown(usage.expired), days=days)
    if sizes:
        yield words["largest"]
        yield from (f"    {_shown(each.size):>10}   {each.id}" for each in sizes[:_MAX_SHOWN_CONVERSATIONS])
    yield words["free"].format(size=_shown(usage.free))


def _free(data: Path, days: int) -> None:
    for path in _expired(data, days):
        path.unlink(missing_ok=True)
    for path in (data / "cache", *_remnants(data)):
        shutil.rmtree(path, ignore_errors=True)


def _remnants(data: Path) -> list[Path]:
    return [path for folder in (data, data / "contexts") for path in _folders(folder) if path.name.startswith(GRAVE)]


def _expired(data: Path, days: int) -> list[Path]:
    """What undo keeps for longer than it promises, by the clock of the file system."""
    packs = [path for folder in _folders(data / "contexts") for path in (folder / "artifacts" / "before").glob("*")]
    if not packs:
        return []
    os.utime(data / "lock")
    oldest = (data / "lock").stat().st_mtime - days * _DAY_SECONDS
    return [path for path in packs if path.stat().st_mtime < oldest]


def _folders(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()] if folder.is_dir() else []


def _size(folder: Path) -> int:
    """Bytes of all files below, as far as they can be seen."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(path, name)).st_size
            except OSError:
                continue
    return total


def _shown(size: int) -> str:
    return f"{size / 1_000_000:,.1f} MB"


def _confirms(question: str) -> bool:
    return sys.stdin.isatty() and input(question).strip().casefold() in ("y", "yes", "是")
