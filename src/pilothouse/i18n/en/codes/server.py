"""English texts of the codes about requests over HTTP, access, uploads and sessions."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

SERVER: Mapping[Code, str] = {
    Code.INVALID_REQUEST: "The request isn't valid: {detail}.",
    Code.NOT_HTTP: "The request isn't valid HTTP.",
    Code.NOT_JSON: "The request body isn't valid JSON: {detail}.",
    Code.NO_SUCH_PATH: "Nothing found at {path!r}. See api/docs for what the server offers.",
    Code.OUTSIDE_BASE_PATH: "Nothing found at {path!r}. The addresses of this server begin with {base_path}/.",
    Code.METHOD_NOT_ALLOWED: "{method} isn't allowed here. Use one of: {allowed}.",
    Code.UNSUPPORTED_TYPE: "The content type {type!r} isn't accepted here. Use one of: {allowed}.",
    Code.BODY_TOO_LARGE: "The request body is larger than {limit} bytes. Send less.",
    Code.BODY_TOO_SLOW: "The request body didn't arrive within {seconds} seconds. Try again.",
    Code.AMBIGUOUS_DECISION: (
        "{count} conversations need your input: name each action by its ID, and the conversation that an answer is for."
    ),
    Code.EDIT_WITHOUT_ARGUMENTS: "'args' is required for a decision of type 'edit', and allowed only there.",
    Code.POLICY_TOOLS: (
        "Too many tools, or a tool name that is too long: approval rules list at most {limit} tools, with names of at "
        "most {length} characters."
    ),
    Code.QUERY_TOO_LARGE: "The request URL is longer than {limit} bytes. Shorten it.",
    Code.UNAUTHORIZED: (
        "You're not signed in. Run 'pilothouse open' on the server's machine (with --data-dir if the server uses it) "
        "and open the link it prints. Or open the server's address and enter your access token. Programs send it as "
        "'Authorization: Bearer TOKEN'."
    ),
    Code.LINK_EXPIRED: (
        "This link no longer works: it was already used, or it's older than a minute. For a new link, run 'pilothouse "
        "open' on the server's machine, or enter your access token."
    ),
    Code.WRONG_TOKEN: (
        "You're not signed in: the access token isn't valid on this server. Check it, or ask the server's "
        "administrator for a new one ('pilothouse users token NAME')."
    ),
    Code.TOO_MANY_ATTEMPTS: "Too many wrong access tokens from this address. Try again in {seconds} seconds.",
    Code.FOREIGN_HOST: (
        "This server doesn't accept the host name {host!r}. Use one of: {allowed}. To add names, set 'hosts' under "
        "[server] in your configuration."
    ),
    Code.FOREIGN_ORIGIN: (
        "A page from another origin ({origin!r}) isn't allowed to use this server. Open the web client at the server's "
        "own address."
    ),
    Code.FORWARDED_SCHEME: (
        "The proxy in front of this server sent X-Forwarded-Proto: {scheme!r}. Configure the proxy to replace this "
        "header by http or https."
    ),
    Code.OUTSIDE_ROOTS: (
        "Can't use the project folder {path!r}: it isn't in a folder that this server opens to you ({allowed})."
    ),
    Code.CONFIG_MISSING: (
        "The configuration file {path!r} doesn't exist. Correct --config or PILOTHOUSE_CONFIG, or create the file."
    ),
    Code.INVALID_BASE_URL: (
        "OPENAI_BASE_URL isn't a valid URL: {address!r} doesn't start with http:// or https://. Enter one like "
        "http://127.0.0.1:11434/v1."
    ),
    Code.USER_TABLE_UNUSED: (
        "[users.{user}] in your configuration applies to nobody: no user {user!r} has an access token. Users with one: "
        "{users}. Check the spelling: a user without such a table may work in all folders of the server."
    ),
    Code.USER_ROOT_MISSING: (
        "The server wasn't started: the folder {path!r} of the user {user!r} (roots in [users.{user}] of your "
        "configuration) doesn't exist or isn't a folder. Create it, or correct the path."
    ),
    Code.USER_ROOT_OUTSIDE: (
        "The server wasn't started: the folder {path!r} of the user {user!r} (roots in [users.{user}] of your "
        "configuration) isn't in a folder of the server ({allowed}). Choose a folder in one of them, or add one with "
        "--root."
    ),
    Code.TOO_MANY_CONNECTIONS: (
        "The server has reached its limit of {limit} connections. Close one, or try again later."
    ),
    Code.TOO_MANY_CONNECTIONS_OF_USER: (
        "You've reached the limit of {limit} connections for one user. Close one, or try again later."
    ),
    Code.TOO_MANY_IMPORTS: (
        "You've reached the limit of {limit} imports at once for one user. Try again when one is done."
    ),
    Code.TOO_MANY_BODIES: "Your requests together are larger than {limit} MB. Send the large ones one at a time.",
    Code.TOO_MANY_VALUES: "The request was refused: its JSON has more than {limit} values. Send less in one request.",
    Code.TOO_MANY_STREAMS_OF_USER: (
        "You've reached the limit of {limit} open event streams for one user. Close one, or try again later."
    ),
    Code.TOO_MANY_STREAMS: (
        "The server has reached its limit of {limit} open event streams. Close one, or try again later."
    ),
    Code.SERVER_STOPPING: "The server is stopping. Everything it confirmed is saved. Connect again when it's back.",
    Code.NOTHING_TO_RESUME: "This conversation isn't waiting for a decision.",
    Code.TOO_MANY_DECISIONS: (
        "{given} decisions were given, but {pending} actions need approval. Name each action by its ID, or give the "
        "decisions in order."
    ),
    Code.PLAN_DENIED: "Plan mode doesn't allow this. Switch to build mode to continue.",
    Code.NOBODY_HERE: (
        "Nobody can be asked here, so actions that need approval or an answer aren't run. Continue without them, "
        "and say what you couldn't do."
    ),
    Code.NOT_DONE: "Not done, because nobody could be asked: {calls}",
    Code.WEAK_ACCESS: (
        "The access token in {source} is too short ({length} characters) or has characters that aren't allowed. "
        "Use at least {limit} letters, digits and -._~+/=."
    ),
    Code.OPEN_ACCESS: (
        "The server wasn't started: {host!r} can be reached from other machines. First set PILOTHOUSE_TOKEN to an "
        "access token of your own (at least {limit} characters), or listen on 127.0.0.1."
    ),
    Code.CANNOT_LISTEN: (
        "Can't listen on {host}:{port}: {detail}. Choose another address with --host, or another port with --port."
    ),
    Code.PORT_TAKEN: (
        "Can't listen on {host}:{port}: another program uses this port. Stop that program, or choose another port with "
        "--port (0 for any free one)."
    ),
    Code.USER_EXISTS: "The user {user!r} already exists. Choose another name.",
    Code.UNKNOWN_USER: "Unknown user {user!r}. Choose one of: {allowed}.",
    Code.TOKEN_FROM_ENVIRONMENT: (
        "No new access token was created: the variable PILOTHOUSE_TOKEN sets the token of the user 'local'. Change it "
        "there and restart the server."
    ),
    Code.NO_SERVER: (
        "No link was created: no server is running for the data folder {path}. Start one with 'pilothouse serve', or "
        "name the data folder of the running server with --data-dir."
    ),
    Code.DATA_IN_REPOSITORY: (
        "The data folder {path} is in the git repository {repository}. Its .gitignore keeps it out of commits, but git "
        "clean -x deletes it with all conversations. Move it out of the repository, and name its new location with "
        "--data-dir."
    ),
    Code.SHARED_SERVER: (
        "Several people use this server ({users}), and they all work under one account of the machine. In Agent mode, "
        "or once a command is approved, a command of any of them can read and change whatever this account can, "
        'including the others\' files and conversations. sandbox = "workspace" under [tools.execute] in tools.toml '
        "prevents the changes, not the reading. To keep people apart, run a separate server under a separate account "
        "for each."
    ),
    Code.UPLOAD_NAME: "Invalid file name {name!r}. Use 1 to 200 characters.",
    Code.UNKNOWN_UPLOAD: "This conversation has no upload named {name!r}.",
    Code.UPLOAD_READ_ONLY: (
        "{path!r} is an upload, and uploads are read-only. Copy it into the workspace first and change the copy."
    ),
    Code.UPLOADS_RESERVED: (
        "Can't create {path!r}: the folder name stands for the uploads of this conversation, which are read-only. "
        "Create the file in another folder."
    ),
    Code.UPLOAD_NOT_STORED: (
        "Couldn't save {name!r} with the conversation: {detail}. No part of the file was kept. Free up disk space or "
        "check the data folder, then try again."
    ),
    Code.HIDDEN_TEXTS: "Texts that only the model would have seen (messages: {count}).",
    Code.UPLOAD_LEFT_OUT: (
        "The export doesn't include the upload {name!r} ({size} bytes): an export holds at most {limit} bytes of "
        "uploads."
    ),
    Code.UPLOADS_NOT_KEPT: (
        "This conversation is kept in memory only and can't take uploads. Put the file into the project folder instead."
    ),
    Code.UPLOADS_FULL: (
        "The uploads of this conversation would be too large: they take up {held} bytes, and {size} more would exceed "
        "the limit of {limit}. Remove some first."
    ),
    Code.TOO_MANY_UPLOADS: "This conversation already has {limit} uploads. Remove some first.",
    Code.FILE_EXISTS: "{path!r} already exists with different content. Choose another path.",
    Code.PAGE_NOT_BUILT: (
        "The web client hasn't been built yet. Stop the server and start it with 'make run', which builds it first. "
        "The API works without it: api/docs."
    ),
    Code.INVALID_ADDRESS: (
        "Enter a valid URL, e.g. https://api.openai.com/v1. It must start with https:// or http://, include a host, "
        "and have no user name, '?' or '#'."
    ),
    Code.SETUP_FIXED: "The model is set by {by}. Unset it and restart to change the model here.",
    Code.STALE_SESSION: (
        "Your tabs or preferences were changed elsewhere (version {found} instead of {expected}). Reload them."
    ),
    Code.TOO_MANY_TABS: "You can have at most {limit} tabs open. Close one first.",
    Code.DOCUMENT_DAMAGED: "Can't read the document {name!r}: {detail}.",
    Code.SESSION_DAMAGED: (
        "Your saved tabs and preferences couldn't be read ({detail}), so you start with empty ones. The damaged file "
        "is kept as {kept}."
    ),
    Code.TOKENS_DAMAGED: "Can't read the access token file {path}: {detail}. Repair or remove it.",
}
