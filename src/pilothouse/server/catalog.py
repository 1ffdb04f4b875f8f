"""The catalog routes: modes, personas, models and tools; the health and the metrics of the server."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from starlette.responses import Response

from pilothouse import __version__
from pilothouse.api.views import Page
from pilothouse.domain.calls import Effect, display_name
from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.modes import Mode
from pilothouse.domain.personas import Persona
from pilothouse.domain.promises import Kernel, SandboxPromise
from pilothouse.domain.states import WaitingForRecovery
from pilothouse.domain.store_health import MIN_FREE_BYTES, StoreHealth
from pilothouse.domain.users import LOCAL
from pilothouse.domain.value import Timestamp, Value
from pilothouse.i18n import mode_meaning, mode_title, translate, translate_means, translate_promise
from pilothouse.server.queries import Id
from pilothouse.server.rules_damage import rules_damage
from pilothouse.server.state import RequestContext


class ModeView(Value, kw_only=True, omit_defaults=False):
    name: str
    title: str
    """In the user's language, like `meaning`."""
    icon: str
    meaning: str
    aliases: tuple[str, ...]
    elevates: bool
    is_default: bool
    """Whether a conversation without a given mode, workspace and persona starts in this mode."""


class ToolPolicyView(Value, kw_only=True, omit_defaults=False):
    """Which tools a persona may use. Denials win; if anything is allowed, everything else is denied."""

    allowed: tuple[str, ...]
    denied: tuple[str, ...]
    allowed_categories: tuple[str, ...]
    denied_categories: tuple[str, ...]


class PersonaView(Value, kw_only=True, omit_defaults=False):
    id: str
    name: str
    role: str
    identity: str
    communication_style: str
    principles: tuple[str, ...]
    prompt: str
    model: str | None
    temperature: float | None
    max_output_tokens: int | None
    default_mode: str | None
    tools: ToolPolicyView
    origin: Literal["user", "project"]
    hidden: bool
    """Whether a persona of the user with the same id hides this persona of the folder: it cannot be selected."""


class PersonaQuery(Value):
    context_id: Id | None = None
    """The context in which the personas can be selected; a new one by default."""


class ModelView(Value, kw_only=True, omit_defaults=False):
    """A model. Unknown facts are null."""

    name: str
    is_default: bool
    is_demo: bool
    """Whether it is the built-in demo model, which needs no API key."""
    window: int | None
    """The size of the context window in tokens."""
    vision: bool
    tokenizer: str | None
    """Without a known tokenizer, tokens are estimated."""
    input_price: float | None
    """The price of a million input tokens."""
    output_price: float | None
    """The price of a million output tokens."""


class ToolView(Value, kw_only=True, omit_defaults=False):
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
    """With an error, turns cannot be saved; with a warning, they can."""
    detail: str
    """The problem and its solution, in the user's language."""
    since: Timestamp | None = None


class SandboxPromiseView(Value, kw_only=True, omit_defaults=False):
    name: SandboxPromise
    is_kept: bool = msgspec.field(name="kept")
    detail: str
    """The promise, in the user's language."""
    means: str
    """The kernel feature that keeps the promise on this machine; if there is none, the feature that would."""


class Health(Value, kw_only=True, omit_defaults=False):
    status: Literal["ok", "warning", "failing", "stopping"]
    """The worst of `problems`, unless the server is stopping."""
    version: str
    user: str
    contexts_in_memory: int
    turns_open: int
    contexts_waiting: int
    """Contexts that wait for recovery, because the store refused a write."""
    sandbox: bool
    """Whether the kernel keeps every promise about commands that run without approval because they only read. If not,
    only a short list of commands runs without approval."""
    promises: tuple[SandboxPromiseView, ...]
    problems: tuple[HealthProblem, ...]
    warnings: tuple[str, ...]
    """Configuration that has no effect, in the user's language; only for the local user."""


async def modes(request: RequestContext) -> Page[ModeView]:
    preferences = (await request.server.sessions.get(request.user)).preferences
    preferred_modes = (preferences.default_mode, request.server.mode)
    default = request.runtime.workspaces.first_mode(str(request.server.workspace(None, request.user)), preferred_modes)
    return Page(tuple(_mode_view(mode, request, default) for mode in request.runtime.modes.table.all.values()))


def _mode_view(mode: Mode, request: RequestContext, default: Mode) -> ModeView:
    return ModeView(
        name=mode.name,
        title=mode_title(mode, request.language),
        icon=mode.icon,
        meaning=mode_meaning(mode, request.language),
        aliases=mode.aliases,
        elevates=mode.elevates,
        is_default=mode.name == default.name,
    )


async def personas(request: RequestContext, query: PersonaQuery) -> Page[PersonaView]:
    if query.context_id is not None:
        workspace = (await request.own(query.context_id)).core.workspace
    else:
        workspace = str(request.server.workspace(None, request.user))
    personas = request.runtime.workspaces.personas(workspace)
    views = [_persona_view(persona, hidden=False) for persona in personas.values()]
    views += [_persona_view(persona, hidden=True) for persona in personas.hidden]
    return Page(tuple(views))


