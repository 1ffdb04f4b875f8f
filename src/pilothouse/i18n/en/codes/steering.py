"""English texts of the codes about rules, policies, elevation, branches, queues and configuration."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

STEERING: Mapping[Code, str] = {
    Code.UNKNOWN_RULE: "You have no rule {rule!r}. It may already be revoked.",
    Code.UNKNOWN_PERSONA: "Unknown persona {persona!r}. Available: {allowed}.",
    Code.UNKNOWN_QUEUED: "The message {message_id!r} isn't in the queue. It may have been sent already.",
    Code.INVALID_CURSOR: "Invalid position {cursor!r}. Use the 'next' value of an earlier page.",
    Code.INVALID_EXPORT: "This file can't be imported: {detail}.",
    Code.INVALID_CONFIG: "{file}, line {line}, {key}: {detail} Allowed: {allowed}.",
    Code.IGNORED_KEY: "{file}, line {line}: unknown key {key}, ignored.",
    Code.IGNORED_GRANT: (
        "{file}, line {line}: the key {key} has no effect: your mode and your rules decide what runs without asking."
    ),
    Code.SERVER_WITHOUT_TARGET: (
        "{file}, line {line}: the MCP server {name} was left out because it has no {needed}. Add one."
    ),
    Code.SERVER_TWO_TARGETS: (
        "{file}, line {line}: the MCP server {name} was left out because it has both a command and a url. Keep one."
    ),
    Code.SERVER_KEY_TWICE: (
        "{file}, line {line}: the MCP server {name} was left out because it has both {first} and {second}, which "
        "mean the same. Keep one."
    ),
    Code.SERVER_FOLDER: (
        "{file}, line {line}: the MCP server {name} was left out because its cwd isn't an absolute path. Write the "
        "full path."
    ),
    Code.SERVER_VARIABLE: (
        "{file}, line {line}: the MCP server {name} was left out because {key} contains {variable}, which isn't filled "
        "in here. Write the value itself."
    ),
    Code.SERVER_TRANSPORT: (
        "{file}, line {line}: the MCP server {name} was left out because the transport {transport} isn't supported. "
        "Use stdio or streamable HTTP."
    ),
    Code.SERVER_NAME: (
        "{file}, line {line}: the MCP server {name} was left out because its name isn't valid. Use 1 to 40 letters, "
        "digits, '-' and '_', without two '_' in a row."
    ),
    Code.SERVER_NAME_TAKEN: (
        "{file}, line {line}: the MCP server {name} was left out because its name is too similar to {other}. Rename "
        "one of them."
    ),
    Code.FILE_HAS_COMMENTS: "{file} wasn't changed: it has comments, which would be lost. Edit the file by hand.",
    Code.KEY_REUSED: "The idempotency key {key!r} was already used for another request. Use a new one.",
    Code.NOT_ELEVATABLE: "“Allow more for now” isn't available in {mode} mode, only in: {allowed}.",
    Code.NO_ELEVATION: "Nothing extra is allowed for now, so there is nothing to end.",
    Code.NOT_PAUSABLE: "Nothing to pause.",
    Code.NOT_PAUSED: "The turn isn't paused.",
    Code.QUEUE_FULL: "The queue is full: it already has {limit} messages. Wait, or remove some.",
    Code.TOO_MANY_RULES: "You already have {limit} rules. Revoke some first.",
    Code.BRANCH_IN_USE: (
        "The branch {branch!r} can't be deleted or restored while it's in use: it's active, has an unfinished turn, or "
        "holds the original messages of a compacted branch."
    ),
    Code.RULE_IN_FILE: "This rule is defined in {file}. Edit it there.",
    Code.ELEVATION_RUNS: "Allowed for now in {mode} mode, as in Agent mode.",
    Code.ANCESTOR_DENIED: "The parent conversation is in {mode} mode, which doesn't allow {tool}.",
    Code.ANCESTOR_WAITS: "The parent conversation is in {mode} mode, which asks before actions like this.",
    Code.DIRECTORY_DENIED: "{folder!r} is in {mode} mode, which doesn't allow {tool}.",
    Code.DIRECTORY_WAITS: "{folder!r} is in {mode} mode, which asks before actions like this.",
    Code.RULE_ALLOWS: "Allowed by a rule: {tool} [{where}], added by {given}.",
    Code.RULE_ASKS: "A rule asks first: {tool} [{where}], added by {given}.",
    Code.RULE_DENIES: "Not allowed by a rule: {tool} [{where}], added by {given}.",
    Code.POLICY_WAITS: "The extra approval rules ({policy}) ask before actions like this.",
    Code.PERSONA_DENIED: "The persona {persona} isn't allowed to use {tool}.",
    Code.DELEGATION_TOO_DEEP: "A sub-agent of depth {depth} can't start other sub-agents.",
    Code.SUBAGENT_ENDED: "The sub-agent gave no answer ({end}). Its conversation is {context_id}.",
    Code.SUBAGENT_INCOMPLETE: (
        "The sub-agent didn't finish ({end}). Its conversation is {context_id}. The last text it wrote:\n{text}"
    ),
    Code.WHY_RUN: "Allowed without asking in {mode} mode.",
    Code.WHY_WAIT: "Approval was required in {mode} mode.",
    Code.WHY_DENY: "Not allowed in {mode} mode.",
    Code.WHY_APPROVED: "Approved by {by} in {mode} mode.",
    Code.WHY_REJECTED: "Rejected by {by} in {mode} mode.",
    Code.WHY_STARTED: "Started in {mode} mode.",
    Code.WHY_ENDED: "Result: {status}.",
    Code.LIMIT_COST: "Stopped: the turn cost {used}, and its limit is {limit}. Continue?",
    Code.RULES_CUT: (
        "The record of your rules was cut off, rewritten or removed outside of Pilothouse: it had {known} entries, and "
        "they are no longer intact. A rule that you revoked may be back, and a rule that forbids something may "
        "be gone, so every action needs your approval. Check your rules, then revoke the one that asks about every "
        "tool. If you removed the data folder yourself, or once you have checked, you can also stop Pilothouse and "
        "accept all records as they are now: pilothouse audit verify --accept"
    ),
    Code.RULES_IN_DOUBT: (
        "A record of your rules or of this conversation was cut off or rewritten, or can't be read. Every action needs "
        "your approval until you have checked the rules and revoked the one that asks about every tool."
    ),
    Code.RULES_DAMAGED: (
        "Your saved rules couldn't be read in full ({detail}); the damaged data is kept. Every action needs your "
        "approval until you revoke the rule that asks about every tool."
    ),
    Code.PROCESSOR_FAILED: "A message processor failed: {detail}",
    Code.INVALID_PATH: "Invalid path {path!r}.",
    Code.INVALID_NUMBER: "Enter a number from 1 to {limit}.",
    Code.RULE_WITHOUT_TOOL: "The rule has no tool. Name one, or use '*' for all tools.",
    Code.RULE_FOLDER: "{folder!r} isn't a folder in the project.",
    Code.RULE_NOT_OFFERED: "The rule {scope!r} isn't available for this action. Choose one of: {allowed}.",
    Code.RULE_MINUTES: "A rule can last at most {limit} minutes.",
    Code.RULE_WITH_EDIT: "“Always allow” only works for an action as it was shown, not for an edited one.",
    Code.POLICY_DEPTH: "The number of steps must be 1 or more.",
    Code.ELEVATION_END: "Set exactly one limit: calls, turn or minutes.",
    Code.ELEVATION_CALLS: "Enter a number of actions from 1 to {limit}.",
    Code.ELEVATION_MINUTES: "Enter a number of minutes, at most {limit}.",
    Code.ELEVATION_WITHOUT_TURN: (
        "No turn is running, so nothing can be allowed for this turn. Choose a number of actions or minutes."
    ),
    Code.MERGE_INTO_ITSELF: "Can't merge the branch {branch!r} into itself.",
    Code.MERGE_IDS: "message_ids is required for cherry_pick, and allowed only there.",
    Code.MERGE_NOT_ON_SOURCE: "These messages aren't on the source branch: {ids}.",
    Code.COMMAND_USAGE: "Usage: {usage}",
    Code.REACH_CHANGED: (
        "Nothing was run: the files and folders that {tool} would affect have changed since the decision. Request the "
        "action again."
    ),
}
