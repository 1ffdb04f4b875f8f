"""English texts of commands of the program: `audit`, `doctor`, `clean`, `serve`, `mcp` and `trust`."""

from collections.abc import Mapping

AUDIT: Mapping[str, str] = {
    "rules": "rules of {user}",
    "summary": "Checked: {count}. Cut off, rewritten or unreadable: {bad}.",
    "accepted": "accepted as it is now",
    "how": (
        "Actions need your approval until you accept the records as they are now. Compare them with a backup if you "
        "have one, then run: {command}"
    ),
}

DOCTOR: Mapping[str, str] = {
    "complete": "Sandbox: complete. In Review mode, read-only commands run without asking.",
    "incomplete": (
        "Sandbox: incomplete. In Review mode, only commands on a strict list run without asking. Use a newer kernel, "
        "or approve commands one by one."
    ),
    "kept": "enforced",
    "broken": "NOT ENFORCED",
    "by": "by {means}",
    "needs": "needs {means}",
    "programs": "Programs:",
    "missing": "not found: {why}",
    "bash": "without it, no command runs without asking; install bash",
    "git": "the model can't look at git repositories; install git",
    "rg": "searching is slower; install ripgrep",
    "tesseract": "text in images can't be read; install tesseract-ocr",
}

CLEAN: Mapping[str, str] = {
    "nothing": "No data in {data} yet.",
    "foreign": "{data} holds no conversations of Pilothouse. Nothing was deleted.",
    "total": "{data}: {size}",
    "conversations": "  conversations   {size:>10}   {count}",
    "outputs": "    full outputs  {size:>10}",
    "uploads": "    uploads       {size:>10}",
    "undo": "    undo data     {size:>10}",
    "largest": "  Largest conversations (to delete one: pilothouse contexts delete ID):",
    "cache": "  undo cache      {size:>10}   recreated when needed",
    "remnants": "  leftovers       {size:>10}   from deleted conversations and earlier versions",
    "expired": "  expired undo    {size:>10}   older than {days} days",
    "free": "You can free {size}.",
    "hint": "To free it, run `pilothouse clean --yes`.",
    "ask": "Free it now? [y/N] ",
    "freed": "Freed {size}.",
}

SERVE: Mapping[str, str] = {
    "model": "model",
    "demo": " (demo model: needs no API key and no network)",
    "roots": "Projects can be in:",
    "workspace": "New conversations start in:",
    "open": "Open:",
    "once": "The link signs in one browser and expires in {seconds} seconds. For a new link, run: {command}",
    "listening": "Listening on:",
    "sign_in": "For a sign-in link, run: {command}",
    "rules_damaged": (
        "The record of the rules of {user} was cut off or rewritten outside of Pilothouse, or can't be read. Every "
        "action of {user} needs approval until {user} has checked the rules."
    ),
    "stopping": "Stopping. Unfinished turns are saved and can be continued later.",
}

MCP: Mapping[str, str] = {
    "none": "No MCP servers yet. To add one: pilothouse mcp add NAME -- COMMAND, or pilothouse mcp add NAME URL",
    "folder": "from this project",
    "untrusted": "from this project, not trusted yet: pilothouse trust",
    "added": "Added {name} to {file}. To test it: pilothouse mcp test {name}",
    "removed": "Removed {name} from {file}.",
    "connecting": "Connecting to {name}…",
}

TRUST: Mapping[str, str] = {
    "nothing": "{folder} has no settings of its own.",
    "trusted": "The settings of {folder} are trusted as they are now.",
    "shown": "Settings of {folder}:",
    "changed": (
        "These settings have changed since you trusted them. The version that you trusted still applies until you "
        "trust the new one."
    ),
    "ask": "Trust these settings? [y/N] ",
    "more": "Read everything before you decide: Enter = next page ({number} of {count}), anything else = no > ",
    "left": "Not trusted. The settings are ignored.",
    "kept": "Not trusted. The version that you trusted still applies; the changes are ignored.",
    "revoked": "The settings of {folder} are no longer trusted and are ignored.",
}
