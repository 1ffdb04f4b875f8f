"""Images in a person's message: kept as they came, read from the workspace, put into words for a model that does not
see them."""

import asyncio
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import PilothouseError, ToolError
from pilothouse.domain.images import IMAGE_LIMIT, media_type, text_of
from pilothouse.domain.messages import Image
from pilothouse.domain.payloads import ImagePayload
from pilothouse.runtime.live import Live
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.ocr import read_text

_BEGINNING = 24  # characters of base64 that tell what it is


def new_image(live: Live, payload: ImagePayload, common: Mapping[str, Any]) -> Image:
    """The message of a payload that was checked. What needs no reading is complete at once: it is not stored twice."""
    data = text_of(payload.url, payload.base64)
    image = Image(
        **common,
        path=payload.path,
        url=payload.url if data is None else None,
        data=data,
        media_type=media_type(b64decode(data[:_BEGINNING])) if data is not None else None,
        recognition=payload.recognition,
    )
    is_ready = image.path is None and _is_seen(live, image)
    return msgspec.structs.replace(image, resolved_at=live.parts.now()) if is_ready else image


def _is_seen(live: Live, image: Image) -> bool:
    return live.facts.vision and image.recognition != "ocr"


async def resolve_image(live: Live, image: Image) -> Image:
    """With what it is, and with its text where the model does not see it; or with the error. None stops the turn."""
    error: Reason | None = None
    try:
        if image.path is not None:
            image = await asyncio.to_thread(_read, live.workspace(), image, image.path)
        if not _is_seen(live, image):
            text = await _put_into_words(live, image)
            image = msgspec.structs.replace(image, recognised_text=text)
    except PilothouseError as failure:
        error = failure.reason
    return msgspec.structs.replace(image, error=error, resolved_at=live.parts.now())


def _read(workspace: Workspace, image: Image, path: str) -> Image:
    """Raises: ToolError, InvalidInput."""
    limit = workspace.limit(path)
    if limit is not None:
        raise ToolError(limit.code, **limit.params)
    data = workspace.read(path, IMAGE_LIMIT)
    kind = media_type(data)
    return msgspec.structs.replace(image, data=b64encode(data).decode(), media_type=kind)


async def _put_into_words(live: Live, image: Image) -> str:
    """Raises: ToolError."""
    if image.recognition == "vision":
        raise ToolError(Code.IMAGE_UNSEEN)
    if image.data is None:
        raise ToolError(Code.IMAGE_ELSEWHERE)
    private = [str(path) for path in live.parts.private]
    return await read_text(b64decode(image.data), call_id=image.id, workspace=live.core.workspace, private=private)
