"""What there is: modes, personas, models, tools; and how the server is."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from starlette.responses import Response

from pilothouse import __version__
from pilothouse.domain.calls import Effect, display_name
from pilothouse.domain.codes import Code, Language, Reason, say
from pilothouse.domain.modes import Mode
from pilothouse.domain.personas import Persona
from pilothouse.domain.promise_words import say_means, say_promise
from pilothouse.domain.promises import Kernel, SandboxPromise
from pilothouse.domain.shapes import Page
from pilothouse.domain.states import WaitingForRecovery
from pilothouse.domain.store_health import MIN_FREE_BYTES, StoreHealth
from pilothouse.domain.users import LOCAL
from pilothouse.domain.values import Timestamp, Value
from pilothouse.runtime.catalogue import first_mode_in
from pilothouse.server.inputs import Id
from pilothouse.server.serving import Call


class ModeShape(Value, kw_only=True, omit_defaults=False):
    """`title` and `meaning` are in the reader's language."""

    name: str
    title: str
    icon: str
    meaning: str
    aliases: tuple[str, ...]
    elevates: bool
    is_default: bool
    """Whether a conversation begins in it for which no mode, no workspace and no persona is named."""


class ToolPolicyShape(Value, kw_only=True, omit_defaults=False):
    """What is denied wins. Where anything is allowed, the rest is not."""

    allowed: tuple[str, ...]
    denied: tuple[str, ...]
    allowed_categories: tuple[str, ...]
    denied_categories: tuple[str, ...]


class PersonaShape(Value, kw_only=True, omit_defaults=False):
    """`hidden` marks one of the folder that cannot be chosen, because one of the person's own has the same id."""

    id: str
    name: str
    role: str
    identity: str
    communication_style: str
    principles: tuple[str, ...]
    prompt: str
    model: str | None
    default_mode: str | None
    tools: ToolPolicyShape
    origin: Literal["user", "project"]
    hidden: bool


class PersonaQuery(Value):
    """`context_id` asks for those that can be chosen there; without it, for those of a new context."""

    context_id: Id | None = None


class ModelShape(Value, kw_only=True, omit_defaults=False):
    """`is_demo` is the one that needs no key and only shows how things work. What is not known is null: how many tokens
    may be sent, how it counts them (then they are estimated), what a million of them cost."""

    name: str
    is_default: bool
    is_demo: bool
    window: int | None
    vision: bool
    tokenizer: str | None
    input_price: float | None
    output_price: float | None


class ToolShape(Value, kw_only=True, omit_defaults=False):
    name: str
    display_name: str
    description: str
    category: str
    effect: Effect
    enabled: bool
    parameters: Mapping[str, Any]


class HealthProblem(Value, kw_only=True, omit_defaults=False):
    code: Code
    severity: Literal["error", "warning"]
    """An error stops work that has to be saved; a warning does not."""
    detail: str
    """What is wrong and what to do, in the reader's language."""
    since: Timestamp | None = None


class SandboxPromiseView(Value, kw_only=True, omit_defaults=False):
    name: SandboxPromise
    kept: bool
    detail: str
    """What is promised, in the reader's language."""
    means: str
    """What keeps it here; where nothing does, what would."""


class Health(Value, kw_only=True, omit_defaults=False):
    status: Literal["ok", "warning", "failing", "stopping"]
    """The worst of `problems`, unless the server is stopping."""
    version: str
    user: str
    contexts_in_memory: int
    turns_open: int
    contexts_waiting: int
    """Contexts that wait for recovery: the store has refused what they have to save."""
    sandbox: bool
    """Whether the kernel keeps every promise about commands that run only because they read. Where not, only a strict
    list of them runs by itself."""
    promises: tuple[SandboxPromiseView, ...]
    """Each promise, and whether it is kept here."""
    problems: tuple[HealthProblem, ...]
    warnings: tuple[str, ...]
    """What of the configuration has no effect, in the reader's language; told to the user of the machine alone."""


async def modes(call: Call) -> Page[ModeShape]:
    preferences = (await call.serving.sessions.get(call.user)).preferences
    usual = (preferences.default_mode, call.serving.mode)
    default = first_mode_in(call.runtime.parts, str(call.serving.workspace(None, call.user)), usual)
    return Page(tuple(_mode(mode, call, default) for mode in call.runtime.parts.modes.all.values()))


def _mode(mode: Mode, call: Call, default: Mode) -> ModeShape:
    in_chinese = call.language == "zh"
    return ModeShape(
        name=mode.name,
        title=mode.title_zh if in_chinese else mode.title,
        icon=mode.icon,
        meaning=mode.meaning_zh if in_chinese else mode.meaning,
        aliases=mode.aliases,
        elevates=mode.elevates,
        is_default=mode.name == default.name,
    )


