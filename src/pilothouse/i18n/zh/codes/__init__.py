"""Chinese texts of every code, a file an area."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code
from pilothouse.i18n.zh.codes.calls import CALLS
from pilothouse.i18n.zh.codes.models import MODELS
from pilothouse.i18n.zh.codes.requests import REQUESTS
from pilothouse.i18n.zh.codes.server import SERVER
from pilothouse.i18n.zh.codes.steering import STEERING
from pilothouse.i18n.zh.codes.storage import STORAGE
from pilothouse.i18n.zh.codes.tools import TOOLS
from pilothouse.i18n.zh.codes.turns import TURNS
from pilothouse.i18n.zh.codes.undo import UNDO
from pilothouse.i18n.zh.codes.window import WINDOW

CODES: Mapping[Code, str] = {
    **REQUESTS,
    **CALLS,
    **TURNS,
    **MODELS,
    **STORAGE,
    **SERVER,
    **STEERING,
    **TOOLS,
    **UNDO,
    **WINDOW,
}
