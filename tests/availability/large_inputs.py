"""Large inputs made from a JSON schema or from an example: a new tool or route is covered by itself."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.support.scale import LONG

SIZE = 900_000 if LONG else 100_000
MANY = 20_000 if LONG else 3_000

_TEXTS: Mapping[str, str] = {
    "long": "a" * SIZE,
    "wide": "é" * (SIZE // 2),
    "lines": "x\n" * (SIZE // 2),
    "stars": "*a" * 20_000,
    "braces": "{a,b}" * 8_000,
    "folders": "a/" * (SIZE // 2),
    "climbing": "../" * (SIZE // 3),
    # as long as is allowed, and costly to read
    "parentheses": "(" * 9_000 + "a" + ")" * 9_000,
    "short stars": "*a" * 490,
    "short braces": "{a,b,c}{a,b,c}{a,b,c}{a,b,c}{a,b,c}" + "*a" * 400,
    "wide classes": "(?i)" + "[a-\U0010ffff]" * (190 if LONG else 20),
    "repetitions": "(a{1,99}){1,99}" * 60,
    "commands": "cd a; " * 400 + "cat b c d e f; " * 90,
    "here documents": "cat <<E\nx\nE\n" * 1_500,
    "wrappers": "sudo env -i nice " * 1_100 + "x",
    "tests": "[[ a == b ]] && " * 1_200 + "x",
}

_SAMPLE = ("long", "wide", "braces", "folders", "short braces", "wide classes", "commands", "wrappers")
TEXTS = {shape: text for shape, text in _TEXTS.items() if LONG or shape in _SAMPLE}


def large_arguments(schema: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Arguments that fit a schema, each with one large member, and the name of that member."""
    definitions = schema.get("$defs", {})
    members: Mapping[str, Any] = schema.get("properties", {})
    needed = {name: _small(members[name], definitions) for name in schema.get("required", ())}
    for name, member in members.items():
        for kind in _kinds(member, definitions):
            if kind.get("type") == "string" and "enum" not in kind:
                yield from ((f"{name}: {shape}", {**needed, name: text}) for shape, text in TEXTS.items())
            elif kind.get("type") == "array":
                item = _small(kind.get("items", {}), definitions)
                yield f"{name}: many", {**needed, name: [item] * MANY}
                yield f"{name}: as many as may be", {**needed, name: [item] * min(MANY, kind.get("maxItems", MANY))}


def _kinds(member: Mapping[str, Any], definitions: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    if "$ref" in member:
        return _kinds(definitions[member["$ref"].rpartition("/")[2]], definitions)
    return [kind for each in member["anyOf"] for kind in _kinds(each, definitions)] if "anyOf" in member else [member]


def _small(member: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
    kind = _kinds(member, definitions)[0]
    if "enum" in kind:
        return kind["enum"][0]
    if kind.get("type") == "object":
        return {name: _small(kind["properties"][name], definitions) for name in kind.get("required", ())}
    return {"string": "a", "integer": 1, "number": 1, "boolean": False, "array": []}.get(kind.get("type", ""))


def large_bodies(example: Any) -> Iterator[tuple[str, Any]]:
    """The example of a request with one member of it large."""
    match example:
        case str():
            yield from ((shape, TEXTS[shape]) for shape in ("long", "wide", "braces", "folders"))
        case dict():
            for name, value in example.items():
                yield from ((f"{name}: {what}", {**example, name: large}) for what, large in large_bodies(value))
            yield "many members", {**example, **{f"member-{number}": number for number in range(MANY)}}
        case list() | tuple():
            yield "many items", [*example] * MANY
            if example:
                yield from ((f"item: {what}", [large]) for what, large in large_bodies(example[0]))
        case _:
            yield "deep", nested(400)


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value
