"""The checker of the wire form: every rule, by a good body and one that breaks just that rule."""

import base64
import copy
import json
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilothouse.llm.script import Answer, Script
from pilothouse.testing.provider import FakeProvider
from pilothouse.testing.wire import WireFault, check, faults
from tests.llm.wire_oracle import is_broken

PNG = base64.b64encode(b"\x89PNG").decode()

Body = dict[str, Any]
Break = Callable[[Body], object]


def call(call_id: str, name: str = "look", arguments: str = "{}") -> Body:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(call_id: str) -> Body:
    return {"role": "tool", "tool_call_id": call_id, "content": ""}


def tool(name: str) -> Body:
    several = {"type": "array", "items": {"type": "string"}}
    schema = {"type": "object", "properties": {"a": several}, "required": ["a"]}
    return {"type": "function", "function": {"name": name, "description": "d", "parameters": schema}}


def good() -> Body:
    """A request body with every allowed element once."""
    return {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": None, "tool_calls": [call("a"), call("b", arguments='{"x": [1]}')]},
            result("b"),
            result("a"),
            {"role": "assistant", "content": "well"},
            {"role": "assistant", "content": "more", "tool_calls": [call("c")]},
            result("c"),
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look"},
                    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}},
                    {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
                ],
            },
        ],
        "tools": [tool("look"), tool("change")],
    }


def message(at: int, **changes: Any) -> Break:
    return lambda body: body["messages"][at].update(changes)


def without(at: int, key: str) -> Break:
    return lambda body: body["messages"][at].pop(key)


def function(**changes: Any) -> Break:
    return lambda body: body["messages"][2]["tool_calls"][0]["function"].update(changes)


def first_call(**changes: Any) -> Break:
    return lambda body: body["messages"][2]["tool_calls"][0].update(changes)


def part(at: int, **changes: Any) -> Break:
    return lambda body: body["messages"][8]["content"][at].update(changes)


def url(value: Any) -> Break:
    return part(1, image_url={"url": value})


def offered(**changes: Any) -> Break:
    return lambda body: body["tools"][0]["function"].update(changes)


def schema(**changes: Any) -> Break:
    return lambda body: body["tools"][0]["function"]["parameters"].update(changes)


def top(**changes: Any) -> Break:
    return lambda body: body.update(changes)


