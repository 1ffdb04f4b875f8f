"""Rules: a person's own refinements of the mode."""

from typing import Annotated

from msgspec import Meta

from pilothouse.domain.rules import Rule, RuleEffect, Scope
from pilothouse.domain.shapes import Page
from pilothouse.domain.values import ContextId, Value
from pilothouse.server.inputs import Id
from pilothouse.server.serving import Call


class NewRule(Value, kw_only=True):
    """For one context, or for all of the user's; with `minutes`, until then."""

    effect: RuleEffect
    scope: Scope
    context_id: Id | None = None
    minutes: Annotated[float, Meta(gt=0)] | None = None


class RulesQuery(Value):
    """With a context: all that count in it now, the files' and its ancestors' too."""

    context_id: Id | None = None


async def read(call: Call, query: RulesQuery) -> Page[Rule]:
    return Page(tuple(await call.runtime.rules(await _own_id(call, query.context_id), user=call.user)))


async def give(call: Call, body: NewRule) -> Rule:
    context_id = await _own_id(call, body.context_id)
    return await call.runtime.give_rule(
        body.effect, body.scope, context_id=context_id, minutes=body.minutes, user=call.user, by=call.user
    )


async def revoke(call: Call, rule_id: str, query: RulesQuery) -> None:
    context_id = await _own_id(call, query.context_id)
    await call.runtime.revoke_rule(rule_id, context_id=context_id, user=call.user, by=call.user)


async def _own_id(call: Call, context_id: str | None) -> ContextId | None:
    return (await call.own(context_id)).id if context_id is not None else None
