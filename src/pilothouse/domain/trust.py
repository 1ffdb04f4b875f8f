"""Trust in a folder: its own configuration applies only in exactly the form that the person has trusted."""

from collections.abc import Mapping
from typing import Literal

from pilothouse.domain.value import Timestamp, Value

TrustStatus = Literal["none", "new", "trusted", "changed"]


class FolderTrust(Value, kw_only=True, omit_defaults=False):
    """The configuration that a folder brings, and whether it applies."""

    folder: str
    status: TrustStatus
    """While files are `changed`, the configuration trusted before still applies, without any of the changes."""
    digest: str
    """The hash of all files and programs together."""
    files: Mapping[str, str] = {}
    """The present configuration files by name."""
    programs: Mapping[str, str] = {}
    """The digests of other files in the folder with which its MCP servers are started."""
    trusted_at: Timestamp | None = None
