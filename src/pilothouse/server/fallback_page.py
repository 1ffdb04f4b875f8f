"""A plain HTML page without scripts or external files: for signing in, and when the web client is not built."""

import base64
import hashlib
from html import escape

from starlette.responses import Response

from pilothouse.domain.codes import Language
from pilothouse.i18n import catalog_of
from pilothouse.server.problems import POLICY
from pilothouse.server.routing import HTML

_STYLE = (
    "body{font:16px/1.6 system-ui,sans-serif;max-width:32rem;margin:18vh auto;padding:0 1.5rem;color:#1d2733;"
    "background:#f6f7f9}h1{font-size:1.2rem}label{display:block}input,button{font:inherit;padding:.4rem .7rem;"
    "border:1px solid #8894a2;border-radius:6px;background:#fff;color:inherit}input{width:100%;box-sizing:border-box}"
    "button{margin-top:.8rem;background:#1d5fbf;border-color:#1d5fbf;color:#fff;cursor:pointer}"
    "code{overflow-wrap:anywhere}"
    "@media(prefers-color-scheme:dark){body{color:#dbe2ea;background:#14181d}input{background:#1f252c}}"
)
_STYLE_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = POLICY.format(styles=f"'sha256-{_STYLE_DIGEST}'").replace("form-action 'none'", "form-action 'self'")
_START = (
    '<!doctype html><html lang="{language}"><head><meta charset="utf-8"><meta name="viewport" '
    'content="width=device-width"><link rel="icon" href="data:,"><title>Pilothouse</title><style>{style}</style>'
    "</head><body><main><h1>Pilothouse</h1>"
)


def plain_page(language: Language, *paragraphs: str, form: str = "", status: int = 200) -> Response:
    """Return a page with paragraphs, which are escaped, and a form, which is HTML."""
    body = "".join(f"<p>{escape(text)}</p>" for text in paragraphs)
    start = _START.format(language=catalog_of(language).html_language, style=_STYLE)
    # With `no-referrer`, browsers send forms with `Origin: null`. `strict-origin` does not reveal the path either.
    headers = {
        "content-security-policy": _POLICY,
        "cache-control": "no-store",
        "referrer-policy": "strict-origin",
    }
    return Response(f"{start}{body}{form}</main></body></html>", status, headers, media_type=HTML)