def _persona_view(persona: Persona, *, hidden: bool) -> PersonaView:
    fields = msgspec.structs.asdict(persona)
    fields.update(msgspec.structs.asdict(fields.pop("sampling")))
    tools = {name: tuple(sorted(value)) for name, value in msgspec.structs.asdict(persona.tools).items()}
    return PersonaView(**{**fields, "tools": ToolPolicyView(**tools), "hidden": hidden})


async def models(request: RequestContext) -> Page[ModelView]:
    return Page(tuple(_model_view(name, request) for name in request.runtime.providers.models))


def _model_view(name: str, request: RequestContext) -> ModelView:
    providers = request.runtime.providers
    facts = providers.facts(name)
    return ModelView(
        name=name,
        is_default=name == providers.models[0],
        is_demo=providers.current().is_demo,
        window=facts.window,
        vision=facts.vision,
        tokenizer=facts.tokenizer,
        input_price=facts.price.input if facts.price is not None else None,
        output_price=facts.price.output if facts.price is not None else None,
    )


async def tools(request: RequestContext) -> Page[ToolView]:
    all_tools = await request.runtime.tools.known(user=request.user)
    disabled = await request.runtime.tools.disabled(user=request.user)
    return Page(
        tuple(
            ToolView(
                name=tool.name,
                display_name=display_name(tool.name),
                description=tool.description,
                category=tool.category,
                effect=tool.effect,
                enabled=tool.name not in disabled,
                parameters=request.runtime.tools.describe(tool).parameters,
            )
            for tool in all_tools.values()
        )
    )


class ToolSwitch(Value):
    enabled: bool


async def switch_tool(request: RequestContext, name: str, body: ToolSwitch) -> ToolView:
    await request.runtime.tools.switch(name, body.enabled, user=request.user)
    return next(view for view in (await tools(request)).items if view.name == name)


async def health(request: RequestContext) -> Health:
    problems = (
        *_problems(await request.runtime.health(), request.language),
        *await _rules_problems(request),
    )
    severities = {problem.severity for problem in problems}
    status: Literal["ok", "warning", "failing"] = (
        "failing" if "error" in severities else "warning" if "warning" in severities else "ok"
    )
    # The local user sees the figures of the whole server; others see those of their own contexts.
    live_contexts = [live for live in request.runtime.contexts.in_memory() if request.user in (LOCAL, live.core.owner)]
    return Health(
        status="stopping" if request.server.stopping.is_set() else status,
        version=__version__,
        user=request.user,
        contexts_in_memory=len(live_contexts),
        turns_open=sum(live.is_driven for live in live_contexts),
        contexts_waiting=sum(isinstance(live.state, WaitingForRecovery) for live in live_contexts),
        sandbox=request.runtime.kernel.is_complete,
        promises=_promises(request.runtime.kernel, request.language),
        problems=problems,
        warnings=tuple(translate(each, request.language) for each in request.server.warnings)
        if request.user == LOCAL
        else (),
    )


def _promises(kernel: Kernel, language: Language) -> tuple[SandboxPromiseView, ...]:
    return tuple(
        SandboxPromiseView(
            name=promise,
            is_kept=kernel.means_for(promise) is not None,
            detail=translate_promise(promise, language),
            means=translate_means(promise, kernel, language),
        )
        for promise in SandboxPromise
    )


def _problems(store: StoreHealth, language: Language) -> tuple[HealthProblem, ...]:
    problems = []
    if store.refusal is not None:
        reason = store.refusal.reason
        detail = translate(reason, language)
        problems.append(HealthProblem(code=reason.code, severity="error", detail=detail, since=store.refusal.since))
    if store.free_bytes is not None and store.free_bytes < MIN_FREE_BYTES:
        reason = Reason(Code.DISK_SPACE_LOW, {"free_mb": store.free_bytes // 1024 // 1024, "path": store.path})
        problems.append(HealthProblem(code=reason.code, severity="warning", detail=translate(reason, language)))
    return tuple(problems)


async def _rules_problems(request: RequestContext) -> list[HealthProblem]:
    return [
        HealthProblem(
            code=damage.reason.code, severity="warning", detail=damage.text(request.language, reader=request.user)
        )
        for damage in await rules_damage(request.server, request.user)
    ]


async def alive(request: RequestContext) -> Response:  # noqa: ARG001
    return Response()


async def ready(request: RequestContext) -> Response:
    is_ready = not request.server.stopping.is_set() and await request.server.readiness.is_ready(request.runtime)
    return Response(status_code=200 if is_ready else 503)


async def metrics(request: RequestContext) -> Response:
    text = request.server.metrics.text(contexts=len(request.runtime.contexts.in_memory()), turns=_open_turns(request))
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _open_turns(request: RequestContext) -> int:
    return sum(live.is_driven for live in request.runtime.contexts.in_memory())
