"""The file store: a data directory of contexts, owned by one process, each context in a folder of its own."""

import asyncio
import errno
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ParamSpec, TypeVar
from weakref import WeakValueDictionary

from pilothouse.domain.audit import AuditEntry, CheckedAudit
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import (
    ALL_CONTEXTS,
    Change,
    ContextQuery,
    ContextSummary,
    SentKey,
    StoredContext,
    check_context_id,
    summary_of,
)
from pilothouse.domain.errors import (
    Conflict,
    NotFound,
    StaleWrite,
    StoreError,
    StoreRefused,
    StoreUnavailable,
    os_error_text,
)
from pilothouse.domain.messages import Message, Reasoning
from pilothouse.domain.states import is_resting
from pilothouse.domain.store_health import StoreHealth
from pilothouse.domain.users import check_user_name
from pilothouse.domain.value import CallId, ContextId, MessageId, TurnId
from pilothouse.storage.base import FENCE, UserLog
from pilothouse.storage.files.batched_writes import BatchedWrites
from pilothouse.storage.files.context_folder import ContextOnDisk
from pilothouse.storage.files.context_list import is_absent, read_summaries
from pilothouse.storage.files.disk import PRIVATE_DIR, Disk, free_bytes
from pilothouse.storage.files.heads import AuditHeads
from pilothouse.storage.files.layout import DELETED_PREFIX, Folder, deleted_folders, is_safe
from pilothouse.storage.files.lock import lock_directory
from pilothouse.storage.files.migration import move_artifacts
from pilothouse.storage.files.user_documents import UserDocuments
from pilothouse.storage.files.user_log import UserLogOnDisk
from pilothouse.storage.files.write_watch import WriteWatch
from pilothouse.system.fair_threads import FairThreads
from pilothouse.system.private_file import make_private_folders, open_private

P = ParamSpec("P")
T = TypeVar("T")

CHECKPOINT_DELAY_SECONDS = 1.0
MAX_STORE_THREADS = 8
MAX_STORE_THREADS_PER_USER = 6
CHECKPOINT_JOURNAL_BYTES = 1024 * 1024
"""A longer journal is checkpointed although its context does not rest."""
_PROBE = ".probe"
_PROBE_BYTES = 64 * 1024


