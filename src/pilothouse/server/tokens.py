"""The users of the server: access tokens, one-time codes of sign-in links, and signed-in browsers.

One private file stores all of them as digests only, so that reading the file gives no access.
"""

import hashlib
import hmac
import os
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, StoreDamaged
from pilothouse.domain.users import LOCAL, check_user_name
from pilothouse.domain.value import Value
from pilothouse.system.ambient import Ambient
from pilothouse.system.file_lock import locked_folder
from pilothouse.system.private_file import make_private_folders, replace_private_file

FORMAT = 2
MIN_TOKEN_LENGTH = 16
MAX_TOKEN_LENGTH = 512
SIGN_IN_CODE_LIFETIME_SECONDS = 60
SIGN_IN_LIFETIME_SECONDS = 30 * 24 * 3600
MAX_SIGN_IN_CODES = 100
MAX_SIGN_INS_PER_USER = 100
"""The number of signed-in browsers of one user. One more sign-in signs out the oldest browser."""
# The audit uses these names for decisions of a mode and of the runtime itself.
_RESERVED_NAMES = frozenset({"mode", "runtime"})
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")
_T = TypeVar("_T")
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]


class LinkCode(Value, kw_only=True, omit_defaults=False):
    """The one-time code of a sign-in link."""

    user: str
    code: Digest
    """SHA-256 of the code."""
    made_at: float


class SignIn(Value, kw_only=True, omit_defaults=False):
    """A signed-in browser."""

    user: str
    proof: Digest
    """HMAC-SHA256 of the user's token under the cookie's secret: a new token signs out all browsers of its user."""
    made_at: float


class TokenFile(Value, kw_only=True, omit_defaults=False):
    """The content of the token file. Format 1 was a map from users to their tokens in plain text."""

    format: int = FORMAT
    tokens: Mapping[str, Digest] = {}
    """SHA-256 of each user's token. A generated token has 256 random bits, so no salt is needed."""
    codes: tuple[LinkCode, ...] = ()
    sign_ins: tuple[SignIn, ...] = ()


