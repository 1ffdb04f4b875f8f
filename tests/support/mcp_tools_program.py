"""A small MCP server, without any SDK. Its folder (the first argument) has its tools and its log.

`tools.json` has its tools, read again at every list, so that a test can change them. `calls.log` has one line for its
start and one for each call. The name of a tool is its behavior: `echo`, `ask`, `die`, `slow`, `change`, `where`.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
USUAL = [{"name": name, "description": f"It is {name}.", "inputSchema": TEXT} for name in ("echo", "ask")]
GUIDE = {"uri": "docs://guide", "name": "guide", "description": "How it works.", "mimeType": "text/plain"}
PICTURE = {"uri": "docs://picture", "name": "picture", "mimeType": "image/png"}
REVIEW = {
    "name": "review",
    "description": "Review a change.",
    "arguments": [{"name": "language", "required": True}, {"name": "tone"}],
}
FORM = {
    "type": "object",
    "properties": {"colour": {"type": "string", "title": "Colour"}, "count": {"type": "integer"}},
    "required": ["colour"],
}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def note(line: str) -> None:
    with open(FOLDER / "calls.log", "a", encoding="utf-8") as log:
        log.write(line + "\n")


def answer(number: Any, text: str) -> None:
    send({"id": number, "result": {"content": [{"type": "text", "text": text}]}})


def tools() -> list[dict[str, Any]]:
    try:
        tools_read: list[dict[str, Any]] = json.loads((FOLDER / "tools.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return USUAL
    return [{"inputSchema": TEXT, **tool} for tool in tools_read]


HANGS: list[str] = []


def is_first_call(name: str) -> bool:
    return (FOLDER / "calls.log").read_text(encoding="utf-8").count(name) == 1


def call(number: Any, name: str, arguments: dict[str, Any]) -> None:
    note(f"{name} {json.dumps(arguments, sort_keys=True)}")
    if name == "ask":
        if arguments.get("text") == "late":
            time.sleep(0.6)
        if arguments.get("text") == "then hang":
            HANGS.append("from now on")
        form = FORM if arguments.get("text") != "yes or no" else {"type": "object", "properties": {}}
        params = {"message": "Which colour?", "requestedSchema": form}
        send({"id": f"ask-{number}", "method": "elicitation/create", "params": params})
    elif name == "die" or (name == "die_once" and is_first_call(name)):
        os._exit(3)
    elif name == "slow":
        time.sleep(float(arguments.get("text") or 60))
        answer(number, "slept")
    elif name == "change":
        send({"method": "notifications/tools/list_changed"})
        answer(number, "changed")
    elif name == "where":
        answer(number, os.getcwd())
    else:
        answer(number, str(arguments.get("text", "")))


def read(uri: str) -> dict[str, Any]:
    if uri == GUIDE["uri"]:
        return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": "Turn the wheel\u200b slowly."}]}
    return {"contents": [{"uri": uri, "mimeType": "image/png", "blob": "AAAA"}]}


def prompt(number: Any, params: dict[str, Any]) -> None:
    values = params.get("arguments") or {}
    if params["name"] != "review" or "language" not in values:
        send({"id": number, "error": {"code": -32602, "message": "no such prompt"}})
        return
    text = f"Review this change in {values['language']}."
    send({"id": number, "result": {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}})


def take_answer(number: str, result: str) -> None:
    note(f"answered {result}")
    if not HANGS:
        answer(int(number.removeprefix("ask-")), result)


def handle(message: dict[str, Any]) -> None:
    method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method == "initialize":
        offered = {"tools": {"listChanged": True}, "resources": {}, "prompts": {}}
        about = {"serverInfo": {"name": "docs", "version": "1"}, "capabilities": offered}
        send({"id": number, "result": {"protocolVersion": params["protocolVersion"], **about}})
    elif method == "tools/list":
        send({"id": number, "result": {"tools": tools()}})
    elif method == "tools/call":
        call(number, params["name"], params.get("arguments") or {})
    elif method == "resources/list":
        send({"id": number, "result": {"resources": [GUIDE, PICTURE]}})
    elif method == "resources/read":
        send({"id": number, "result": read(params["uri"])})
    elif method == "prompts/list":
        send({"id": number, "result": {"prompts": [REVIEW]}})
    elif method == "prompts/get":
        prompt(number, params)
    elif method is None:
        take_answer(str(number), json.dumps(message.get("result"), sort_keys=True))
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": "Method not found"}})


note("started")
for line in sys.stdin:
    handle(json.loads(line))