async def personas(call: Call, query: PersonaQuery) -> Page[PersonaShape]:
    if query.context_id is not None:
        workspace = (await call.own(query.context_id)).core.workspace
    else:
        workspace = str(call.serving.workspace(None, call.user))
    found = call.runtime.parts.personas(workspace)
    shown = [*((persona, False) for persona in found.values()), *((persona, True) for persona in found.hidden)]
    return Page(tuple(_persona(persona, hidden) for persona, hidden in shown))


def _persona(persona: Persona, hidden: bool) -> PersonaShape:
    fields = msgspec.structs.asdict(persona)
    tools = {name: tuple(sorted(value)) for name, value in msgspec.structs.asdict(persona.tools).items()}
    return PersonaShape(**{**fields, "tools": ToolPolicyShape(**tools), "hidden": hidden})


async def models(call: Call) -> Page[ModelShape]:
    return Page(
        tuple(_model(name, call) for name in dict.fromkeys((call.runtime.parts.model, *call.runtime.parts.models)))
    )


def _model(name: str, call: Call) -> ModelShape:
    parts = call.runtime.parts
    facts = parts.catalogue.facts(name)
    return ModelShape(
        name=name,
        is_default=name == parts.model,
        is_demo=parts.is_demo,
        window=facts.window,
        vision=facts.vision,
        tokenizer=facts.tokenizer,
        input_price=facts.price.input if facts.price is not None else None,
        output_price=facts.price.output if facts.price is not None else None,
    )


async def tools(call: Call) -> Page[ToolShape]:
    registry = call.runtime.parts.registry
    known = await call.runtime.known_tools(user=call.user)
    off = await call.runtime.tools_off(user=call.user)
    return Page(
        tuple(
            ToolShape(
                name=tool.name,
                display_name=display_name(tool.name),
                description=tool.description,
                category=tool.category,
                effect=tool.effect,
                enabled=tool.name not in off,
                parameters=registry.offer(tool).parameters,
            )
            for tool in known.values()
        )
    )


class ToolSwitch(Value):
    enabled: bool


async def switch_tool(call: Call, name: str, body: ToolSwitch) -> ToolShape:
    await call.runtime.switch_tool(name, body.enabled, user=call.user)
    return next(shape for shape in (await tools(call)).items if shape.name == name)


async def health(call: Call) -> Health:
    problems = _problems(await call.runtime.parts.store.health(), call.language)
    worst = {problem.severity for problem in problems}
    status: Literal["ok", "warning", "failing"] = (
        "failing" if "error" in worst else "warning" if "warning" in worst else "ok"
    )
    # The user of the machine sees how the whole server is; others see their own part of it.
    lives = [live for live in call.runtime.in_memory() if call.user in (LOCAL, live.core.owner)]
    return Health(
        status="stopping" if call.serving.stopping.is_set() else status,
        version=__version__,
        user=call.user,
        contexts_in_memory=len(lives),
        turns_open=sum(live.task is not None for live in lives),
        contexts_waiting=sum(isinstance(live.state, WaitingForRecovery) for live in lives),
        sandbox=call.runtime.kernel.is_complete,
        promises=_promises(call.runtime.kernel, call.language),
        problems=problems,
        warnings=tuple(say(each, call.language) for each in call.serving.warnings) if call.user == LOCAL else (),
    )


def _promises(kernel: Kernel, language: Language) -> tuple[SandboxPromiseView, ...]:
    return tuple(
        SandboxPromiseView(
            name=promise,
            kept=kernel.means_for(promise) is not None,
            detail=say_promise(promise, language),
            means=say_means(promise, kernel, language),
        )
        for promise in SandboxPromise
    )


def _problems(store: StoreHealth, language: Language) -> tuple[HealthProblem, ...]:
    found = []
    if store.refusal is not None:
        reason = store.refusal.reason
        detail = say(reason, language)
        found.append(HealthProblem(code=reason.code, severity="error", detail=detail, since=store.refusal.since))
    if store.free_bytes is not None and store.free_bytes < MIN_FREE_BYTES:
        low = Reason(Code.DISK_SPACE_LOW, {"free_mb": store.free_bytes // 1024 // 1024, "path": store.path})
        found.append(HealthProblem(code=low.code, severity="warning", detail=say(low, language)))
    return tuple(found)


async def metrics(call: Call) -> Response:
    text = call.serving.counts.text(contexts=len(call.runtime.in_memory()), turns=_turns(call))
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _turns(call: Call) -> int:
    return sum(live.task is not None for live in call.runtime.in_memory())
