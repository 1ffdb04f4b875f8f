"""Folders in memory, for suites that write and sync a great deal.

Such suites test the writes and syncs, their order, and the files left when one fails or the process is killed. The
results are the same on a disk in memory, where a sync costs nothing.
"""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

SHARED_MEMORY = Path("/dev/shm")
MIN_FREE_BYTES = 2 * 1024**3


def _has_room() -> bool:
    return SHARED_MEMORY.is_dir() and shutil.disk_usage(SHARED_MEMORY).free >= MIN_FREE_BYTES


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    if not _has_room():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY, prefix="pilothouse-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