def add_gitignore(data: Path) -> None:
    """Keep a data directory that lies in a repository out of its commits. An existing file is not changed. Failing to
    write is no error: conversations can still be read on a full disk."""
    if (data / ".git").exists():  # the directory is a repository itself, and the file would hide all of its files
        return
    with suppress(OSError):
        fd = open_private(data / ".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        with open(fd, "wb") as file:
            file.write(b"*\n")


class FileStore:
    """The store in a data directory. One thread at a time works on a context; contexts do not wait for each other."""

    def __init__(
        self, data: Path, *, now: Callable[[], str], disk: Disk | None = None, state_dir: Path | None = None
    ) -> None:
        """`now` returns the time as text. `state_dir` is the folder, outside of `data`, for the heads of audit chains.

        Raises: StoreLocked when another process owns the directory.
        """
        self._root = data / "contexts"
        self._now = now
        self._writes = WriteWatch(now)
        self._disk = disk or Disk()
        make_private_folders(data)
        self._root.mkdir(mode=PRIVATE_DIR, exist_ok=True)
        self._lock_fd = lock_directory(data)
        add_gitignore(data)
        self._disk.sync_dir(data)
        self._heads = AuditHeads(state_dir, data, self._disk)
        self._snapshot_removal = move_artifacts(data, self._disk)
        for removed in deleted_folders(data):
            if removed.parent == self._root:
                shutil.rmtree(removed, ignore_errors=True)
        self._threads = FairThreads(MAX_STORE_THREADS, MAX_STORE_THREADS_PER_USER, "store")
        self._delta_writes = BatchedWrites(self._run)
        self._open: dict[ContextId, ContextOnDisk] = {}
        self._locks: WeakValueDictionary[ContextId, asyncio.Lock] = WeakValueDictionary()
        """A lock exists as long as a task uses it."""
        self._failed_creations: set[ContextId] = set()
        """Contexts whose creation failed. Their files were never acknowledged: the contexts count as absent."""
        self._users: dict[str, UserLogOnDisk] = {}
        self._user_lock = asyncio.Lock()
        self._documents = UserDocuments(data / "users", self._disk)
        self._checkpoints: dict[ContextId, asyncio.TimerHandle | asyncio.Task[None]] = {}
        self._closed = False

    # The contract of `Store`

    async def create(self, change: Change) -> int:
        context_id = check_context_id(change.core.context_id)
        async with self._context_lock(context_id):
            folder = self._folder(context_id)
            if context_id in self._failed_creations:
                await self._run(self._remove, folder.path)
                self._failed_creations.discard(context_id)
            if context_id in self._open or not await self._run(is_absent, folder):
                raise Conflict(Code.CONTEXT_EXISTS, context_id=context_id)
            try:
                with self._writes.watch(context_id):
                    context = await self._run(ContextOnDisk.create, folder, self._disk, self._heads, change)
            except StoreError:
                self._failed_creations.add(context_id)
                raise
            self._open[context_id] = context
        if change.messages:
            self._schedule_checkpoint(context_id)
        return context.version

    async def open(self, context_id: ContextId) -> StoredContext:
        async with self._context_lock(context_id):
            former = self._open.get(context_id)
            if former is not None and former.needs_reopening:
                self._open[context_id] = await self._run(self._load, context_id, former.version)
                former.close()
            context = await self._context(context_id)
            return await self._run(context.stored)

    async def commit(self, context_id: ContextId, change: Change, *, expected: int, fence: int) -> int:
        async with self._context_lock(context_id):
            context = await self._context(context_id)
            with self._writes.watch(context_id):
                version = await self._run(context.commit, change, expected=expected, fence=fence)
        if is_resting(change.core.state) or context.journal_size > CHECKPOINT_JOURNAL_BYTES:
            self._schedule_checkpoint(context_id)
        return version

    async def messages(self, context_id: ContextId, ids: Sequence[MessageId]) -> list[Message]:
        async with self._context_lock(context_id):
            context = await self._context(context_id)
            return await self._run(context.reader.messages, ids)

    async def branch_ids(
        self, context_id: ContextId, branch: str, start: int = 0, stop: int | None = None
    ) -> list[MessageId]:
        async with self._context_lock(context_id):
            context = await self._context(context_id)
            return await self._run(context.reader.branch_ids, branch, start, stop)

    async def call(self, context_id: ContextId, call_id: CallId) -> CallRecord:
        async with self._context_lock(context_id):
            context = await self._context(context_id)
            return await self._run(context.reader.call, call_id)

    async def audit(self, context_id: ContextId, after: int = 0, limit: int | None = None) -> CheckedAudit:
        async with self._context_lock(context_id):
            context = self._open.get(context_id)
            if context is None:  # not kept open: a check of all contexts must not keep all of them in memory
                context = await self._load_context(context_id)
                context.close()
            audit = await self._run(context.audit_snapshot)
        read = await self._run(context.audit_state.read, audit, after, limit)
        if context.audit_state.must_remember(read):
            async with self._context_lock(
                context_id
            ):  # keeps the chain from being accepted, and its end from being noted
                await self._run(context.remember_audit, read)
        return read.page

    async def accept_audit(self, context_id: ContextId) -> None:
        if await self._run(self._is_lost, check_context_id(context_id)):
            await self._run(self._heads.forget, "contexts", context_id)
            return
        async with self._context_lock(context_id):
            context = await self._context(context_id)
            await self._run(context.accept_audit)

    async def users(self) -> list[str]:
        """The users with a log, and those with a noted head of a log that is missing."""
        folder = self._root.parent / "users"
        names = {path.name for path in folder.iterdir() if is_safe(path.name)} if folder.is_dir() else set()
        return sorted(names | set(self._heads.names("users")))

    async def lost_contexts(self) -> list[ContextId]:
        """Contexts with a noted head that are missing, although this program did not delete them."""
        names = await self._run(self._heads.names, "contexts")
        return [ContextId(name) for name in names if await self._run(self._is_lost, ContextId(name))]

    def _is_lost(self, context_id: ContextId) -> bool:
        if context_id in self._open or self._heads.read("contexts", context_id) is None:
            return False
        folder = self._folder(context_id)
        return not folder.metadata.exists() and is_absent(folder)

    async def message_ids(self, context_id: ContextId) -> list[MessageId]:
        async with self._context_lock(context_id):
            context = await self._context(context_id)
            return await self._run(context.reader.message_ids)

    async def call_ids(self, context_id: ContextId) -> list[CallId]:
        async with self._context_lock(context_id):
            context = await self._context(context_id)
            return await self._run(context.reader.call_ids)

    async def calls(self, context_id: ContextId, ids: Sequence[CallId] | None = None) -> list[CallRecord]:
        async with self._context_lock(context_id):
            context = await self._context(context_id)
            return await self._run(context.reader.calls, ids)

    async def sent_key(self, context_id: ContextId, key: str) -> SentKey | None:
        async with self._context_lock(context_id):
            context = await self._context(context_id)
            return await self._run(context.reader.sent_key, key)

    async def sent_keys(self, context_id: ContextId) -> list[SentKey]:
        async with self._context_lock(context_id):
            context = await self._context(context_id)
            return await self._run(context.reader.sent_keys)

    async def user_log(self, user: str) -> UserLog:
        async with self._user_lock:
            return (await self._user(user)).snapshot()

    async def append_user_log(self, user: str, entries: Sequence[AuditEntry], *, expected: int) -> int:
        async with self._user_lock:
            log = await self._user(user)
            with self._writes.watch():
                return await self._run(log.append, entries, expected=expected)

    async def accept_user_log(self, user: str) -> None:
        async with self._user_lock:
            await self._run((await self._user(user)).accept)

    async def record_accepted_log(self, user: str, record: AuditEntry, *, expected: int) -> int:
        async with self._user_lock:
            log = await self._user(user)
            with self._writes.watch():
                return await self._run(log.append, [record], expected=expected, accepts=True)

    async def document(self, user: str, name: str) -> bytes | None:
        async with self._user_lock:
            return await self._run(self._documents.read, check_user_name(user), name)

    async def put_document(self, user: str, name: str, data: bytes) -> None:
        async with self._user_lock:
            with self._writes.watch():
                await self._run(self._documents.write, check_user_name(user), name, data)

    async def put_document_aside(self, user: str, name: str, data: bytes) -> str:
        async with self._user_lock:
            with self._writes.watch():
                return await self._run(self._documents.put_aside, check_user_name(user), name, data)

    async def _user(self, user: str) -> UserLogOnDisk:
        log = self._users.get(check_user_name(user))
        if log is None:
            log = await self._run(UserLogOnDisk, Folder(self._root.parent / "users" / user), self._disk, self._heads)
            self._users[user] = log
        return log

    async def contexts(self, query: ContextQuery = ALL_CONTEXTS) -> list[ContextSummary]:
        open_contexts = {context_id: summary_of(context.core) for context_id, context in self._open.items()}
        failed = frozenset(self._failed_creations)
        return await self._run(lambda: query.select(read_summaries(self._root, open_contexts, failed)))

    async def delete(self, context_id: ContextId, *, fence: int) -> None:
        async with self._context_lock(context_id):
            context = await self._context(context_id)
            if fence != FENCE:
                raise StaleWrite(Code.STALE_FENCE)
            self._forget_checkpoint(context_id)
            context.close()
            del self._open[context_id]
            # The head goes first: a crash must not leave a head without its context.
            await self._run(self._heads.forget, "contexts", context_id)
            await self._run(self._remove, self._folder(context_id).path)
            self._writes.forget(context_id)

    def artifacts_folder(self, context_id: ContextId) -> Path:
        return self._folder(check_context_id(context_id)).artifacts

    async def append_deltas(
        self,
        context_id: ContextId,
        message_id: MessageId,
        turn: TurnId,
        deltas: Sequence[str],
        reasoning: Reasoning | None = None,
    ) -> None:
        async with self._context_lock(context_id):
            context = await self._context(context_id)
            try:
                await self._delta_writes.write(
                    lambda: context.partial_answer.append(message_id, turn, deltas, reasoning)
                )
            except StoreError as error:
                self._writes.record_refusal(error, context_id)
                raise

    async def forget_deltas(self, context_id: ContextId, message_id: MessageId) -> None:
        async with self._context_lock(context_id):
            context = await self._context(context_id)
            await self._run(context.partial_answer.forget, message_id)

    async def health(self) -> StoreHealth:
        if self._writes.refusal is not None or not self._root.is_dir():
            with suppress(StoreError), self._writes.watch():
                await self._run(self._probe)
        return StoreHealth(
            refusal=self._writes.refusal,
            free_bytes=await asyncio.to_thread(free_bytes, self._root),
            path=str(self._root.parent),
        )

    def _probe(self) -> None:
        """Write as a commit does. Raises: StoreRefused."""
        path = self._root.parent / _PROBE
        try:
            self._disk.write_file(path, bytes(_PROBE_BYTES))
        except OSError as error:
            raise StoreRefused.because_of(error) from error
        finally:
            with suppress(OSError):
                self._disk.unlink(path)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            for context_id in list(self._open):
                await self.checkpoint(context_id)
                self._open.pop(context_id).close()
            if self._snapshot_removal is not None:
                await asyncio.to_thread(self._snapshot_removal.stop)
        finally:  # an error of one context must not keep the directory locked
            for context in self._open.values():
                context.close()
            for log in self._users.values():
                log.close()
            self._threads.shutdown()
            os.close(self._lock_fd)

    # Contexts on disk

    async def _context(self, context_id: ContextId) -> ContextOnDisk:
        context = self._open.get(context_id)
        if context is None:
            context = self._open[context_id] = await self._load_context(context_id)
        return context

    async def _load_context(self, context_id: ContextId) -> ContextOnDisk:
        check_context_id(context_id)
        if context_id in self._failed_creations:
            raise NotFound(Code.UNKNOWN_CONTEXT, context_id=context_id)
        return await self._run(self._load, context_id, None)

    def _remove(self, path: Path) -> None:
        """Rename the folder first, then remove it: a partly removed context must not reappear."""
        removed = path.with_name(DELETED_PREFIX + path.name)
        shutil.rmtree(removed, ignore_errors=True)
        if not path.exists():
            return
        try:
            self._disk.rename(path, removed)
            self._disk.sync_dir(path.parent)
        except OSError as error:
            # Undo the rename past `Disk`, whose injected faults may last: a refused deletion must not take effect.
            with suppress(OSError):
                os.rename(removed, path)
            raise StoreRefused.because_of(error) from error
        shutil.rmtree(removed, ignore_errors=True)

    def _load(self, context_id: ContextId, acknowledged: int | None) -> ContextOnDisk:
        folder = self._folder(context_id)
        return ContextOnDisk.load(folder, self._disk, self._heads, at=self._now(), acknowledged=acknowledged)

    def _folder(self, context_id: ContextId) -> Folder:
        return Folder(self._root / context_id)

    def _context_lock(self, context_id: ContextId) -> asyncio.Lock:
        return self._locks.setdefault(context_id, asyncio.Lock())

    async def _run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function in a thread of the store.

        Raises: StoreUnavailable where the data directory is gone, or the system refuses to read it.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: self._guarded(lambda: function(*args, **kwargs)))

    def _guarded(self, work: Callable[[], T]) -> T:
        data = self._root.parent
        if not self._root.is_dir():  # otherwise every context that is not in memory would seem unknown
            raise StoreUnavailable(Code.STORE_UNAVAILABLE, path=str(data), detail=os.strerror(errno.ENOENT))
        try:
            return work()
        except OSError as error:
            raise StoreUnavailable(Code.STORE_UNAVAILABLE, path=str(data), detail=os_error_text(error)) from error

    # checkpoints: in the background, when a context rests or its journal has grown

    def _schedule_checkpoint(self, context_id: ContextId) -> None:
        if context_id in self._checkpoints or self._closed:
            return
        loop = asyncio.get_running_loop()
        self._checkpoints[context_id] = loop.call_later(CHECKPOINT_DELAY_SECONDS, self._start_checkpoint, context_id)

    def _start_checkpoint(self, context_id: ContextId) -> None:
        if not self._closed:
            self._checkpoints[context_id] = asyncio.create_task(self.checkpoint(context_id))

    async def checkpoint(self, context_id: ContextId) -> None:
        """Write the journal into the layout now. A failed checkpoint is retried when the context rests again."""
        async with self._context_lock(context_id):
            self._forget_checkpoint(context_id)
            context = self._open.get(context_id)
            if context is None:
                return
            try:
                with self._writes.watch(context_id):
                    await self._run(context.checkpoint)
            except (StoreRefused, StoreUnavailable):
                pass  # the journal is still complete
            context.partial_answer.close_if_idle()

    def _forget_checkpoint(self, context_id: ContextId) -> None:
        scheduled = self._checkpoints.pop(context_id, None)
        if isinstance(scheduled, asyncio.TimerHandle):
            scheduled.cancel()