class Tokens:
    """Authenticates tokens, codes and cookies, and changes the token file.

    Every lookup checks whether the file has changed, so that added and removed users take effect at once.
    """

    def __init__(self, path: Path, ambient: Ambient, environment_token: str | None = None) -> None:
        self.path = path
        self._ambient = ambient
        self._environment_token = check_token(environment_token, "PILOTHOUSE_TOKEN") if environment_token else None
        """The local user's token where the environment sets it; it overrides the file's."""
        self._file_state: tuple[int, int, int] | None = None
        """Inode, modification time and size of the file when it was read last."""
        self._file = TokenFile()
        self._presented: dict[str, str] = {}
        """The last valid token that each user has sent, so that logs can redact it."""

    @property
    def is_from_environment(self) -> bool:
        """Whether the environment sets the local user's token."""
        return self._environment_token is not None

    def prepare(self) -> None:
        """Prepare the file for a server: create the local user, and replace plain text tokens of format 1.

        Raises: StoreDamaged, StoreRefused, OSError.
        """
        self._change(lambda file: (self._with_token(file, LOCAL)[0] if LOCAL not in file.tokens else file, None))

    def add(self, user: str) -> str:
        """Add a user and return their token. Raises: InvalidInput, Conflict, StoreDamaged, StoreRefused."""
        check_user_name(user)

        def change(file: TokenFile) -> tuple[TokenFile, str]:
            if user in file.tokens or user in _RESERVED_NAMES or (user == LOCAL and self.is_from_environment):
                raise Conflict(Code.USER_EXISTS, user=user)
            return self._with_token(file, user)

        return self._change(change)

    def renew(self, user: str) -> str:
        """Return a new token. The old one becomes invalid, and all browsers of the user are signed out.

        Raises: NotFound, Conflict if the environment sets the token, StoreDamaged, StoreRefused.
        """
        if user == LOCAL and self.is_from_environment:
            raise Conflict(Code.TOKEN_FROM_ENVIRONMENT)

        def change(file: TokenFile) -> tuple[TokenFile, str]:
            if user != LOCAL and user not in file.tokens:
                raise _unknown_user(user, file)
            return self._with_token(_without(file, user), user)

        return self._change(change)

    def remove(self, user: str) -> None:
        """Remove a user with their codes and signed-in browsers. Raises: NotFound, StoreDamaged, StoreRefused."""

        def change(file: TokenFile) -> tuple[TokenFile, None]:
            if user not in file.tokens:
                raise _unknown_user(user, file)
            tokens = {name: digest for name, digest in file.tokens.items() if name != user}
            return msgspec.structs.replace(_without(file, user), tokens=tokens), None

        self._change(change)

    def new_code(self, user: str = LOCAL) -> str:
        """Return a code that signs one browser in, valid for SIGN_IN_CODE_LIFETIME_SECONDS.

        Raises: StoreDamaged, StoreRefused.
        """
        code, now = self._ambient.new_secret(), self._ambient.now()
        link_code = LinkCode(user=user, code=_digest(code), made_at=now)

        def change(file: TokenFile) -> tuple[TokenFile, None]:
            if LOCAL not in file.tokens:
                file = self._with_token(file, LOCAL)[0]
            valid = [each for each in file.codes if _is_valid(each.made_at, SIGN_IN_CODE_LIFETIME_SECONDS, now)]
            return msgspec.structs.replace(file, codes=(*valid[1 - MAX_SIGN_IN_CODES :], link_code)), None

        self._change(change)
        return code

    def user_of_code(self, code: str) -> str | None:
        """Return the user whom a code would sign in, without using it up. Raises: StoreDamaged."""
        match = self._match_code(self._current(), code)
        return match.user if match is not None else None

    def use_code(self, code: str, cookie: str | None = None) -> tuple[str, str] | None:
        """Use up a code. Return the user and the cookie of a new sign-in, or None for an invalid code. Of concurrent
        requests with the same code, one succeeds. `cookie` is the browser's present cookie, which is signed out.

        Raises: StoreDamaged, StoreRefused.
        """

        def change(file: TokenFile) -> tuple[TokenFile, tuple[str, str] | None]:
            match = self._match_code(self._with_environment(file), code)
            if match is None:
                return file, None
            remaining = tuple(each for each in file.codes if each != match)
            changed, secret = self._with_sign_in(msgspec.structs.replace(file, codes=remaining), match.user, cookie)
            return changed, (match.user, secret)

        return self._change(change)

    def sign_in(self, token: str, cookie: str | None = None) -> str | None:
        """Return the cookie of a new sign-in, or None for an invalid token. The token is matched under the lock: it may
        have been renewed or removed since the caller checked it.

        Raises: StoreDamaged, StoreRefused.
        """

        def change(file: TokenFile) -> tuple[TokenFile, str | None]:
            user = _match_token(self._with_environment(file), token)
            return self._with_sign_in(file, user, cookie) if user is not None else (file, None)

        return self._change(change)

    def user_of(self, token: str) -> str | None:
        """Return the user of a token, or None for an invalid one. Raises: StoreDamaged."""
        user = _match_token(self._current(), token)
        if user is not None:
            self._presented[user] = token
        return user

    def user_of_cookie(self, secret: str) -> str | None:
        """Return the user of a signed-in browser's cookie, or None for an invalid one. Raises: StoreDamaged."""
        match = self._match_sign_in(self._current(), secret)
        return match.user if match is not None else None

    def users(self) -> Collection[str]:
        """Return the names of all users. Raises: StoreDamaged."""
        return self._current().tokens.keys()

    def credential(self, user: str) -> str | None:
        """Return the digest of the user's token; None for an unknown user. Raises: StoreDamaged."""
        return self._current().tokens.get(user)

    def secrets(self) -> Collection[str]:
        """Return the tokens that this process has received, for redaction in logs."""
        return [*self._presented.values(), *([self._environment_token] if self._environment_token else [])]

    # matching

    def _match_code(self, file: TokenFile, code: str) -> LinkCode | None:
        digest, now, match = _digest(code), self._ambient.now(), None
        for each in file.codes:
            is_valid = each.user in file.tokens and _is_valid(each.made_at, SIGN_IN_CODE_LIFETIME_SECONDS, now)
            if hmac.compare_digest(each.code, digest) and is_valid:
                match = each
        return match

    def _match_sign_in(self, file: TokenFile, secret: str) -> SignIn | None:
        now, match = self._ambient.now(), None
        proofs = {user: _proof(secret, user, token) for user, token in file.tokens.items()}
        for each in file.sign_ins:
            proof = proofs.get(each.user)
            is_valid = proof is not None and _is_valid(each.made_at, SIGN_IN_LIFETIME_SECONDS, now)
            if hmac.compare_digest(each.proof, proof or "") and is_valid:
                match = each
        return match

    # changing

    def _with_token(self, file: TokenFile, user: str) -> tuple[TokenFile, str]:
        token = self._ambient.new_secret()
        changed: TokenFile = msgspec.structs.replace(file, tokens={**file.tokens, user: _digest(token)})
        return changed, token

    def _with_sign_in(self, file: TokenFile, user: str, cookie: str | None) -> tuple[TokenFile, str]:
        secret, now = self._ambient.new_secret(), self._ambient.now()
        effective = self._with_environment(file)
        replaced = self._match_sign_in(effective, cookie) if cookie else None
        valid = [
            each
            for each in file.sign_ins
            if each != replaced and _is_valid(each.made_at, SIGN_IN_LIFETIME_SECONDS, now)
        ]
        own = [each for each in valid if each.user == user]
        excess = own[: max(0, len(own) + 1 - MAX_SIGN_INS_PER_USER)]
        sign_in = SignIn(user=user, proof=_proof(secret, user, effective.tokens[user]), made_at=now)
        remaining = tuple(each for each in valid if each not in excess)
        changed: TokenFile = msgspec.structs.replace(file, sign_ins=(*remaining, sign_in))
        return changed, secret

    def _change(self, change: Callable[[TokenFile], tuple[TokenFile, _T]]) -> _T:
        """Change the file under a lock that holds across processes. A file of format 1 is rewritten in any case."""
        make_private_folders(self.path.parent)
        with locked_folder(self.path.parent):
            file, is_old = self._read()
            changed, result = change(file)
            if changed != file or is_old:
                replace_private_file(self.path, msgspec.json.format(msgspec.json.encode(changed)))
        return result

    # reading

    def _current(self) -> TokenFile:
        """Return the file's current content with the environment's token. Raises: StoreDamaged."""
        try:
            status = os.stat(self.path)
            file_state = (status.st_ino, status.st_mtime_ns, status.st_size)
        except FileNotFoundError:
            if self._file_state is not None and not self.path.parent.is_dir():
                return self._file  # a missing data directory, such as an unmounted disk, revokes no token
            file_state = (0, 0, 0)
        except OSError as error:
            raise StoreDamaged(Code.TOKENS_DAMAGED, path=str(self.path), detail=error.strerror) from error
        if file_state != self._file_state:
            self._file = self._with_environment(self._read()[0])
            self._file_state = file_state
        return self._file

    def _with_environment(self, file: TokenFile) -> TokenFile:
        if self._environment_token is None:
            return file
        digest = _digest(self._environment_token)
        changed: TokenFile = msgspec.structs.replace(file, tokens={**file.tokens, LOCAL: digest})
        return changed

    def _read(self) -> tuple[TokenFile, bool]:
        """Return the file, and whether it has format 1. Raises: StoreDamaged."""
        try:
            data = self.path.read_bytes()
            is_old = _is_format_1(data)
            file = _from_format_1(data) if is_old else msgspec.json.decode(data, type=TokenFile)
            if file.format != FORMAT:
                raise InvalidInput(
                    Code.INVALID_REQUEST, detail=f"its format ({file.format}) is from a newer version of Pilothouse"
                )
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
    """Return the token. Raises: InvalidInput for a token that could be guessed, or that a header cannot carry."""
    if not MIN_TOKEN_LENGTH <= len(token) <= MAX_TOKEN_LENGTH or not _TOKEN.fullmatch(token):
        raise InvalidInput(Code.WEAK_ACCESS, source=source, length=len(token), limit=MIN_TOKEN_LENGTH)
    return token


