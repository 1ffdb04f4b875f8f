"""Slash commands about the window: how full it is, what it holds, compressing, pins, the model, the overview."""

from pilothouse.domain.budgets import Meter
from pilothouse.domain.codes import Code, Language, say
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.hidden_characters import visible
from pilothouse.domain.messages import Text
from pilothouse.runtime.compressing import Compression
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.foreign_text import quoted
from pilothouse.terminal.words import tell


async def compress(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/compress [preview | undo | WHAT TO KEEP]"""
    if rest == "undo":
        undone = await runtime.undo_compression(context_id)
        print(tell("uncompressed", language, count=undone.messages))
    elif rest == "preview":
        print(_told("would_compress", await runtime.preview_compression(context_id), language))
    else:
        await runtime.preview_compression(context_id)  # what cannot be done is said before anything else
        print(tell("compressing", language), flush=True)
        print(_told("compressed", await runtime.compress(context_id, focus=rest or None), language))


def _told(key: str, done: Compression, language: Language) -> str:
    told = tell(key, language, count=done.messages, before=done.tokens_before, after=done.tokens_after)
    return told + (f" ({visible(say(done.why, language))})" if done.why is not None else "")


async def suggest_compression(runtime: Runtime, context_id: str, language: Language) -> None:
    """Where it does not come by itself, and it is time."""
    if not runtime.parts.budget.auto_compress:
        meter = await runtime.meter(context_id)
        if meter.tokens > meter.trigger:
            print(meter_line(meter, language))


async def tokens(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    """/tokens"""
    window = await runtime.read_window(context_id)
    print(meter_line(window.meter, language))
    for part in window.parts:
        print(f"  {part.tokens:>8}  {tell(f'part_{part.name}', language)}")


def meter_line(meter: Meter, language: Language) -> str:
    about = "≈" if meter.is_estimate else ""
    share = 100 * meter.tokens // max(1, meter.budget)
    at = 100 * meter.trigger // max(1, meter.budget)
    key = "meter" if meter.auto_compress else "meter_manual"
    return tell(key, language, tokens=f"{about}{meter.tokens}", budget=meter.budget, share=share, at=at)


async def pin(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/pin [off]: what you said last stays whatever is compressed"""
    if rest not in ("", "off"):
        raise InvalidInput(Code.COMMAND_USAGE, usage="/pin [off]")
    recent = await runtime.read_messages(context_id, limit=200)
    own = [message for message in recent if isinstance(message, Text) and message.role == "user"]
    if not own:
        raise InvalidInput(Code.EMPTY_MESSAGE)
    await runtime.pin(context_id, own[-1].id, pinned=rest != "off")
    pins = (await runtime.context(context_id)).core.pins
    print(tell("pinned", language, count=len(pins)))


async def model(runtime: Runtime, context_id: str, name: str, language: Language) -> None:
    """/model [NAME | none]"""
    if name:
        await runtime.change_context(context_id, model=name if name != "none" else None)
    live = await runtime.context(context_id)
    others = ", ".join(dict.fromkeys((runtime.parts.model, *runtime.parts.models)))
    print(quoted(tell("model", language, name=live.model, allowed=others)))


async def overview(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    """/overview"""
    message_id = await runtime.add_overview(context_id)
    (message,) = await runtime.read_messages(context_id, ids=[message_id])
    print(quoted(getattr(message, "content", "")))
    print(tell("overview_told", language))
