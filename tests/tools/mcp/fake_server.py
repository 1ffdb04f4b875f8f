"""An MCP server without any SDK, so that it can misbehave: its first argument is the way it starts, and
each of its tools is one kind of failure."""

import json
import os
import signal
import sys
import threading
import time
from typing import Any

HOW = sys.argv[1] if len(sys.argv) > 1 else "healthy"
LOCK = threading.Lock()
RECEIVED: list[dict[str, Any]] = []
TOOLS = ["echo", "slow", "received", "environment", "die", "hang", "change", "elicit", "link", "parts", "structured"]
TOOLS += ["flood_stderr", "flood_notifications", "flood_requests", "long_line", "malformed", "invalid_utf8", "not_rpc"]
TOOLS += ["wrong_id", "twice", "daemon", "big", "bad_result", "fail", "refuse", "close_output", "deaf", "nested"]


def raw(data: bytes) -> None:
    with LOCK:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def send(message: dict[str, Any]) -> None:
    raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def notify(method: str, **params: Any) -> None:
    send({"method": method, "params": params})


def answer(number: Any, text: str) -> None:
    send({"id": number, "result": {"content": [{"type": "text", "text": text}]}})


def tool(name: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return {"name": name, "description": f"It is {name}.", "inputSchema": schema}


def listed(cursor: str | None) -> dict[str, Any]:
    if HOW == "endless_pages":
        return {"tools": [], "nextCursor": f"{int(cursor or 0) + 1}"}
    if HOW == "many_tools":
        start = int(cursor or 0)
        return {"tools": [tool(f"t{n}") for n in range(start, start + 100)], "nextCursor": str(start + 100)}
    if HOW == "odd_tools":
        large = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(5000)}}
        long = {**tool("long"), "description": "x" * 10_000, "annotations": {"readOnlyHint": True}}
        odd = [tool("with space"), tool("x" * 65), tool(""), {**tool("large"), "inputSchema": large}, tool("echo")]
        return {"tools": [tool("echo"), long, *odd]}
    return {"tools": [tool(name) for name in TOOLS]}


def elicit(number: Any, mode: str) -> None:
    schema = {"type": "object", "properties": {"colour": {"type": "string"}}}
    params: dict[str, Any] = {"message": f"Which colour for {number}?", "requestedSchema": schema}
    if mode == "url":
        params = {"mode": "url", "message": "Go there", "url": "http://127.0.0.1/", "elicitationId": "1"}
    send({"id": f"ask-{number}", "method": "elicitation/create", "params": params})


