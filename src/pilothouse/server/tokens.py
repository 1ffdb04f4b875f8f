"""Who may use the server: access tokens, one-time codes of sign-in links, and browsers that are signed in.

One file that only its owner can read holds them, and no secret of them: what it holds opens nothing.
"""

import contextlib
import fcntl
import hashlib
import hmac
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from pilothouse.ambient import Ambient
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, StoreDamaged
from pilothouse.domain.users import LOCAL, check_user_name
from pilothouse.domain.values import Value
from pilothouse.private_file import make_private_folders, replace_private_file

FORMAT = 2
MIN_TOKEN_LENGTH = 16
MAX_TOKEN_LENGTH = 512
CODE_SECONDS = 60
SIGN_IN_SECONDS = 30 * 24 * 3600
MAX_CODES = 100
MAX_SIGN_INS = 100
"""Browsers of one user that can be signed in at once; one more signs out the one that came first."""
# The audit names these as the deciders of what nobody decided.
_RESERVED_NAMES = frozenset({"mode", "runtime"})
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")
_T = TypeVar("_T")
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]


class LinkCode(Value, kw_only=True, omit_defaults=False):
    """The code of a sign-in link, for one use."""

    user: str
    code: Digest
    """SHA-256 of the code."""
    made_at: float


class SignIn(Value, kw_only=True, omit_defaults=False):
    """A browser that is signed in."""

    user: str
    proof: Digest
    """HMAC-SHA256 of the user's token under the cookie's secret: a new token signs out all browsers of its user."""
    made_at: float


class TokenFile(Value, kw_only=True, omit_defaults=False):
    """What is stored. Format 1 was a map from users to their tokens in clear."""

    format: int = FORMAT
    tokens: Mapping[str, Digest] = {}
    """SHA-256 of each user's token. A token that the server makes has 256 random bits, so no salt is needed."""
    codes: tuple[LinkCode, ...] = ()
    sign_ins: tuple[SignIn, ...] = ()


