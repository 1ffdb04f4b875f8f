"""The folders of these tests lie in memory."""

from tests.support.memory_folders import tmp_path

__all__ = ["tmp_path"]
