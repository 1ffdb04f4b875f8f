"""Chinese: what stands between the parts of a list or of a text."""

from collections.abc import Mapping

JOINS: Mapping[str, str] = {
    "sentences": "",
    "promises": "；",
    "alternatives": "，或 ",
}
