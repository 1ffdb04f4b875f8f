"""Slash commands about the context window: usage, contents, compression, pins, the model, the overview."""

from pilothouse.domain.budgets import Meter
from pilothouse.domain.codes import Code, Language
from pilothouse.domain.deception.hidden_characters import visible
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.messages import Text
from pilothouse.i18n import translate, ui_text
from pilothouse.runtime.compression.branch import Compression
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.foreign_text import quoted


async def compress(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/compress [preview | undo | WHAT TO KEEP]"""
    if rest == "undo":
        undone = await runtime.compression.undo(context_id)
        print(ui_text("terminal", "uncompressed", language, count=undone.messages))
    elif rest == "preview":
        print(_compression_line("would_compress", await runtime.compression.preview(context_id), language))
    else:
        await runtime.compression.preview(context_id)  # an impossible compression is refused before anything is printed
        print(ui_text("terminal", "compressing", language), flush=True)
        print(
            _compression_line(
                "compressed", await runtime.compression.compress(context_id, focus=rest or None), language
            )
        )


def _compression_line(key: str, compression: Compression, language: Language) -> str:
    text = ui_text(
        "terminal",
        key,
        language,
        count=compression.messages,
        before=compression.tokens_before,
        after=compression.tokens_after,
    )
    return text + (f" ({visible(translate(compression.why, language))})" if compression.why is not None else "")


async def suggest_compression(runtime: Runtime, context_id: str, language: Language) -> None:
    """Print the usage when compression is due and automatic compression is off."""
    if not runtime.window.auto_compresses:
        meter = await runtime.window.meter(context_id)
        if meter.tokens > meter.trigger:
            print(meter_line(meter, language))


async def tokens(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    """/tokens"""
    window = await runtime.window.read(context_id)
    print(meter_line(window.meter, language))
    for part in window.parts:
        print(f"  {part.tokens:>8}  {ui_text('terminal', f'part_{part.name}', language)}")


def meter_line(meter: Meter, language: Language) -> str:
    estimate_mark = "≈" if meter.is_estimate else ""
    used_percent = 100 * meter.tokens // max(1, meter.budget)
    trigger_percent = 100 * meter.trigger // max(1, meter.budget)
    key = "meter" if meter.auto_compress else "meter_manual"
    return ui_text(
        "terminal",
        key,
        language,
        tokens=f"{estimate_mark}{meter.tokens}",
        budget=meter.budget,
        share=used_percent,
        at=trigger_percent,
    )


async def pin(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/pin [off]: exempt your last message from compression"""
    if rest not in ("", "off"):
        raise InvalidInput(Code.COMMAND_USAGE, usage="/pin [off]")
    recent = await runtime.messages.read(context_id, limit=200)
    user_messages = [message for message in recent if isinstance(message, Text) and message.role == "user"]
    if not user_messages:
        raise InvalidInput(Code.EMPTY_MESSAGE)
    await runtime.compression.pin(context_id, user_messages[-1].id, pinned=rest != "off")
    pins = (await runtime.contexts.get(context_id)).core.pins
    print(ui_text("terminal", "pinned", language, count=len(pins)))


async def model(runtime: Runtime, context_id: str, name: str, language: Language) -> None:
    """/model [NAME | none]"""
    if name:
        await runtime.contexts.change(context_id, model=name if name != "none" else None)
    present, names = await runtime.contexts.model(context_id), ", ".join(runtime.providers.models)
    print(quoted(ui_text("terminal", "model", language, name=present, allowed=names)))


async def overview(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    """/overview"""
    message_id = await runtime.workspaces.add_overview(context_id)
    (message,) = await runtime.messages.read(context_id, ids=[message_id])
    print(quoted(getattr(message, "content", "")))
    print(ui_text("terminal", "overview_added", language))
