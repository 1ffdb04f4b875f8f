"""English texts of tool calls: the marks of a call, its exit status, and stretches of blanks that are not shown."""

from collections.abc import Mapping

DANGERS: Mapping[str, str] = {
    "delete": "deletes files",
    "overwrite": "may overwrite files",
    "network": "accesses the network",
    "privilege": "requests elevated privileges",
    "not shown whole": "the change is too long to compare in full",
    "padding": "long runs of blank space",
    "unusual blanks": "unusual blank characters",
    "invisible characters": "invisible characters",
    "look-alike letters": "look-alike letters",
    "long numbers": "numbers too long to show exactly",
}

CALLS: Mapping[str, str] = {
    "exit_status": "exit code {status}",
    "failed_command": "failed, {exit_status}",
    "empty_lines": "… {count:,} empty lines …",
    "blanks": "… {count:,} blank characters …",
}