BREAKS: dict[str, tuple[Break, str]] = {
    "no model": (lambda body: body.pop("model"), "model:"),
    "an empty model": (top(model=""), "model:"),
    "a model that is no text": (top(model=1), "model:"),
    "an unknown key": (top(modell="m"), "body: 'modell'"),
    "stream in words": (top(stream="true", stream_options=None), "stream:"),
    "options of no stream": (top(stream=False), "stream_options:"),
    "options that are a list": (top(stream_options=[]), "stream_options:"),
    "an unknown option": (top(stream_options={"usage": True}), "stream_options: 'usage'"),
    "usage in words": (top(stream_options={"include_usage": "yes"}), "stream_options.include_usage:"),
    "no messages": (lambda body: body.pop("messages"), "messages:"),
    "empty messages": (top(messages=[]), "messages:"),
    "messages in an object": (top(messages={"role": "user"}), "messages:"),
    "only a system message": (top(messages=[{"role": "system", "content": "s"}]), "messages: there is none after"),
    "too many messages": (
        lambda body: body["messages"].extend([body["messages"][1]] * 2048),
        "messages: there are 2057",
    ),
    "a message that is a text": (lambda body: body["messages"].insert(1, "hello"), "messages[1]: is no message"),
    "an unknown role": (message(5, role="developer"), "messages[5]: is no message"),
    "a role that is a list": (message(5, role=["user"]), "messages[5]: is no message"),
    "a key of no role": (message(1, name="me"), "messages[1]: 'name'"),
    "a key of another role": (message(1, tool_call_id="a"), "messages[1]: 'tool_call_id'"),
    "no system message": (lambda body: body["messages"].pop(0), "messages[0]: is not the system"),
    "two system messages": (message(5, role="system"), "messages[5]: is a system message"),
    "an assistant at the end": (lambda body: body["messages"].append(body["messages"][5]), "messages[9]: is the last"),
    "no content": (without(1, "content"), "messages[1]: has no content"),
    "an empty system message": (message(0, content=""), "messages[0].content:"),
    "an empty user": (message(1, content=""), "messages[1].content:"),
    "a blank user": (message(1, content=" \n"), "messages[1].content:"),
    "a null user": (message(1, content=None), "messages[1].content:"),
    "an empty assistant": (message(5, content=""), "messages[5].content:"),
    "a null assistant without calls": (message(5, content=None), "messages[5].content:"),
    "an empty assistant with calls": (message(2, content=""), "messages[2].content:"),
    "an assistant in parts": (message(5, content=[{"type": "text", "text": "x"}]), "messages[5].content:"),
    "a null result": (message(3, content=None), "messages[3].content:"),
    "a result that is an object": (message(3, content={}), "messages[3].content:"),
    "no parts": (message(8, content=[]), "messages[8].content:"),
    "a part that is a text": (message(8, content=["x"]), "messages[8].content[0]:"),
    "an unknown part": (message(8, content=[{"type": "video", "video": "x"}]), "messages[8].content[0]:"),
    "an empty text part": (part(0, text=""), "messages[8].content[0].text:"),
    "an unknown key of a part": (part(0, cache=True), "messages[8].content[0]: 'cache'"),
    "an image that is its url": (part(1, image_url="https://example.org"), "messages[8].content[1].image_url:"),
    "an image without url": (part(1, image_url={"detail": "low"}), "messages[8].content[1].image_url.url:"),
    "an unknown detail": (part(2, image_url={"url": "http://a/b", "detail": "max"}), "content[2].image_url.detail:"),
    "an unknown key of an image": (part(2, image_url={"url": "http://a/b", "size": 1}), "content[2].image_url: 'size'"),
    "an image from a file": (url("file:///a.png"), "messages[8].content[1].image_url.url:"),
    "an image of a bad kind": (url(f"data:image/tiff;base64,{PNG}"), "messages[8].content[1].image_url.url:"),
    "an image of bad base64": (url("data:image/png;base64,a"), "messages[8].content[1].image_url.url:"),
    "an image of nothing": (url("data:image/png;base64,"), "messages[8].content[1].image_url.url:"),
    "an image with blanks": (url(f"data:image/png;base64,{PNG}\n"), "messages[8].content[1].image_url.url:"),
    "an image that is not base64": (url(f"data:image/png,{PNG}"), "messages[8].content[1].image_url.url:"),
    "no calls": (message(5, tool_calls=[]), "messages[5].tool_calls:"),
    "null calls": (message(5, tool_calls=None), "messages[5].tool_calls:"),
    "a call that is a text": (lambda body: body["messages"][2]["tool_calls"].append("x"), "messages[2].tool_calls[2]:"),
    "a call without function": (first_call(function=None), "messages[2].tool_calls[0]:"),
    "a call without type": (first_call(type=None), "messages[2].tool_calls[0].type:"),
    "a call with an index": (first_call(index=0), "messages[2].tool_calls[0]: 'index'"),
    "an unknown key of a function": (function(strict=True), "messages[2].tool_calls[0].function: 'strict'"),
    "an empty id": (lambda body: _rename(body, ""), "messages[2].tool_calls[0].id:"),
    "a long id": (lambda body: _rename(body, "i" * 65), "messages[2].tool_calls[0].id:"),
    "an id that is a number": (lambda body: _rename(body, 7), "messages[2].tool_calls[0].id:"),
    "two calls of one id": (lambda body: _use_twice(body, 2, 4), "messages[2].tool_calls: the id 'b'"),
    "an id used before": (lambda body: _use_twice(body, 6, 7), "messages[6].tool_calls: the id 'b'"),
    "an empty name": (function(name=""), "messages[2].tool_calls[0].function.name:"),
    "a long name": (function(name="n" * 65), "messages[2].tool_calls[0].function.name:"),
    "a name with a dot": (function(name="a.b"), "messages[2].tool_calls[0].function.name:"),
    "a name that ends its line": (function(name="a\n"), "messages[2].tool_calls[0].function.name:"),
    "a Chinese name": (function(name="看"), "messages[2].tool_calls[0].function.name:"),
    "arguments as an object": (function(arguments={}), "messages[2].tool_calls[0].function.arguments:"),
    "empty arguments": (function(arguments=""), "messages[2].tool_calls[0].function.arguments:"),
    "arguments that are no JSON": (function(arguments='{"a": '), "messages[2].tool_calls[0].function.arguments:"),
    "arguments that are a list": (function(arguments="[]"), "messages[2].tool_calls[0].function.arguments:"),
    "arguments with NaN": (function(arguments='{"a": NaN}'), "messages[2].tool_calls[0].function.arguments:"),
    "arguments without end": (function(arguments="[" * 100_000), "messages[2].tool_calls[0].function.arguments:"),
    "a call without result": (lambda body: body["messages"].pop(4), "messages[4]: stands where the results of 'a'"),
    "a result too late": (lambda body: _swap(body, 4, 5), "messages[4]: stands where"),
    "a result twice": (lambda body: body["messages"].insert(4, result("b")), "messages[4]: is the result of no call"),
    "a result of nothing": (lambda body: body["messages"].insert(2, result("z")), "messages[2]: is the result of no"),
    "a last call without result": (lambda body: _end_at(body, 7), "messages: end without the results of 'c'"),
    "null tools": (top(tools=None), "tools:"),
    "empty tools": (top(tools=[]), "tools:"),
    "history with calls and no tools": (lambda body: body.pop("tools"), "tools: are missing"),
    "too many tools": (top(tools=[tool(f"t{number}") for number in range(129)]), "tools: there are 129"),
    "a tool without its type": (lambda body: body["tools"][0].pop("type"), "tools[0]:"),
    "a bare function": (lambda body: body["tools"].insert(0, body["tools"][0]["function"]), "tools[0]:"),
    "two tools of one name": (offered(name="change"), "tools[1].function.name: 'change'"),
    "a tool with a bad name": (offered(name="docs/look"), "tools[0].function.name:"),
    "a long description": (offered(description="d" * 1025), "tools[0].function.description:"),
    "a null description": (offered(description=None), "tools[0].function.description:"),
    "strict in words": (offered(strict="no"), "tools[0].function.strict:"),
    "an unknown key of a tool": (offered(title="x"), "tools[0].function: 'title'"),
    "no parameters": (lambda body: body["tools"][0]["function"].pop("parameters"), "tools[0].function.parameters:"),
    "parameters of type array": (schema(type="array"), "tools[0].function.parameters:"),
    "a choice at the top": (schema(anyOf=[{"required": ["a"]}]), "tools[0].function.parameters: has 'anyOf'"),
    "no properties": (schema(properties=None), "tools[0].function.parameters.properties:"),
    "an array without items": (
        schema(properties={"a": {"anyOf": [{"type": ["null", "array"]}]}}),
        "tools[0].function.parameters.properties.a.anyOf[0]: is an array",
    ),
    "a property that is a text": (schema(properties={"a": "string"}), "parameters.properties.a: is not a schema"),
    "required in words": (schema(required="a"), "tools[0].function.parameters.required:"),
    "half a surrogate pair": (message(1, content="a\ud800"), "messages[1].content: holds half"),
    "half a pair in a key": (schema(properties={"\udfff": {}}), "the key: holds half"),
    "not a number": (top(temperature=float("nan")), "temperature: nan"),
    "an endless number": (schema(properties={"a": {"maximum": float("inf")}}), "properties.a.maximum: inf"),
    "bytes": (top(user=b"me"), "user: a bytes"),
}