class Tokens:
    """`given` is the token of the local user where the environment sets it; the file then has no say about theirs.

    Every request looks whether the file has changed: a user who is added or removed meanwhile counts at once.
    """

    def __init__(self, path: Path, ambient: Ambient, given: str | None = None) -> None:
        self.path = path
        self._ambient = ambient
        self._given = check_token(given, "PILOTHOUSE_TOKEN") if given else None
        self._seen: tuple[int, int, int] | None = None
        self._file = TokenFile()
        self._presented: dict[str, str] = {}

    @property
    def is_given(self) -> bool:
        return self._given is not None

    def prepare(self) -> None:
        """Make the file ready for a server: the local user exists, and no token is left in clear.

        Raises: StoreDamaged, StoreRefused, OSError.
        """
        self._change(lambda file: (self._with_token(file, LOCAL)[0] if LOCAL not in file.tokens else file, None))

    def add(self, user: str) -> str:
        """Gives the new user's token. Raises: InvalidInput, Conflict, StoreDamaged, StoreRefused."""
        check_user_name(user)

        def change(file: TokenFile) -> tuple[TokenFile, str]:
            if user in file.tokens or user in _RESERVED_NAMES or (user == LOCAL and self.is_given):
                raise Conflict(Code.USER_EXISTS, user=user)
            return self._with_token(file, user)

        return self._change(change)

    def renew(self, user: str) -> str:
        """Gives a new token; the old one and every browser of the user are signed out.

        Raises: NotFound, Conflict where the environment sets the token, StoreDamaged, StoreRefused.
        """
        if user == LOCAL and self.is_given:
            raise Conflict(Code.TOKEN_FROM_ENVIRONMENT)

        def change(file: TokenFile) -> tuple[TokenFile, str]:
            if user != LOCAL and user not in file.tokens:
                raise _unknown(user, file)
            return self._with_token(_without(file, user), user)

        return self._change(change)

    def remove(self, user: str) -> None:
        """Raises: NotFound, StoreDamaged, StoreRefused."""

        def change(file: TokenFile) -> tuple[TokenFile, None]:
            if user not in file.tokens:
                raise _unknown(user, file)
            kept = {name: digest for name, digest in file.tokens.items() if name != user}
            return msgspec.structs.replace(_without(file, user), tokens=kept), None

        self._change(change)

    def new_code(self, user: str = LOCAL) -> str:
        """Gives a code that signs one browser in, within CODE_SECONDS. Raises: StoreDamaged, StoreRefused."""
        code, now = self._ambient.new_secret(), self._ambient.now()
        made = LinkCode(user=user, code=_digest(code), made_at=now)

        def change(file: TokenFile) -> tuple[TokenFile, None]:
            if LOCAL not in file.tokens:
                file = self._with_token(file, LOCAL)[0]
            usable = [each for each in file.codes if _is_within(each.made_at, CODE_SECONDS, now)]
            return msgspec.structs.replace(file, codes=(*usable[1 - MAX_CODES :], made)), None

        self._change(change)
        return code

    def user_of_code(self, code: str) -> str | None:
        """Whom a code would sign in; using it up is `use_code`. Raises: StoreDamaged."""
        found = self._match_code(self._current(), code)
        return found.user if found is not None else None

    def use_code(self, code: str, cookie: str | None = None) -> tuple[str, str] | None:
        """The user and the cookie of a new sign-in, or None for a code that opens nothing. Of several requests with
        the same code one gets a sign-in. `cookie` is the browser's present one: signed out.

        Raises: StoreDamaged, StoreRefused.
        """

        def change(file: TokenFile) -> tuple[TokenFile, tuple[str, str] | None]:
            found = self._match_code(self._with_given(file), code)
            if found is None:
                return file, None
            rest = tuple(each for each in file.codes if each != found)
            signed_in, secret = self._signed_in(msgspec.structs.replace(file, codes=rest), found.user, cookie)
            return signed_in, (found.user, secret)

        return self._change(change)

    def sign_in(self, token: str, cookie: str | None = None) -> str | None:
        """The cookie of a new sign-in, or None for a token that opens nothing. The token is matched under the lock: one
        that was renewed or whose user was removed since the caller looked signs nobody in.

        Raises: StoreDamaged, StoreRefused.
        """

        def change(file: TokenFile) -> tuple[TokenFile, str | None]:
            user = _match_token(self._with_given(file), token)
            return self._signed_in(file, user, cookie) if user is not None else (file, None)

        return self._change(change)

    def user_of(self, token: str) -> str | None:
        """Raises: StoreDamaged."""
        user = _match_token(self._current(), token)
        if user is not None:
            self._presented[user] = token
        return user

    def user_of_cookie(self, secret: str) -> str | None:
        """Raises: StoreDamaged."""
        signed_in = self._match_sign_in(self._current(), secret)
        return signed_in.user if signed_in is not None else None

    def users(self) -> Collection[str]:
        """As the file is now. Raises: StoreDamaged."""
        return self._current().tokens.keys()

    def credential(self, user: str) -> str | None:
        """What changes with the user's token; None for nobody. Raises: StoreDamaged."""
        return self._current().tokens.get(user)

    def secrets(self) -> Collection[str]:
        """The tokens that this process has seen: nothing of them may stand in a log."""
        return [*self._presented.values(), *([self._given] if self._given else [])]

    # matching

    def _match_code(self, file: TokenFile, code: str) -> LinkCode | None:
        digest, now, found = _digest(code), self._ambient.now(), None
        for each in file.codes:
            is_usable = each.user in file.tokens and _is_within(each.made_at, CODE_SECONDS, now)
            if hmac.compare_digest(each.code, digest) and is_usable:
                found = each
        return found

    def _match_sign_in(self, file: TokenFile, secret: str) -> SignIn | None:
        now, found = self._ambient.now(), None
        proofs = {user: _proof(secret, user, token) for user, token in file.tokens.items()}
        for each in file.sign_ins:
            proof = proofs.get(each.user)
            is_usable = proof is not None and _is_within(each.made_at, SIGN_IN_SECONDS, now)
            if hmac.compare_digest(each.proof, proof or "") and is_usable:
                found = each
        return found

    # changing

    def _with_token(self, file: TokenFile, user: str) -> tuple[TokenFile, str]:
        token = self._ambient.new_secret()
        changed: TokenFile = msgspec.structs.replace(file, tokens={**file.tokens, user: _digest(token)})
        return changed, token

    def _signed_in(self, file: TokenFile, user: str, cookie: str | None) -> tuple[TokenFile, str]:
        secret, now = self._ambient.new_secret(), self._ambient.now()
        known = self._with_given(file)
        replaced = self._match_sign_in(known, cookie) if cookie else None
        usable = [each for each in file.sign_ins if each != replaced and _is_within(each.made_at, SIGN_IN_SECONDS, now)]
        own = [each for each in usable if each.user == user]
        dropped = own[: max(0, len(own) + 1 - MAX_SIGN_INS)]
        made = SignIn(user=user, proof=_proof(secret, user, known.tokens[user]), made_at=now)
        kept = tuple(each for each in usable if each not in dropped)
        changed: TokenFile = msgspec.structs.replace(file, sign_ins=(*kept, made))
        return changed, secret

    def _change(self, change: Callable[[TokenFile], tuple[TokenFile, _T]]) -> _T:
        """One change at a time, whichever process makes it; a file of format 1 is written anew in any case."""
        make_private_folders(self.path.parent)
        with self._locked():
            file, is_old = self._read()
            changed, result = change(file)
            if changed != file or is_old:
                replace_private_file(self.path, msgspec.json.format(msgspec.json.encode(changed)))
        return result

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        fd = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)

    # reading

    def _current(self) -> TokenFile:
        """As the file is now, with the token of the environment."""
        try:
            status = os.stat(self.path)
            seen = (status.st_ino, status.st_mtime_ns, status.st_size)
        except FileNotFoundError:
            if self._seen is not None and not self.path.parent.is_dir():
                return self._file  # the data directory is gone: that takes no user's access away
            seen = (0, 0, 0)
        except OSError as error:
            raise StoreDamaged(Code.TOKENS_DAMAGED, path=str(self.path), detail=error.strerror) from error
        if seen != self._seen:
            self._file = self._with_given(self._read()[0])
            self._seen = seen
        return self._file

    def _with_given(self, file: TokenFile) -> TokenFile:
        if self._given is None:
            return file
        changed: TokenFile = msgspec.structs.replace(file, tokens={**file.tokens, LOCAL: _digest(self._given)})
        return changed

    def _read(self) -> tuple[TokenFile, bool]:
        """The file, and whether it was of format 1. Raises: StoreDamaged."""
        try:
            data = self.path.read_bytes()
            is_old = _is_format_1(data)
            file = _from_format_1(data) if is_old else msgspec.json.decode(data, type=TokenFile)
            if file.format != FORMAT:
                raise InvalidInput(Code.INVALID_REQUEST, detail=f"format {file.format} is of a newer version")
            for user in file.tokens:
                check_user_name(user)
            if len(set(file.tokens.values())) != len(file.tokens):
                raise InvalidInput(Code.INVALID_REQUEST, detail="two users have the same token")
        except FileNotFoundError:
            return TokenFile(), False
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError, InvalidInput) as error:
            raise StoreDamaged(Code.TOKENS_DAMAGED, path=str(self.path), detail=str(error)) from error
        return file, is_old


