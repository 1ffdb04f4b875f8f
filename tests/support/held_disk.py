"""A disk whose syncs wait in their threads until the test releases them."""

import asyncio
import threading

from pilothouse.storage.files.disk import Disk


class HeldDisk(Disk):
    """While `holding`, a sync waits for `release`."""

    def __init__(self) -> None:
        self.holding = False
        self.release = threading.Event()
        self._reached = threading.Event()

    def sync(self, fd: int) -> None:
        if self.holding:
            self._reached.set()
            assert self.release.wait(30)
        super().sync(fd)

    async def reached(self) -> None:
        """Wait until a sync is held."""
        while not self._reached.is_set():
            await asyncio.sleep(0)
