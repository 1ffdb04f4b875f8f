"""English texts of the codes about tool calls: how they are decided and how they end."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

CALLS: Mapping[Code, str] = {
    Code.MODE_RUNS: "{mode} mode allows this without asking.",
    Code.MODE_WAITS: "{mode} mode asks before actions like this.",
    Code.MODE_DENIED: "{mode} mode doesn't allow {tool}. Switch to {hint} mode to continue.",
    Code.ELEVATION_OFFERED: "{mode} mode asks before making changes. Allow this action once?",
    Code.APPROVED: "Approved by {by}.",
    Code.ELEVATED: "Allowed once by {by}.",
    Code.QUESTION: "The agent has a question for you.",
    Code.UNKNOWN_TOOL: "Unknown tool {tool!r}. Available tools: {allowed}.",
    Code.TOOL_DISABLED: "The tool {tool!r} is disabled.",
    Code.INVALID_ARGUMENTS: "Nothing was run, because the arguments of {tool} aren't valid: {detail}.",
    Code.OUTSIDE_WORKSPACE: (
        "{path!r} is outside the workspace: file tools only use paths inside it, and no approval changes that. The "
        "user can open the folder to file tools ([[roots]] in config.toml), or let a command read the file in "
        "Supervised or Agent mode."
    ),
    Code.PROTECTED_PATH: (
        "{path!r} is protected: in every mode, file tools can't use it, and commands can't name it to change it. Use "
        "the program that it belongs to (such as git), or ask the user to change it."
    ),
    Code.CLEANS_DATA: (
        "Not run: git clean with -x or -X would delete {path!r}, where Pilothouse keeps conversations, tokens and "
        "settings. Exclude it: git clean -fdx {options}"
    ),
    Code.REJECTED: "The user rejected this action{because}. Don't try the same action again.",
    Code.REJECTED_BY_SWITCH: "Not run: the user switched to {mode} mode, which doesn't allow this action.",
    Code.ROUND_DENIED: "Not run: {mode} mode didn't allow another action of the same step.",
    Code.NOT_RUN: "Not run.",
    Code.CANCELLED: "Cancelled by the user.",
    Code.INTERRUPTED_CALL: "Interrupted before there was a result.",
    Code.MAY_HAVE_RUN: "Interrupted. The action may have run, so check before you repeat it.",
    Code.ARGUMENTS_EDITED: "The user edited the arguments before approving. The action ran with: {arguments}",
    Code.TOOL_FAILED: "{tool} failed: {detail}",
    Code.TOOL_TIMED_OUT: "{tool} was stopped after its time limit of {seconds} seconds.",
    Code.FILE_MISSING: "{path!r} doesn't exist.",
    Code.FILE_NOT_TEXT: "{path!r} isn't a text file.",
    Code.FILE_TOO_LARGE: (
        "{path!r} is too large: it has {size} bytes, and at most {limit} can be handled at once. Read it in parts by "
        "line numbers, or change it with a command."
    ),
    Code.NOT_A_FILE: "{path!r} isn't a regular file.",
    Code.NOT_A_DIRECTORY: "{path!r} isn't a folder.",
    Code.FILE_UNREADABLE: "{path!r} can't be used: {detail}.",
    Code.FILE_CHANGED: "{path!r} has changed since this action was shown. Read it again.",
    Code.COMMAND_FILES_CHANGED: (
        "The command {command!r} wasn't run: files that it runs have changed since it was shown. Request it again."
    ),
    Code.TEXT_NOT_FOUND: "Edit {number}: the old text wasn't found in {path!r}. It must match exactly.",
    Code.TEXT_NOT_UNIQUE: (
        "Edit {number}: the old text occurs {count} times in {path!r}. Include more of the surrounding text, or set "
        "replace_all."
    ),
    Code.TOO_MANY_EDITS: (
        "Too many edits for {path!r} ({size} bytes): {count} were given, and at most {limit} are allowed at once. "
        "Split them up."
    ),
    Code.TOO_MANY_MATCHES: (
        "Edit {number}: the old text occurs too often in {path!r}. One call replaces at most {limit} occurrences in a "
        "file of this encoding. Give more context, split the edits up, or use a command."
    ),
    Code.BAD_LINE_RANGE: "Lines {start} to {end} don't exist in {path!r}, which has {lines} lines.",
}
