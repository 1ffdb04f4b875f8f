"""Trust in a folder: its own configuration counts only in the very form in which the person has seen it."""

from collections.abc import Mapping
from typing import Literal

from pilothouse.domain.values import Timestamp, Value

TrustStatus = Literal["none", "new", "trusted", "changed"]


class FolderTrust(Value, kw_only=True, omit_defaults=False):
    """What a folder brings, and whether it counts. `files` are those that are there now, by name; `programs` are other
    files of the folder that its servers are started with, by their digests; `digest` names all of them together. While
    they are `changed`, what was trusted before still holds, and nothing of what is new."""

    folder: str
    status: TrustStatus
    digest: str
    files: Mapping[str, str] = {}
    programs: Mapping[str, str] = {}
    trusted_at: Timestamp | None = None
