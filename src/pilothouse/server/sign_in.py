"""Signing a browser in: by a link with a one-time code, or by an access token in a form.

A link alone signs nobody in: the browser shows for whom it is, and the person confirms. Otherwise whoever sends a
link could make others work, unnoticed, under the sender's name.
"""

import asyncio
from collections.abc import Mapping
from html import escape
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response

from pilothouse.domain.codes import Code, Language, Reason, say
from pilothouse.domain.users import LOCAL
from pilothouse.server.access import Access
from pilothouse.server.plain_page import plain_page
from pilothouse.server.problems import Refused
from pilothouse.server.tokens import MAX_TOKEN_LENGTH, SIGN_IN_SECONDS

FORM_TYPE = "application/x-www-form-urlencoded"
MAX_FORM_BYTES = 8 * 1024
FORM_SECONDS = 10
_MAX_FIELDS = 5
_ENGLISH = {
    "confirm": "Sign this browser in as {user}? Only do so if you asked for this link yourself.",
    "replace": "This browser is signed in as {present}. Signing in as {user} signs {present} out here.",
    "button": "Sign in as {user}",
    "token": "Access token",
    "enter": "Sign in",
    "local": "the user of this machine",
}
_CHINESE = {
    "confirm": "让此浏览器以{user}的身份登录吗？请只在你自己获取了此链接时确认。",
    "replace": "此浏览器目前以{present}的身份登录。以{user}的身份登录后，{present}将在此退出。",
    "button": "以{user}的身份登录",
    "token": "访问令牌",
    "enter": "登录",
    "local": "本机用户",
}


async def sign_in(access: Access, request: Request, language: Language) -> Response | None:
    """The answer to a link with a code, or to the form of such a page; None for every other request.

    Raises: Refused, StoreError.
    """
    if request.scope["path"] != "/":
        return None
    if request.method == "POST":
        return await _submitted(access, request, language)
    code = request.query_params.get("code")
    if request.method != "GET" or code is None:
        return None
    user, present = access.tokens.user_of_code(code), access.signed_in(request)
    if present is not None and user in (None, present):
        return _redirect()  # a link that was used before, or that changes nothing
    if user is None:
        await access.slow_down(request)
        raise Refused(401, Code.LINK_EXPIRED)
    return _confirmation(language, code, user, present)


async def _submitted(access: Access, request: Request, language: Language) -> Response:
    if "origin" not in request.headers:  # where it is sent, its value has been checked
        raise Refused(403, Code.FOREIGN_ORIGIN, origin="-")
    fields = await _fields(request)
    if "token" in fields:
        token, secret = fields["token"].strip(), None
        if access.tokens.user_of(token) is not None:  # a wrong token takes no thread and no lock
            secret = await asyncio.to_thread(access.tokens.sign_in, token, access.cookie(request))
        if secret is None:
            await access.slow_down(request)
            raise Refused(401, Code.WRONG_TOKEN)
        return _signed_in(access, request, secret)
    code = fields.get("code", "")
    user, present = access.tokens.user_of_code(code), access.signed_in(request)
    if user is not None and present not in (None, user, fields.get("instead_of")):
        return _confirmation(language, code, user, present)  # the link came from elsewhere, without the cookie
    used = None
    if user is not None:  # an unknown code takes no thread and no lock
        used = await asyncio.to_thread(access.tokens.use_code, code, access.cookie(request))
    if used is None:
        await access.slow_down(request)
        raise Refused(401, Code.LINK_EXPIRED)
    return _signed_in(access, request, used[1])


async def _fields(request: Request) -> Mapping[str, str]:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_TYPE:
        raise Refused(415, Code.UNSUPPORTED_TYPE, type=request.headers.get("content-type", "")[:100], allowed=FORM_TYPE)
    data = b""
    try:
        async with asyncio.timeout(FORM_SECONDS):
            async for piece in request.stream():
                data += piece
                if len(data) > MAX_FORM_BYTES:
                    raise Refused(413, Code.BODY_TOO_LARGE, {"connection": "close"}, limit=MAX_FORM_BYTES)
    except TimeoutError as error:
        raise Refused(408, Code.BODY_TOO_SLOW, {"connection": "close"}, seconds=FORM_SECONDS) from error
    try:
        pairs = parse_qsl(data.decode("ascii"), errors="strict", max_num_fields=_MAX_FIELDS)
    except ValueError as error:
        raise Refused(422, Code.INVALID_REQUEST, detail="the form is no valid text") from error
    return dict(pairs)


def _signed_in(access: Access, request: Request, secret: str) -> Response:
    response = _redirect()
    response.set_cookie(
        access.cookie_name,
        secret,
        max_age=SIGN_IN_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.headers["origin"].lower().startswith("https:"),  # a proxy ends TLS; the browser knows
    )
    return response


def _redirect() -> Response:
    """On to the web client, at an address without the code."""
    return Response(status_code=303, headers={"location": "/"})


def _confirmation(language: Language, code: str, user: str, present: str | None) -> Response:
    words = _CHINESE if language == "zh" else _ENGLISH
    names = {"user": _name(user, words), "present": _name(present or "", words)}
    paragraphs = [words["confirm"].format_map(names)]
    if present is not None:
        paragraphs.append(words["replace"].format_map(names))
    fields = {"code": code, "instead_of": present or ""}
    return plain_page(language, *paragraphs, form=_form(fields, words["button"].format_map(names)))


def _name(user: str, words: Mapping[str, str]) -> str:
    return words["local"] if user == LOCAL else user


def sign_in_page(language: Language, reason: Reason, status: int) -> Response:
    """What a browser is shown that is not signed in, or whose sign-in failed."""
    words = _CHINESE if language == "zh" else _ENGLISH
    field = (
        f'<label for="token">{words["token"]}</label><input id="token" name="token" type="password" '
        f'autocomplete="current-password" maxlength="{MAX_TOKEN_LENGTH}" required>'
    )
    return plain_page(language, say(reason, language), form=_form({}, words["enter"], field), status=status)


def _form(hidden: Mapping[str, str], button: str, field: str = "") -> str:
    inputs = "".join(f'<input type="hidden" name="{name}" value="{escape(value)}">' for name, value in hidden.items())
    return f'<form method="post" action="/">{inputs}{field}<button>{escape(button)}</button></form>'
