"""English texts of the built-in modes."""

from collections.abc import Mapping

TITLES: Mapping[str, str] = {
    "agent": "Agent",
    "supervised": "Supervised",
    "review": "Review",
    "plan": "Plan",
    "ask": "Ask",
}

MEANINGS: Mapping[str, str] = {
    "agent": "Runs everything without asking.",
    "supervised": "Asks before every action.",
    "review": "Reads freely, asks before making changes.",
    "plan": "Reads and plans, changes nothing.",
    "ask": "Chat only, no tools.",
}