def check_token(token: str, source: str) -> str:
    """Raises: InvalidInput for one that could be guessed, or that a header cannot carry."""
    if not MIN_TOKEN_LENGTH <= len(token) <= MAX_TOKEN_LENGTH or not _TOKEN.fullmatch(token):
        raise InvalidInput(Code.WEAK_ACCESS, source=source, length=len(token), limit=MIN_TOKEN_LENGTH)
    return token


def _is_format_1(data: bytes) -> bool:
    """Whether `format` is no number: a user of format 1 may be named so."""
    return not isinstance(msgspec.json.decode(data, type=dict[str, Any]).get("format"), int)


def _from_format_1(data: bytes) -> TokenFile:
    tokens = msgspec.json.decode(data, type=dict[str, str])
    return TokenFile(tokens={user: _digest(check_token(token, user)) for user, token in tokens.items()})


def _without(file: TokenFile, user: str) -> TokenFile:
    """The same without the user's codes and signed-in browsers."""
    changed: TokenFile = msgspec.structs.replace(
        file,
        codes=tuple(each for each in file.codes if each.user != user),
        sign_ins=tuple(each for each in file.sign_ins if each.user != user),
    )
    return changed


def _match_token(file: TokenFile, token: str) -> str | None:
    """The token's user. All tokens are compared: how long it takes tells nothing."""
    digest, match = _digest(token), None
    for user, known in file.tokens.items():
        if hmac.compare_digest(known, digest):
            match = user
    return match


def _unknown(user: str, file: TokenFile) -> NotFound:
    return NotFound(Code.UNKNOWN_USER, user=user, allowed=", ".join(file.tokens) or "-")


def _is_within(made_at: float, seconds: float, now: float) -> bool:
    """A clock that was set back makes nothing last longer."""
    return made_at <= now < made_at + seconds


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _proof(secret: str, user: str, token_digest: str) -> str:
    return hmac.new(
        secret.encode("utf-8", "surrogatepass"), f"{user}\0{token_digest}".encode(), hashlib.sha256
    ).hexdigest()
