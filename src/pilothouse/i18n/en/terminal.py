"""English texts of the conversation in a terminal."""

from collections.abc import Mapping

TERMINAL: Mapping[str, str] = {
    "welcome": "Pilothouse · {workspace}\n/help lists the commands, Ctrl-C cancels a turn, Ctrl-D quits.",
    "demo": "You're using the demo model. It only understands a few commands. Set OPENAI_API_KEY to use a real model.",
    "no_sandbox": (
        "The sandbox is incomplete on this kernel: in Review mode, only commands on a strict list run without asking. "
        "Not enforced: {broken}. Run `pilothouse doctor` to see what is missing."
    ),
    "help": (
        "/tour            a two-minute tour; press Enter for each step\n"
        "/mode [NAME]     show or switch the mode (or: /agent /supervised /review /plan /ask)\n"
        "/elevate N       in Review mode: allow the next N actions (or: turn, N minutes, end)\n"
        "/rules           list your rules; /rules revoke NUMBER\n"
        "/allow TOOL [FOLDER]  add a rule for this conversation (or: /ask-first, /deny)\n"
        "/policy [NAME]   extra approval rules: auto_approve, manual, white_list TOOL…, limited_auto STEPS, default\n"
        "/persona [NAME]  show or choose a persona; none for no persona\n"
        "/why             why the last action ran or didn't; /audit for everything\n"
        "/pause /resume   pause and resume the turn; /cancel ends it (or Ctrl-C)\n"
        "/continue        continue after a cancellation, a limit or an error, or send the queue\n"
        "/queue           list queued messages; /queue delete N, /queue edit N TEXT\n"
        "/branch [NAME]   list or switch branches; /branch delete NAME\n"
        "/fork NAME       start a branch from here; /edit TEXT replaces your last message\n"
        "/merge NAME [rebase] [preview]   merge another branch into this one\n"
        "/undo            revert the agent's last file change; !COMMAND runs a command of your own\n"
        "/tools           list the tools; /tools off NAME; /allow $ git push adds a rule for a command\n"
        "/servers         list MCP servers; /resource SERVER [URI], /use SERVER PROMPT\n"
        "/trust           review this folder's own settings, and trust them or not; /trust revoke\n"
        "/prompt [TEXT]   add instructions for the model on this branch\n"
        "/tokens          what fills the context window; /overview adds the project overview\n"
        "/model [NAME]    show or choose the model\n"
        "/compact         summarize earlier messages; /compact preview, undo, or WHAT TO KEEP\n"
        "/pin [off]       keep your last message when the conversation is compacted\n"
        "/title /usage /export [--system-prompt] [FILE] /archive   manage this conversation\n"
        "/quit            exit; the conversation is saved"
    ),
    "unknown": "Unknown command {command}. /help lists the commands.",
    "switched": "Mode: {icon} {title}. {meaning}",
    "started": "Mode changed. Pending actions started: {count}.",
    "rejected": "Mode changed. Pending actions rejected: {count}.",
    "approve": "y = approve, n = reject (n FEEDBACK), ! = always allow, a = approve all, e = edit, q = later > ",
    "approve_without_rule": "y = approve, n = reject (n FEEDBACK), a = approve all, e = edit, q = later > ",
    "confirm_all": "y = also approve the actions above ({count}), q = later > ",
    "more": (
        "Read everything before you decide: Enter or Space = next page ({number} of {count}), n = reject (n FEEDBACK), "
        "q = later > "
    ),
    "more_texts": "More to read: Enter or Space = next page, q = later > ",
    "question": "Question from the agent:",
    "question_later": "Type your answer. To answer later, type /later or press Ctrl-D.",
    "question_declined": "Type your answer. To skip the question, type /later or press Ctrl-D.",
    "question_of_child": "Type your answer. To cancel the turn, type /later or press Ctrl-D.",
    "empty_answer": "Type an answer first, or /later",
    "not_understood": "Please choose one of these.",
    "not_understood_kept": "Please choose one of these. Your text comes back at the next prompt.",
    "not_utf8": (
        "Your line wasn't sent: some of its bytes aren't UTF-8 (U+FFFD). Correct the line and send it again. To type "
        "such characters, set your terminal to UTF-8."
    ),
    "typed_before": "You typed this before the question appeared, so it wasn't used as the answer:",
    "typed_unsent": "You typed this, but it wasn't sent:",
    "allowed_by_rule": "Your rule allows this action:",
    "applied": "Applied: {what}.",
    "applied_approved": "{count} approved",
    "applied_rejected": "{count} rejected",
    "applied_by_rule": "{count} allowed by your rule",
    "comma": ", ",
    "dropped": "Your decisions on these actions ({count}) weren't applied.",
    "still_waiting": "Actions that need approval ({count}):",
    "later": "Press Enter to review, or type /cancel.",
    "question_waits": "The question is still open. Press Enter to answer, or type /cancel.",
    "tour_end": "That's the end of the tour. /help lists the commands.",
    "no_contexts": "No conversations yet.",
    "unarchived": "Unarchived {context_id}.",
    "deleted": "Deleted {context_id}.",
    "edit": "New arguments as JSON, Enter = no changes > ",
    "edit_again": "Enter = back to the editor, q = no changes > ",
    "edited_call": "The action after your edit:",
    "not_edited": "No changes. This is the original action.",
    "approve_edited": (
        "y = approve edited action, n = reject (n FEEDBACK), e = edit again, o = back to the original, q = later > "
    ),
    "editor_failed": "The editor failed: {detail}. Set $VISUAL or $EDITOR to choose another editor.",
    "editor_status": "The editor ended with {status}, so nothing was changed.",
    "not_json": "Invalid JSON object: {detail}",
    "card_folder": "Folder:",
    "card_timeout": "Time limit in seconds:",
    "card_mode": "Mode of the sub-agent:",
    "card_arguments": "Arguments:",
    "card_link": "Points to:",
    "card_reason": "Reason:",
    "dangerous": "Careful: {what}",
    "cancelled": "Cancelled. /continue resumes from here.",
    "recovery": "{reason} Saving is retried every 10 seconds. To retry now and continue, type /continue.",
    "failed": "Failed: {reason} /continue retries from here.",
    "bye": "Saved. To come back: {command}",
    "bye_gone": (
        "This conversation couldn't be saved: its folder {folder} is gone. To come back, restore the folder from a "
        "backup."
    ),
    "bye_refused": (
        "The end of this conversation couldn't be saved: the last writes to the disk failed. To come back to the rest: "
        "{command}"
    ),
    "active": "Active branch: {name}",
    "merged": "Messages merged from {source}: {count}.",
    "would_merge": "Messages to merge from {source}: {count}.",
    "queued": "Queued ({count} in the queue). /queue lists the messages.",
    "no_queue": "The queue is empty.",
    "pausing": "Pausing before the next step…",
    "paused": "Paused. /resume continues.",
    "child": "A sub-agent ({context_id}) needs your approval (q cancels the turn):",
    "child_asks": "Question from a sub-agent ({context_id}):",
    "rule_options": "Which rule? (number, Enter for none)",
    "no_rule_options": "No rule can allow this action. You'll be asked each time.",
    "no_rules": "No rules yet.",
    "revoked": "Revoked: {rule}",
    "persona": "Persona: {name}",
    "no_personas": "No personas yet.",
    "personas_untrusted": "This folder has personas that aren't trusted yet. To review them, run: pilothouse trust",
    "persona_of_user": "yours",
    "persona_of_project": "from this project",
    "persona_hidden": "hidden by yours",
    "persona_mode": "starts in {mode} mode",
    "persona_model": "model {model}",
    "tools_all": "all tools",
    "tools_only": "only {tools}",
    "tools_not": "except {tools}",
    "proposed_by": "Proposed by {origin}, not by the model.",
    "may_change": "Files that this command runs can still change after you approve it.",
    "second_attempt": "The connection was lost while {tool} ran. Trying once more.",
    "retry": "{error} Retrying in {seconds} s ({count} of {total}).",
    "go_on_with": "To continue: {command}, then /continue",
    "waits_for_approval": "Needs approval: {call}",
    "decide_with": "To review: {command}",
    "unread_start": "This would start pending actions ({count}):",
    "sure": "y = yes, anything else = no > ",
    "policy": "Extra approval rules: {policy}",
    "elevated": "Actions allowed for now: {left}.",
    "not_elevated": "Nothing extra is allowed for now.",
    "left_calls": "{count} more",
    "left_until": "until {until}",
    "left_turn": "this turn",
    "no_calls": "No actions yet.",
    "compressing": "Summarizing…",
    "compressed": "Messages compacted: {count} ({before} → {after} tokens). To restore them: /compact undo",
    "would_compress": "Messages to compact: {count} ({before} → at most {after} tokens).",
    "uncompressed": "Messages restored: {count}.",
    "meter": "Context: {tokens} of {budget} tokens ({share}%). Auto-compacts at {at}%.",
    "meter_manual": "Context: {tokens} of {budget} tokens ({share}%). Auto-compact is off; use /compact.",
    "part_persona": "persona",
    "part_tools": "tool instructions",
    "part_mode": "mode",
    "part_workspace": "project folder",
    "part_branch": "branch instructions",
    "part_overview": "project overview",
    "part_tool_definitions": "tool definitions",
    "part_history": "history",
    "part_attached": "message attachments",
    "pinned": "Pinned messages: {count}.",
    "model": "Model: {name} (available: {allowed})",
    "overview_added": "Project overview added. The model sees it from the next step on.",
    "title": "Title: {title}",
    "usage": "{input} input tokens, {output} output tokens{cost}",
    "usage_own": "without sub-agents: {input} input, {output} output{cost}",
    "exported": "Exported to {file} ({size} bytes).",
    "not_written": "Can't write {file}: {detail}.",
    "archived": "Archived. Send a message to unarchive the conversation.",
    "prompt_set": "Instructions saved. The model sees them from the next step on.",
    "prompt_gone": "This branch no longer has extra instructions.",
    "tour_line": "(Enter: {line}) ",
    "undo_left": "Couldn't restore: {left}",
    "and_more": "{names} and {count} more",
    "undone": "Reverted {paths}",
    "tools_legend": "● on, ○ off; /tools on NAME, /tools off NAME",
    "no_mcp_servers": "No MCP servers yet. To add one: pilothouse mcp add",
    "resource_added": "{uri} will be sent to the model with your next message.",
    "trust_none": "This folder has no settings of its own.",
    "trust_new": "This folder has its own settings. They're ignored until you trust them:",
    "trust_changed": (
        "This folder's settings have changed since you trusted them. The version that you trusted still applies until "
        "you trust the new one:"
    ),
    "trust_trusted": "This folder's settings are trusted.",
    "trust_file": "File {number} of {count}:",
    "trust_contents": "Contents:",
    "trust_ask": "Trust these settings? y = yes, anything else = no > ",
    "trust_left": "Not trusted. To review the settings again: /trust",
    "own_refused": "Couldn't start the command: {detail}",
    "mcp_server_tools": "{tools} tools, {changed} changed",
    "own_goes_on": "The command is still running. Press Ctrl-C again to kill it.",
    "imported": "Imported as {context_id}.",
    "left_out": "Not imported, because the file may come from someone else: {what}",
}
