"""The rule routes: list, add and revoke the rules of a user."""

from typing import Annotated

from msgspec import Meta

from pilothouse.api.views import Page
from pilothouse.domain.rules import Rule, RuleEffect, Scope
from pilothouse.domain.value import ContextId, Value
from pilothouse.server.queries import Id
from pilothouse.server.state import RequestContext


class NewRule(Value, kw_only=True):
    effect: RuleEffect
    scope: Scope
    context_id: Id | None = None
    """The only context in which the rule applies; all of the user's by default."""
    minutes: Annotated[float, Meta(gt=0)] | None = None
    """After how many minutes the rule expires; never by default."""


class RulesQuery(Value):
    context_id: Id | None = None
    """The context whose rules are listed, with those of configuration files and of ancestors; by default, the user's
    own rules."""


async def read(request: RequestContext, query: RulesQuery) -> Page[Rule]:
    return Page(tuple(await request.runtime.rules.read(await _own_id(request, query.context_id), user=request.user)))


async def give(request: RequestContext, body: NewRule) -> Rule:
    context_id = await _own_id(request, body.context_id)
    return await request.runtime.rules.give(
        body.effect, body.scope, context_id=context_id, minutes=body.minutes, user=request.user, by=request.user
    )


async def revoke(request: RequestContext, rule_id: str, query: RulesQuery) -> None:
    context_id = await _own_id(request, query.context_id)
    await request.runtime.rules.revoke(rule_id, context_id=context_id, user=request.user, by=request.user)


async def _own_id(request: RequestContext, context_id: str | None) -> ContextId | None:
    return (await request.own(context_id)).id if context_id is not None else None
