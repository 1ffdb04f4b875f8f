"""Access tokens: each names a user. They lie in one file that only its owner can read."""

import contextlib
import fcntl
import hashlib
import hmac
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from pilothouse.ambient import Ambient
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import check_context_id
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, StoreDamaged
from pilothouse.private_file import replace_private_file

LOCAL = "local"
LENGTH_AT_LEAST = 16
LENGTH_AT_MOST = 512
# The audit says that these decided something by themselves.
_OURS = frozenset({"mode", "runtime"})
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")


class Tokens:
    """`given` is the token of the local user where the environment sets it; the file then has no say about theirs.

    The file is looked at with every request: a user who is added or removed meanwhile counts at once.
    """

    def __init__(self, path: Path, ambient: Ambient, given: str | None = None) -> None:
        self.path = path
        self._ambient = ambient
        self._given = check_token(given, "PILOTHOUSE_TOKEN") if given else None
        self._seen: tuple[int, int, int] | None = None
        self._tokens: dict[str, str] = {}
        self._cookies: dict[str, str] = {}

    @property
    def is_given(self) -> bool:
        return self._given is not None

    def local(self) -> str:
        """The local user's token, made where there is none yet. Raises: StoreDamaged, OSError."""
        if LOCAL not in self.all():
            with self._held():
                self._write({LOCAL: self._ambient.new_secret(), **self._read()})
        return self.all()[LOCAL]

    def add(self, user: str) -> str:
        """Raises: InvalidInput, Conflict, StoreDamaged."""
        check_context_id(user)
        if user in self.all() or user in _OURS:
            raise Conflict(Code.USER_EXISTS, user=user)
        token = self._ambient.new_secret()
        with self._held():
            known = self._read()
            if user in known:
                raise Conflict(Code.USER_EXISTS, user=user)
            self._write({**known, user: token})
        return token

    def remove(self, user: str) -> None:
        """Raises: NotFound, StoreDamaged."""
        with self._held():
            known = self._read()
            if user not in known:
                raise NotFound(Code.UNKNOWN_USER, user=user, allowed=", ".join(known) or "-")
            self._write({name: token for name, token in known.items() if name != user})

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        """One change at a time, whichever process makes it."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)

    def user_of(self, token: str) -> str | None:
        return _match(self.all(), token)

    def user_of_cookie(self, value: str) -> str | None:
        self.all()
        return _match(self._cookies, value)

    def cookie(self, user: str) -> str:
        """What the browser keeps instead of the token."""
        self.all()
        return self._cookies[user]

    def all(self) -> Mapping[str, str]:
        """By user, as the file is now."""
        try:
            status = os.stat(self.path)
            seen = (status.st_ino, status.st_mtime_ns, status.st_size)
        except FileNotFoundError:
            if self._seen is not None and not self.path.parent.is_dir():
                return self._tokens  # the data directory is gone: that takes no user's access away
            seen = (0, 0, 0)
        except OSError as error:
            raise StoreDamaged(Code.TOKENS_DAMAGED, path=str(self.path), detail=error.strerror) from error
        if seen != self._seen:
            self._tokens = {**self._read(), **({LOCAL: self._given} if self._given else {})}
            self._cookies = {user: _cookie(token) for user, token in self._tokens.items()}
            self._seen = seen
        return self._tokens

    def _read(self) -> dict[str, str]:
        try:
            found = msgspec.json.decode(self.path.read_bytes(), type=dict[str, str])
            for user, token in found.items():
                check_context_id(user)
                check_token(token, str(self.path))
            if len(set(found.values())) != len(found):
                raise InvalidInput(Code.INVALID_REQUEST, detail="two users have the same token")
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, InvalidInput) as error:
            raise StoreDamaged(Code.TOKENS_DAMAGED, path=str(self.path), detail=str(error)) from error
        return found

    def _write(self, tokens: Mapping[str, str]) -> None:
        """Raises: StoreRefused; then the tokens are as they were."""
        replace_private_file(self.path, msgspec.json.format(msgspec.json.encode(tokens)))


def check_token(token: str, source: str) -> str:
    """Raises: InvalidInput for one that could be guessed, or that a header cannot carry."""
    if not LENGTH_AT_LEAST <= len(token) <= LENGTH_AT_MOST or not _TOKEN.fullmatch(token):
        raise InvalidInput(Code.WEAK_ACCESS, source=source, length=len(token), limit=LENGTH_AT_LEAST)
    return token


def _cookie(token: str) -> str:
    return hmac.new(token.encode(), b"pilothouse cookie", hashlib.sha256).hexdigest()


def _match(known: Mapping[str, str], given: str) -> str | None:
    """Every one is compared, each in constant time: how long it takes tells nothing."""
    data = given.encode("utf-8", "replace")
    found = None
    for user, value in known.items():
        if hmac.compare_digest(value.encode(), data):
            found = user
    return found
