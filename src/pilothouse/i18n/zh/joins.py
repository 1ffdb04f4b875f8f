"""Chinese separators between the items of a list or the sentences of a text."""

from collections.abc import Mapping

JOINS: Mapping[str, str] = {
    "sentences": "",
    "promises": "；",
    "alternatives": "，或 ",
}