def flood(count: int) -> None:
    line = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}})
    for _ in range(count // 100):
        raw((line + "\n").encode() * 100)


def die(number: Any, arguments: dict[str, Any]) -> None:
    print("I die here", file=sys.stderr, flush=True)
    os._exit(3)


def slow(number: Any, arguments: dict[str, Any]) -> None:
    seconds = float(arguments.get("seconds", 0.2))
    threading.Timer(seconds, answer, (number, arguments.get("text", ""))).start()


def change(number: Any, arguments: dict[str, Any]) -> None:
    TOOLS.remove("link")
    TOOLS.append("renamed")
    for _ in range(int(arguments.get("times", 5))):
        notify("notifications/tools/list_changed")
    answer(number, "changed")


def daemon(number: Any, arguments: dict[str, Any]) -> None:
    """Start a daemon that leaves the process group and keeps the output open."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(300)
        os._exit(0)
    answer(number, "sent off")


def parts(number: Any, arguments: dict[str, Any]) -> None:
    blob = {"uri": "x://1", "mimeType": "application/pdf", "blob": "AAAAAAAA"}
    content = [
        {"type": "text", "text": "one"},
        {"type": "image", "mimeType": "image/png", "data": "AAAA"},
        {"type": "audio", "mimeType": "audio/wav", "data": "AAA="},
        {"type": "resource", "resource": {"uri": "x://2", "text": "inside"}},
        {"type": "resource", "resource": blob},
        {"type": "resource_link", "name": "n", "uri": "x://3"},
    ]
    send({"id": number, "result": {"content": content}})


def twice(number: Any, arguments: dict[str, Any]) -> None:
    answer(number, "first")
    answer(number, "second")


def many(line: bytes) -> None:
    for _ in range(100):
        raw(line + b"\n")


def deaf(number: Any, arguments: dict[str, Any]) -> None:
    answer(number, "I no longer listen")
    time.sleep(300)


def flood_requests(number: Any, arguments: dict[str, Any]) -> None:
    for n in range(1_000_000):
        send({"id": f"ping-{n}", "method": "ping"})


def long_line(number: Any, arguments: dict[str, Any]) -> None:
    for _ in range(200):
        raw(b"x" * 1024 * 1024)


def close_output(number: Any, arguments: dict[str, Any]) -> None:
    os.close(1)
    time.sleep(300)


DOES: dict[str, Any] = {
    "echo": lambda n, a: answer(n, a.get("text", "")),
    "received": lambda n, a: answer(n, json.dumps(RECEIVED)),
    "environment": lambda n, a: answer(n, json.dumps(dict(os.environ))),
    "hang": lambda n, a: None,
    "elicit": lambda n, a: elicit(n, a.get("mode", "form")),
    "flood_stderr": lambda n, a: [sys.stderr.write("e" * 1000 + "\n") for _ in range(10_000_000)],
    "flood_notifications": lambda n, a: flood(10_000_000),
    "malformed": lambda n, a: many(b'{"jsonrpc": "2.0", "id": '),
    "invalid_utf8": lambda n, a: many(
        b'{"jsonrpc": "2.0", "method": "notifications/message", "params": {"a": "\xff"}}'
    ),
    "not_rpc": lambda n, a: many(b'{"id": 7, "result": {}}'),
    "nested": lambda n, a: many(b'{"jsonrpc":"2.0","id":1,"result":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}"),
    "wrong_id": lambda n, a: answer(99_999, "for nobody"),
    "big": lambda n, a: answer(n, "x" * 50 * 1024 * 1024),
    "structured": lambda n, a: send({"id": n, "result": {"content": [], "structuredContent": {"a": 1}}}),
    "bad_result": lambda n, a: send({"id": n, "result": {"content": "no list"}}),
    "fail": lambda n, a: send({"id": n, "result": {"content": [{"type": "text", "text": "oh"}], "isError": True}}),
    "refuse": lambda n, a: send({"id": n, "error": {"code": -32602, "message": "I refuse"}}),
}
DOES |= {
    "close_output": close_output,
    "die": die,
    "slow": slow,
    "change": change,
    "daemon": daemon,
    "parts": parts,
    "twice": twice,
}
DOES |= {"deaf": deaf, "flood_requests": flood_requests, "long_line": long_line}


def revision(requested: str) -> str:
    return {"older": "2024-11-05", "unknown": "2099-01-01"}.get(HOW, requested)


def handle(message: dict[str, Any]) -> None:
    method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
    RECEIVED.append({"method": method, "params": params, "result": message.get("result")})
    if method == "initialize":
        if HOW == "silent":
            return
        info = {"name": "fake", "version": "1"}
        offered = {"tools": {"listChanged": True}}
        result = {"protocolVersion": revision(params["protocolVersion"]), "capabilities": offered, "serverInfo": info}
        send({"id": number, "result": result})
    elif method == "tools/list":
        send({"id": number, "result": listed(params.get("cursor"))})
    elif method == "tools/call":
        DOES.get(params["name"], lambda n, a: None)(number, params.get("arguments") or {})
    elif method is None and str(number).startswith("ask-"):
        call = str(number).removeprefix("ask-")
        answer(int(call), json.dumps(message.get("result")))
    elif number is not None and not (HOW in ("silent", "silent_probe") and method == "server/discover"):
        send({"id": number, "error": {"code": -32601, "message": "Method not found"}})


def main() -> None:
    if HOW == "dies":
        print("cannot start: no key", file=sys.stderr)
        sys.exit(4)
    if HOW == "chatty":
        print("Server is running", flush=True)
    if HOW == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin:
        handle(json.loads(line))
    while HOW == "stubborn":
        time.sleep(60)


main()
