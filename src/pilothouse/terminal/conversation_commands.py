"""Slash commands about the whole conversation: title, usage, export, archive."""

from pathlib import Path

from pilothouse.domain.codes import Language
from pilothouse.domain.deception.hidden_characters import visible
from pilothouse.domain.messages import Usage
from pilothouse.i18n import translate, ui_text
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.arguments import path_of
from pilothouse.terminal.foreign_text import quoted
from pilothouse.terminal.window_commands import meter_line

_PROMPT_OPTION = "--system-prompt"


async def title(runtime: Runtime, context_id: str, text: str, language: Language) -> None:
    """/title [TEXT]"""
    if text:
        await runtime.contexts.change(context_id, title=text)
    live = await runtime.contexts.get(context_id)
    print(quoted(ui_text("terminal", "title", language, title=live.core.title or "-")))


async def usage(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    """/usage"""
    totals = await runtime.contexts.usage(context_id)
    print(ui_text("terminal", "usage", language, **_usage_params(totals.total)))
    if totals.own != totals.total:
        print(ui_text("terminal", "usage_own", language, **_usage_params(totals.own)))
    print(meter_line(await runtime.window.meter(context_id), language))


def _usage_params(tokens: Usage) -> dict[str, object]:
    cost = "" if tokens.cost is None else f" · {tokens.cost:.4f}"
    return {"input": tokens.input_tokens, "output": tokens.output_tokens, "cost": cost}


async def export(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/export [--system-prompt] [FILE]"""
    word, _, name = rest.partition(" ")
    includes_prompt = word == _PROMPT_OPTION
    file = (name.strip() if includes_prompt else rest) or f"{context_id}.jsonl"
    try:
        size = await write_export(runtime, context_id, path_of(file), include_system_prompt=includes_prompt)
    except OSError as error:
        print(visible(ui_text("terminal", "not_written", language, file=file, detail=error.strerror)))
        return
    print(visible(ui_text("terminal", "exported", language, file=file, size=size)))
    await print_export_omissions(runtime, context_id, language)


async def print_export_omissions(runtime: Runtime, context_id: str, language: Language) -> None:
    for reason in await runtime.exports.left_out(context_id):
        print(visible(translate(reason, language)))


async def write_export(runtime: Runtime, context_id: str, path: Path, *, include_system_prompt: bool = False) -> int:
    """Export a conversation to a new file and return its size. After an error, the file is removed.

    Raises: FileExistsError, OSError, PilothouseError.
    """
    with path.open("xb") as file:
        try:
            async for chunk in runtime.exports.create(context_id, include_system_prompt=include_system_prompt):
                file.write(chunk)
        except BaseException:
            path.unlink()
            raise
        return file.tell()


async def archive(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    """/archive"""
    await runtime.contexts.change(context_id, archived=True)
    print(ui_text("terminal", "archived", language))