def _rename(body: Body, call_id: Any) -> None:
    first_call(id=call_id)(body)
    body["messages"][4]["tool_call_id"] = call_id


def _use_twice(body: Body, asks: int, answers: int) -> None:
    """The first call of a message gets the id "b" too, and its result stays in step."""
    body["messages"][asks]["tool_calls"][0]["id"] = "b"
    body["messages"][answers]["tool_call_id"] = "b"


def _swap(body: Body, one: int, other: int) -> None:
    messages = body["messages"]
    messages[one], messages[other] = messages[other], messages[one]


def _end_at(body: Body, end: int) -> None:
    del body["messages"][end:]


def test_a_good_body_has_no_fault() -> None:
    check(good())
    assert faults({"model": "m", "messages": good()["messages"][:2]}) == []


@pytest.mark.parametrize("name", BREAKS)
def test_a_body_that_breaks_a_rule_is_named_with_its_place(name: str) -> None:
    change, expected = BREAKS[name]
    body = good()
    change(body)
    problems = faults(body)
    assert any(expected in each for each in problems), problems
    with pytest.raises(WireFault, match=r"\w"):
        check(body)


# A bad id is bad in the call and in its result; a result out of place leaves its call without one.
SEVERAL = {"an empty id", "a long id", "an id that is a number", "a result too late", "a last call without result"}


