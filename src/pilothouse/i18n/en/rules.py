"""English texts of the parts of a rule's description."""

from collections.abc import Mapping

RULES: Mapping[str, str] = {
    "allow": "always allow",
    "ask": "always ask before",
    "deny": "never allow",
    "stand_in": (
        "ask before using any tool · a record was cut off, rewritten or unreadable · check your rules, then revoke "
        "this one"
    ),
    "this_context": "in this conversation",
    "permanent": "permanently",
    "until": "until {until}",
    "workspace": "in {workspace}",
    "origin": "added by {given}",
}
