"""Images in a person's message: stored as sent, read from the workspace, and recognized as text for a model without
vision."""

import asyncio
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import PilothouseError, ToolError
from pilothouse.domain.images import MAX_IMAGE_BYTES, detect_media_type, inline_base64
from pilothouse.domain.messages import Image
from pilothouse.domain.payloads import ImagePayload
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.request.ocr import read_text
from pilothouse.sandbox.workspace import Workspace

_SIGNATURE_CHARACTERS = 24  # of base64, enough to detect the media type


def new_image(live: LiveContext, payload: ImagePayload, common: Mapping[str, Any]) -> Image:
    """The message of a checked payload. An image that needs no reading is resolved at once, which saves a commit."""
    data = inline_base64(payload.url, payload.base64)
    image = Image(
        **common,
        path=payload.path,
        url=payload.url if data is None else None,
        data=data,
        media_type=detect_media_type(b64decode(data[:_SIGNATURE_CHARACTERS])) if data is not None else None,
        recognition=payload.recognition,
    )
    is_ready = image.path is None and _is_seen(live, image)
    return msgspec.structs.replace(image, resolved_at=live.dependencies.now()) if is_ready else image


def _is_seen(live: LiveContext, image: Image) -> bool:
    return live.model().facts.vision and image.recognition != "ocr"


async def resolve_image(live: LiveContext, image: Image) -> Image:
    """An image with its data and, for a model without vision, its text; or with the error, which does not stop the
    turn."""
    error: Reason | None = None
    try:
        if image.path is not None:
            image = await asyncio.to_thread(_read, live.files.workspace(), image, image.path)
        if not _is_seen(live, image):
            text = await _recognize_text(live, image)
            image = msgspec.structs.replace(image, recognised_text=text)
    except PilothouseError as failure:
        error = failure.reason
    return msgspec.structs.replace(image, error=error, resolved_at=live.dependencies.now())


def _read(workspace: Workspace, image: Image, path: str) -> Image:
    """Raises: ToolError, InvalidInput."""
    violation = workspace.violation(path)
    if violation is not None:
        raise ToolError(violation.code, **violation.params)
    data = workspace.read(path, MAX_IMAGE_BYTES)
    kind = detect_media_type(data)
    return msgspec.structs.replace(image, data=b64encode(data).decode(), media_type=kind)


async def _recognize_text(live: LiveContext, image: Image) -> str:
    """Raises: ToolError."""
    if image.recognition == "vision":
        raise ToolError(Code.IMAGE_UNSEEN)
    if image.data is None:
        raise ToolError(Code.IMAGE_ELSEWHERE)
    private = [str(path) for path in live.dependencies.private_folders]
    return await read_text(b64decode(image.data), call_id=image.id, workspace=live.core.workspace, private=private)
