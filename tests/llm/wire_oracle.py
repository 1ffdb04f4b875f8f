"""A second check of the messages of a request, independent of the checker: one pattern over letters.

The oracle knows only the rules that the test's mutations can break, and shares no code with the checker.
"""

import re
from typing import Any

# S: system, U: user, A: assistant; an assistant with calls is (ids) and their results, sorted, <ids>.
_GOOD = re.compile(r"S(?:U|A|\((\w+)\)<\1>)*(?:U|\((\w+)\)<\2>)")
_KEYS = {"S": {"content"}, "U": {"content"}, "A": {"content"}, "(": {"content", "tool_calls"}}


def is_broken(messages: list[dict[str, Any]]) -> bool:
    text, used = "", ""
    results: list[str] = []
    for message in [*messages, {"role": "end"}]:
        if message["role"] == "tool":
            if message.keys() != {"role", "content", "tool_call_id"} or not isinstance(message["content"], str):
                return True
            results.append(message["tool_call_id"])
            continue
        text += f"<{''.join(sorted(results))}>" if results else ""
        results = []
        if message["role"] == "end":
            break
        letter = "(" if "tool_calls" in message else message["role"][0].upper()
        if message.keys() - {"role"} != _KEYS[letter] or (letter == "(" and message["role"] != "assistant"):
            return True
        if _is_bad_content(letter, message["content"]):
            return True
        if letter == "(":
            ids = "".join(sorted(call["id"] for call in message["tool_calls"]))
            used += ids
            letter = f"({ids})"
        text += letter
    return _GOOD.fullmatch(text) is None or len(set(used)) < len(used)


def _is_bad_content(letter: str, content: Any) -> bool:
    if content is None:
        return letter != "("
    return content == "" or (isinstance(content, list) and letter != "U")