@pytest.mark.parametrize("name", [name for name in BREAKS if name not in SEVERAL])
def test_one_broken_rule_is_reported_as_one_fault(name: str) -> None:
    body = good()
    BREAKS[name][0](body)
    assert len(faults(body)) == 1, faults(body)


mutations = st.tuples(
    st.sampled_from(["delete", "double", "swap", "move", "role", "content", "rename", "drop_call", "double_call"]),
    st.integers(0, 8),
    st.integers(0, 8),
)


def mutate(body: Body, kind: str, one: int, other: int) -> None:
    messages = body["messages"]
    one, other = one % len(messages), other % len(messages)
    chosen = messages[one]
    if kind == "delete" and len(messages) > 1:
        del messages[one]
    elif kind == "double":
        messages.insert(other, copy.deepcopy(chosen))
    elif kind == "swap":
        messages[one], messages[other] = messages[other], chosen
    elif kind == "move":
        messages.insert(other, messages.pop(one))
    elif kind == "role":
        chosen["role"] = messages[other]["role"]
    elif kind == "content":
        chosen["content"] = messages[other].get("content")
    elif kind == "rename" and "tool_call_id" in chosen:
        chosen["tool_call_id"] = "abcz"[other % 4]
    elif kind == "drop_call" and chosen.get("tool_calls"):
        chosen["tool_calls"].pop(0)
    elif kind == "double_call" and chosen.get("tool_calls"):
        chosen["tool_calls"].append(copy.deepcopy(chosen["tool_calls"][0]))


@given(st.lists(mutations, max_size=4))
def test_the_checker_and_the_oracle_agree_on_every_mutated_body(steps: list[tuple[str, int, int]]) -> None:
    body = good()
    for kind, one, other in steps:
        mutate(body, kind, one, other)
    assert bool(faults(body)) == is_broken(body["messages"])


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["role", "content", "tool_calls", "id", "function", "type", "x"]), inner)
    ),
    max_leaves=12,
)


@given(st.data())
def test_the_checker_never_raises_and_its_words_can_be_sent(data: st.DataObject) -> None:
    assert all(each.encode() for each in faults(data.draw(anything)))
    body = good()
    for holder in (body, body["messages"][2], body["messages"][8], body["tools"][0]["function"]):
        holder[data.draw(st.sampled_from(sorted(holder)))] = data.draw(anything)
    assert all(each.encode() for each in faults(body))


async def post(provider: FakeProvider, body: Any) -> tuple[int, Any]:
    async with aiohttp.ClientSession() as session:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        async with session.post(provider.base_url + "/chat/completions", data=sent) as response:
            content = await response.read()
            return response.status, json.loads(content) if response.status == 400 else content


async def test_the_fake_provider_refuses_invalid_requests_and_raises_when_it_stops() -> None:
    provider = FakeProvider(Script(turn=(Answer(text="well"),)))
    await provider.start()
    status, reply = await post(provider, {**good(), "model": ""})
    assert (status, reply["error"]["type"]) == (400, "invalid_request_error")
    assert reply["error"]["message"] == "model: is not a non-empty string"
    assert (await post(provider, good()))[0] == 200
    assert (provider.requests, provider.faults) == ([good()], ["model: is not a non-empty string"])
    with pytest.raises(WireFault, match="model"):
        await provider.stop()


async def test_a_fake_provider_that_is_not_strict_refuses_without_raising() -> None:
    async with FakeProvider(Script(), strict=False) as provider:
        status, reply = await post(provider, b"{")
        assert (status, reply["error"]["message"][:5]) == (400, "body:")
        assert len(provider.faults) == 1