def _is_format_1(data: bytes) -> bool:
    """Whether the file has format 1: its `format` is missing, or is a user of that name and no number."""
    return not isinstance(msgspec.json.decode(data, type=dict[str, Any]).get("format"), int)


def _from_format_1(data: bytes) -> TokenFile:
    tokens = msgspec.json.decode(data, type=dict[str, str])
    return TokenFile(tokens={user: _digest(check_token(token, user)) for user, token in tokens.items()})


def _without(file: TokenFile, user: str) -> TokenFile:
    """Remove the user's codes and signed-in browsers."""
    changed: TokenFile = msgspec.structs.replace(
        file,
        codes=tuple(each for each in file.codes if each.user != user),
        sign_ins=tuple(each for each in file.sign_ins if each.user != user),
    )
    return changed


def _match_token(file: TokenFile, token: str) -> str | None:
    """Return the token's user. The token is compared with all others, so that the time taken reveals nothing."""
    digest, match = _digest(token), None
    for user, user_digest in file.tokens.items():
        if hmac.compare_digest(user_digest, digest):
            match = user
    return match


def _unknown_user(user: str, file: TokenFile) -> NotFound:
    return NotFound(Code.UNKNOWN_USER, user=user, allowed=", ".join(file.tokens) or "-")


def _is_valid(made_at: float, seconds: float, now: float) -> bool:
    """Whether a lifetime has not ended. Setting the clock back extends no lifetime."""
    return made_at <= now < made_at + seconds


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _proof(secret: str, user: str, token_digest: str) -> str:
    return hmac.new(
        secret.encode("utf-8", "surrogatepass"), f"{user}\0{token_digest}".encode(), hashlib.sha256
    ).hexdigest()
