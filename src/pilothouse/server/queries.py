"""Types of parameters and body fields that several routes share."""

from typing import Annotated

from msgspec import Meta

from pilothouse.domain.value import Value

# `$` alone would also match before a trailing newline.
LISTED_IDS = r"^[A-Za-z0-9_,~-]*$(?!\n)"
Id = Annotated[str, Meta(min_length=1, max_length=129, pattern=r"^[A-Za-z0-9_-]{1,64}(~[A-Za-z0-9_-]{1,64})?$(?!\n)")]
Ids = Annotated[tuple[Id, ...], Meta(max_length=1000)]
ModeName = Annotated[str, Meta(min_length=1, max_length=30)]
CallDigest = Annotated[str, Meta(max_length=64)]
ShownDigests = Annotated[tuple[CallDigest, ...], Meta(max_length=1000)]
BranchName = Annotated[str, Meta(min_length=1, max_length=100)]
Limit = Annotated[int, Meta(ge=1, le=200)]
Cursor = Annotated[str, Meta(max_length=200)]


class PageQuery(Value):
    limit: Limit = 50
    cursor: Cursor | None = None
    """The `next` of the previous page."""
