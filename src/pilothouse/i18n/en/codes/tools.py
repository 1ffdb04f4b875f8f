"""English texts of the codes about tools, MCP servers and trust."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

TOOLS: Mapping[Code, str] = {
    Code.MCP_PROGRAM_MISSING: (
        "Can't start the MCP server {name}: the command {command!r} wasn't found. Install it, or write its full path."
    ),
    Code.MCP_FOLDER_MISSING: "Can't start the MCP server {name}: its folder {folder!r} doesn't exist. Correct its cwd.",
    Code.MCP_PROGRAM_ENDED: "The program of the MCP server {name} {ended}. Run its command in a terminal to see why.",
    Code.MCP_PROGRAM_PRINTS: (
        "The program of the MCP server {name} printed {line!r}, which isn't MCP. Check its command and arguments."
    ),
    Code.MCP_UNKNOWN_HOST: (
        "Can't connect to the MCP server {name}: the host of {address} wasn't found. Check the address and your "
        "network."
    ),
    Code.MCP_REFUSED: (
        "Can't connect to the MCP server {name}: nothing is listening at {address}. Start the server, or correct the "
        "address."
    ),
    Code.MCP_TLS: (
        "Can't connect to the MCP server {name}: no secure connection to {address} ({detail}). Check the certificate, "
        "or whether the address should start with http."
    ),
    Code.MCP_UNREACHABLE: (
        "Can't connect to the MCP server {name} at {address} ({detail}). Check the address and your network."
    ),
    Code.MCP_UNAUTHORIZED: (
        "The MCP server {name} denied access (HTTP {status}). Add its key to the headers, or renew it."
    ),
    Code.MCP_NO_ENDPOINT: (
        "There is no MCP server at {address} (HTTP {status}). Check the path of the address; it often ends in /mcp."
    ),
    Code.MCP_REDIRECT: (
        "The MCP server {name} redirects to {location}, and redirects aren't followed. Use that address if it's right."
    ),
    Code.MCP_HTTP_STATUS: (
        "The MCP server {name} answered with an error (HTTP {status}). Try again later, or ask its administrator."
    ),
    Code.MCP_NOT_MCP: (
        "The server at {address} isn't an MCP server: it sent {kind}. Check the address; it often ends in /mcp."
    ),
    Code.MCP_SILENT: (
        "The MCP server {name} didn't answer within {seconds} seconds. Check that the server is running and speaks MCP."
    ),
    Code.MCP_FAILED: "The connection to the MCP server {name} failed: {detail}. Check its settings.",
    Code.SETTINGS_WAIT: "Your settings ask before every use of {tool}.",
    Code.RULE_MAY_APPLY: (
        "Needs your approval: Pilothouse can't tell what this action starts, and there is a rule about {tool} "
        "[{where}], added by {given}."
    ),
    Code.RULE_WORDS: "For the rule, enter the first words of a single command: 1 to {limit} plain words.",
    Code.RUNS_CODE: "{path!r} can make your programs run code, so only you can allow this change.",
    Code.COMMAND_NOT_CHECKED: (
        "This command is too long, too deeply nested or too unusual to be checked for changes to files that make "
        "your programs run code, so only you can allow it. To have it checked, split it into several shorter commands."
    ),
    Code.CODE_FILES_CHANGED: (
        "This command changed files that make your programs run code: {paths}. Check them before you continue."
    ),
    Code.FILE_READ_ONLY: "{path!r} is marked read-only, so only you can allow this change.",
    Code.FILE_NOT_WRITABLE: (
        "Can't write {path!r}: {detail}. It belongs to another user, is immutable, or its folder or disk is read-only. "
        "Change its permissions first, or write to another file."
    ),
    Code.UNKNOWN_ENCODING: (
        "Unknown text encoding {encoding!r}. Examples: utf-8, utf-16-le, cp1251, cp1252, iso8859-2, cp932, euc_jp, "
        "gb18030, big5, cp949. For UTF-16 without a byte order mark, use utf-16-le or utf-16-be."
    ),
    Code.ENCODING_UNCERTAIN: (
        "Nothing was changed: the encoding of {path!r} is uncertain, and this change depends on it. Pass the right "
        "encoding to edit_file (encoding=), or set the charset in .editorconfig. How the file reads in each:\n"
        "{candidates}"
    ),
    Code.ENCODING_CONTRADICTED: (
        "Nothing was changed: {path!r} can't be read as {encoding}. It looks like {likely}: leave out encoding=, or "
        "give another one."
    ),
    Code.NOT_ENCODABLE: (
        "Nothing was changed: {path!r} is in {encoding}, which doesn't have {character!r}. Write the text without it, "
        "or convert the file to UTF-8 first."
    ),
    Code.ENCODING_STATEFUL: (
        "Nothing was changed: the lines of {path!r} can't be written back byte for byte in {encoding}. Convert the "
        "file to UTF-8 first."
    ),
    Code.TOOL_CHANGED: "{server} has changed its tool {tool} since you allowed it, so it needs your approval again.",
    Code.FILE_CHANGED_SINCE_READ: "{path!r} has changed since it was read. Read it again before you change it.",
    Code.INVALID_PATTERN: "Can't search for the pattern {pattern!r}: {detail}.",
    Code.INVALID_NOTEBOOK: "{path!r} isn't a notebook: {detail}.",
    Code.UNKNOWN_CELL: "{path!r} has no cell {cell!r}. It has {count} cells, counted from 0.",
    Code.TOOL_NEEDS: "The tool {tool} can't be used: it needs {needs}, which is missing.",
    Code.TOOL_TWICE: "Two tools have the name {tool!r}. Rename one of them.",
    Code.INVALID_EXTENSION: "{name!r} can't be loaded: {detail}.",
    Code.INVALID_TOOL: "{tool!r} can't be used as a tool: {detail}.",
    Code.UNKNOWN_SERVER: "Unknown MCP server {server!r}. Available: {allowed}.",
    Code.TRUST_CHANGED: "The settings in {folder!r} have changed since they were shown. Review them again.",
    Code.NO_OUTPUT: "The action has no output beyond its result.",
    Code.ONLY_LOCAL_USER: "Only the machine's own user (local) can change this, because it concerns the whole machine.",
    Code.ONLY_LOCAL: "This can only be set in {file}, not over the network.",
}
