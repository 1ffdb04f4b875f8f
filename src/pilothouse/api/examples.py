"""An example of each view and message of the HTTP API. Tests decode each example as its type."""

from typing import Any

from pilothouse.domain.contexts import FORMAT

CONTEXT_ID = "0190c8f2-7c1a-7abc-8def-0123456789ab"
MESSAGE_ID = "0190c8f2-7c1a-7abd-8def-0123456789ab"
ANSWER_ID = "0190c8f2-7c1a-7abe-8def-0123456789ab"
CALL_ID = "0190c8f2-7c1a-7abf-8def-0123456789ab"
TURN_ID = "0190c8f2-7c1a-7ac0-8def-0123456789ab"
RULE_ID = "0190c8f2-7c1a-7ac1-8def-0123456789ab"
AT = "2026-11-15T09:30:00.000Z"
DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

SCOPE: dict[str, Any] = {"tool": "write_file", "folder": "docs", "workspace": "/home/me/project"}
RULE: dict[str, Any] = {
    "id": RULE_ID,
    "effect": "allow",
    "scope": SCOPE,
    "lifetime": {"context": CONTEXT_ID},
    "origin": {"by": "local", "at": AT, "call": CALL_ID, "context": CONTEXT_ID},
}
CALL: dict[str, Any] = {
    "id": CALL_ID,
    "message_id": ANSWER_ID,
    "tool": "write_file",
    "display_name": "Write File",
    "arguments": {"path": "docs/hello.md", "content": "# Hello\n"},
    "digest": DIGEST,
    "preview": "--- docs/hello.md\n+++ docs/hello.md\n@@ -0,0 +1 @@\n+# Hello",
    "preview_kind": "file_change",
    "shown_arguments": ["path", "content"],
    "touches": ["docs/hello.md"],
    "effect": "mutating",
    "read_only": False,
    "dangerous": [],
    "lookalikes": "",
    "may_change": False,
    "origin": None,
    "status": "pending",
    "rule_offers": [{"scope": "folder", "rule": {**RULE, "id": ""}}],
    "requested_at": AT,
    "decided_at": None,
    "decided_by": None,
    "started_at": None,
    "finished_at": None,
    "edited": False,
    "confined": False,
    "output": None,
    "reason": {"code": "mode_waits", "params": {"mode": "supervised"}},
    "exit_status": None,
    "result_id": None,
    "result": None,
}
DECIDED: dict[str, Any] = {**CALL, "status": "executing", "rule_offers": [], "decided_by": "local", "decided_at": AT}
EDIT_PREVIEW: dict[str, Any] = {"call": {**CALL, "edited": True, "rule_offers": []}, "refusal": None}
BRANCH: dict[str, Any] = {
    "name": "main",
    "key": "0190c8f2-7c1a-7ac2-8def-0123456789ab",
    "created_at": AT,
    "parent_branch": None,
    "prompt_addition": None,
    "length": 2,
    "merged": [],
    "compressed": None,
    "original_of": None,
    "fork": None,
    "message_ids": [MESSAGE_ID, ANSWER_ID],
}
CONTEXT: dict[str, Any] = {
    "context_id": CONTEXT_ID,
    "version": 4,
    "title": "Say hello",
    "current_state": {"type": "awaiting_tool_approval", "pending_requests": [CALL_ID], "tool_names": ["write_file"]},
    "mode": "supervised",
    "active_branch": "main",
    "branches": {"main": BRANCH},
    "workspace": "/home/me/project",
    "config": {
        "persona": None,
        "policy": None,
        "model": "demo",
        "temperature": None,
        "max_output_tokens": None,
        "rules": [],
    },
    "usage": {"input_tokens": 120, "output_tokens": 30},
    "pins": [],
    "pending_tool_calls": [CALL],
    "open_questions": [],
    "queued": 0,
    "elevation": None,
    "turn": {"id": TURN_ID, "branch": "main", "started_at": AT, "round": 1},
    "last_turn": "complete",
    "streaming": None,
    "parent": None,
    "waiting_below": [],
    "archived": False,
    "damage": [],
    "created_at": AT,
    "updated_at": AT,
}
SUMMARY: dict[str, Any] = {
    "context_id": CONTEXT_ID,
    "title": "Say hello",
    "mode": "supervised",
    "state": {"type": "idle"},
    "updated_at": AT,
    "workspace": "/home/me/project",
    "owner": "local",
    "parent": None,
    "archived": False,
    "usage": {},
    "damage": None,
}
MESSAGE: dict[str, Any] = {
    "type": "text",
    "message_id": MESSAGE_ID,
    "timestamp": AT,
    "role": "user",
    "metadata": {"turn": TURN_ID, "round": 1, "mode": "supervised"},
    "content": "Write a hello.",
}
QUEUED: dict[str, Any] = {
    "item": {"id": MESSAGE_ID, "message_ids": [MESSAGE_ID], "by": "local", "at": AT},
    "messages": [MESSAGE],
}
SENT: dict[str, Any] = {"message_id": MESSAGE_ID, "turn_id": TURN_ID}
TEXT_BODY: dict[str, Any] = {"payload": {"type": "text", "content": "Write a hello."}, "mode": "supervised"}
SWITCH: dict[str, Any] = {"mode": "agent", "started": [CALL_ID]}
PLAN: dict[str, Any] = {
    "source": "try",
    "target": "main",
    "strategy": "append",
    "message_ids": [MESSAGE_ID],
    "positions": [4],
    "conflicts": [],
}
SESSION: dict[str, Any] = {
    "user_id": "local",
    "active_context_id": CONTEXT_ID,
    "open_contexts": [{"context_id": CONTEXT_ID, "title": "Say hello", "last_access_time": AT, "order": 0}],
    "ui_state": {"sidebar_collapsed": False, "sidebar_width": 280, "context_expanded": {}, "active_panel": None},
    "preferences": {
        "theme": "system",
        "language": "en",
        "font_size": 14,
        "auto_save": True,
        "default_model": None,
        "default_mode": "supervised",
        "tool_approval_policy": None,
    },
    "last_updated": AT,
    "version": 3,
    "warning": None,
}
AUDIT: dict[str, Any] = {
    "sequence": 1,
    "kind": "context_created",
    "at": AT,
    "by": "local",
    "detail": {"mode": "supervised"},
    "previous": "0" * 64,
    "hash": DIGEST,
}
WHY: dict[str, Any] = {"at": AT, "by": "mode", "what": "Mode supervised lets it wait.", "why": None}
PROVENANCE: dict[str, Any] = {"branch": "try", "position": 4, "at": AT, "by": "local"}
MODE: dict[str, Any] = {
    "name": "plan",
    "title": "Plan",
    "icon": "🧠",
    "meaning": "Reads and plans; changes nothing.",
    "aliases": ["planner"],
    "elevates": False,
    "is_default": True,
}
MODEL: dict[str, Any] = {
    "name": "gpt-4.1-mini",
    "is_default": True,
    "is_demo": False,
    "window": 1047576,
    "vision": True,
    "tokenizer": "o200k",
    "input_price": 0.4,
    "output_price": 1.6,
}
TOOL: dict[str, Any] = {
    "name": "read_file",
    "display_name": "Read File",
    "description": "Read a text file.",
    "category": "file_system",
    "effect": "read_only",
    "enabled": True,
    "parameters": {"type": "object"},
}
SERVER: dict[str, Any] = {
    "name": "docs",
    "transport": "stdio",
    "status": "ready",
    "detail": None,
    "folder": None,
    "trusted": False,
    "protocol": "2025-11-25",
    "restarts": 0,
    "tools": ["docs__search"],
    "changed": [],
    "withheld": 0,
    "prompts": [],
    "has_resources": True,
}
RESOURCE: dict[str, Any] = {
    "uri": "docs://guide",
    "name": "guide",
    "description": "How to begin.",
    "mime_type": "text/plain",
    "size": 1200,
}
PERSONA: dict[str, Any] = {
    "id": "reviewer",
    "name": "Ada",
    "role": "reviewer of changes",
    "identity": "You have read much code and changed little of it.",
    "communication_style": "Short and friendly.",
    "principles": ["Say what you have not checked."],
    "prompt": "Begin with the tests.",
    "model": None,
    "temperature": 0.2,
    "max_output_tokens": None,
    "default_mode": "review",
    "tools": {"allowed": [], "denied": ["execute"], "allowed_categories": [], "denied_categories": []},
    "origin": "user",
    "hidden": False,
}
FILES: dict[str, Any] = {"items": [{"path": "docs/hello.md", "is_folder": False}], "is_cut": False}
TRUST: dict[str, Any] = {
    "folder": "/home/ann/project",
    "status": "new",
    "digest": DIGEST,
    "files": {"config.toml": 'mode = "review"\n'},
    "programs": {},
    "trusted_at": None,
}
SETUP: dict[str, Any] = {
    "provider": "openai",
    "model": "gpt-4.1-mini",
    "is_demo": False,
    "base_url": "https://api.openai.com/v1",
    "key_hint": "3f9A",
    "key_from": "stored",
    "can_change": True,
    "reason": None,
}
TRIAL: dict[str, Any] = {"ok": True, "models": ["gpt-4.1", "gpt-4.1-mini"], "reason": None}
EXPORT = f'{{"type":"pilothouse_context","format":{FORMAT}}}\n'
HEALTH: dict[str, Any] = {
    "status": "warning",
    "version": "0.3.0",
    "user": "local",
    "contexts_in_memory": 2,
    "turns_open": 1,
    "contexts_waiting": 0,
    "sandbox": True,
    "promises": [
        {
            "name": "network",
            "kept": True,
            "detail": "no connection is made",
            "means": "seccomp (x86_64, aarch64)",
        }
    ],
    "problems": [
        {
            "code": "disk_space_low",
            "severity": "warning",
            "detail": "Only 42 MB are free on the disk with the data directory /home/me/.local/share/pilothouse.",
            "since": None,
        }
    ],
    "warnings": [],
}
METER: dict[str, Any] = {
    "tokens": 61200,
    "budget": 128000,
    "trigger": 102400,
    "target": 64000,
    "counter": "o200k",
    "is_estimate": False,
    "auto_compress": True,
}
USAGE: dict[str, Any] = {"own": {"input_tokens": 120}, "total": {"input_tokens": 120}, "window": METER}
WINDOW: dict[str, Any] = {
    "model": "gpt-4.1",
    "branch": "main",
    "meter": METER,
    "parts": [
        {"name": "persona", "tokens": 40, "text": "You are an agent in Pilothouse."},
        {"name": "history", "tokens": 60000, "text": None},
    ],
    "compresses": False,
    "results_cut": 0,
    "messages_shortened": 0,
    "messages_left_out": 0,
    "tokens_cut": 0,
    "request": {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hello"}]},
}
COMPRESSION: dict[str, Any] = {
    "branch": "main",
    "strategy": "intelligent",
    "messages": 42,
    "messages_kept": 14,
    "pinned": 1,
    "tokens_before": 104000,
    "tokens_after": 61000,
    "tokens_saved": 43000,
    "summary_id": None,
    "original": None,
    "how": None,
    "why": None,
}
COMPLETION: dict[str, Any] = {
    "id": f"chatcmpl-{MESSAGE_ID}",
    "object": "chat.completion",
    "created": 1_794_000_000,
    "model": "demo",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 12, "completion_tokens": 2, "total_tokens": 14},
}
ANSWER: dict[str, Any] = {
    "type": "text",
    "message_id": ANSWER_ID,
    "timestamp": AT,
    "role": "assistant",
    "metadata": {"turn": TURN_ID, "round": 1, "mode": "supervised"},
    "content": "Hello.",
    "chunks": [6],
    "finish_reason": "stop",
    "reasoning": {"format": "chat_completions", "text": "A greeting will do.", "chunks": [19]},
}
SIGNALS = (
    f'event: StateChanged\ndata: {{"event":"StateChanged","context_id":"{CONTEXT_ID}","version":4,'
    '"state":{"type":"idle"}}\n\n'
    f'event: ReasoningDelta\ndata: {{"event":"ReasoningDelta","context_id":"{CONTEXT_ID}","version":4,'
    f'"message_id":"{ANSWER_ID}","sequence":3}}\n\n'
    f'event: ContentDelta\ndata: {{"event":"ContentDelta","context_id":"{CONTEXT_ID}","version":4,'
    f'"message_id":"{ANSWER_ID}","sequence":12}}\n\n'
)
CHAT = 'event: token\ndata: {"text":"Hello."}\n\nevent: done\ndata: {}\n\n'


def page(*items: object, after: str | None = None) -> dict[str, Any]:
    return {"items": list(items), "next": after}


def audited_page(*items: object) -> dict[str, Any]:
    return {**page(*items), "chain": {"whole": True, "confirmed": True}}
