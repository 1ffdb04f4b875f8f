"""Signing in a browser, by a link with a one-time code or by an access token in a form.

A link must be confirmed by the person: otherwise an attacker's link could sign them in under the attacker's name
(login CSRF).
"""

import asyncio
from collections.abc import Mapping
from html import escape
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response

from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.users import LOCAL
from pilothouse.i18n import translate, ui_text
from pilothouse.server.access import Access
from pilothouse.server.fallback_page import plain_page
from pilothouse.server.problems import HTTPProblem
from pilothouse.server.tokens import MAX_TOKEN_LENGTH, SIGN_IN_LIFETIME_SECONDS

FORM_TYPE = "application/x-www-form-urlencoded"
MAX_FORM_BYTES = 8 * 1024
MAX_FORM_SECONDS = 10
_MAX_FORM_FIELDS = 5


async def sign_in(access: Access, request: Request, language: Language) -> Response | None:
    """Respond to a sign-in link, or to the submitted sign-in form; return None for every other request.

    Raises: HTTPProblem, StoreError.
    """
    if request.scope["path"] != "/":
        return None
    if request.method == "POST":
        return await _submit(access, request, language)
    code = request.query_params.get("code")
    if request.method != "GET" or code is None:
        return None
    user, current_user = access.tokens.user_of_code(code), access.signed_in_user(request)
    if current_user is not None and user in (None, current_user):
        return _redirect(access)  # the link was used before, or is for the user who is signed in
    if user is None:
        await access.record_failure(request)
        raise HTTPProblem(401, Code.LINK_EXPIRED)
    return _confirmation_page(access, language, code, user, current_user)


async def _submit(access: Access, request: Request, language: Language) -> Response:
    if "origin" not in request.headers:  # `check_host_and_origin` has checked the value of the header
        raise HTTPProblem(403, Code.FOREIGN_ORIGIN, origin="-")
    fields = await _read_form(request)
    if "token" in fields:
        token, secret = fields["token"].strip(), None
        if access.tokens.user_of(token) is not None:  # a wrong token costs no thread and no lock
            secret = await asyncio.to_thread(access.tokens.sign_in, token, access.cookie(request))
        if secret is None:
            await access.record_failure(request)
            raise HTTPProblem(401, Code.WRONG_TOKEN)
        return _redirect_with_cookie(access, request, secret)
    code = fields.get("code", "")
    user, current_user = access.tokens.user_of_code(code), access.signed_in_user(request)
    if user is not None and current_user not in (None, user, fields.get("instead_of")):
        # The link was opened from another site, without the SameSite cookie: the replaced user was not shown.
        return _confirmation_page(access, language, code, user, current_user)
    result = None
    if user is not None:  # an unknown code costs no thread and no lock
        result = await asyncio.to_thread(access.tokens.use_code, code, access.cookie(request))
    if result is None:
        await access.record_failure(request)
        raise HTTPProblem(401, Code.LINK_EXPIRED)
    return _redirect_with_cookie(access, request, result[1])


async def _read_form(request: Request) -> Mapping[str, str]:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_TYPE:
        raise HTTPProblem(
            415, Code.UNSUPPORTED_TYPE, type=request.headers.get("content-type", "")[:100], allowed=FORM_TYPE
        )
    data = b""
    try:
        async with asyncio.timeout(MAX_FORM_SECONDS):
            async for chunk in request.stream():
                data += chunk
                if len(data) > MAX_FORM_BYTES:
                    raise HTTPProblem(413, Code.BODY_TOO_LARGE, {"connection": "close"}, limit=MAX_FORM_BYTES)
    except TimeoutError as error:
        raise HTTPProblem(408, Code.BODY_TOO_SLOW, {"connection": "close"}, seconds=MAX_FORM_SECONDS) from error
    try:
        pairs = parse_qsl(data.decode("ascii"), errors="strict", max_num_fields=_MAX_FORM_FIELDS)
    except ValueError as error:
        raise HTTPProblem(422, Code.INVALID_REQUEST, detail="the form isn't valid text") from error
    return dict(pairs)


def _redirect_with_cookie(access: Access, request: Request, secret: str) -> Response:
    response = _redirect(access)
    response.set_cookie(
        access.cookie_name,
        secret,
        max_age=SIGN_IN_LIFETIME_SECONDS,
        path=f"{access.base_path}/",
        httponly=True,
        samesite="strict",
        # TLS ends at a proxy. `check_host_and_origin` has compared the origin with the scheme of a trusted one.
        secure=request.headers["origin"].lower().startswith("https:"),
    )
    return response


def _redirect(access: Access) -> Response:
    """Redirect to the web client, at an address without the code."""
    return Response(status_code=303, headers={"location": f"{access.base_path}/"})


def _confirmation_page(access: Access, language: Language, code: str, user: str, current_user: str | None) -> Response:
    names = {"user": _name(user, language), "present": _name(current_user or "", language)}
    paragraphs = [ui_text("sign_in", "confirm", language, **names)]
    if current_user is not None:
        paragraphs.append(ui_text("sign_in", "replace", language, **names))
    fields = {"code": code, "instead_of": current_user or ""}
    button = ui_text("sign_in", "button", language, **names)
    return plain_page(language, *paragraphs, form=_form(access, fields, button))


def _name(user: str, language: Language) -> str:
    return ui_text("sign_in", "local", language) if user == LOCAL else user


def sign_in_page(access: Access, language: Language, reason: Reason, status: int) -> Response:
    """Return the page for a browser that is not signed in, or whose sign-in failed."""
    label, button = (ui_text("sign_in", key, language) for key in ("token", "enter"))
    field = (
        f'<label for="token">{label}</label><input id="token" name="token" type="password" '
        f'autocomplete="current-password" maxlength="{MAX_TOKEN_LENGTH}" required>'
    )
    return plain_page(language, translate(reason, language), form=_form(access, {}, button, field), status=status)


def _form(access: Access, hidden: Mapping[str, str], button: str, field: str = "") -> str:
    inputs = "".join(f'<input type="hidden" name="{name}" value="{escape(value)}">' for name, value in hidden.items())
    action = f"{access.base_path}/"
    return f'<form method="post" action="{action}">{inputs}{field}<button>{escape(button)}</button></form>'
