"""`pilothouse contexts`: the conversations that are kept, as things."""

import argparse

from pilothouse.domain.codes import Code, Language, say
from pilothouse.domain.hidden_characters import visible
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.keeping import print_left_out, write_export
from pilothouse.terminal.words import tell


async def contexts_command(options: argparse.Namespace, runtime: Runtime, language: Language) -> int:
    """Raises: PilothouseError, OSError."""
    match options.action:
        case "export":
            size = await write_export(runtime, options.id, options.file)
            print(visible(tell("exported", language, file=options.file, size=size)))
            await print_left_out(runtime, options.id, language)
        case "import":
            await _import(options, runtime, language)
        case "archive" | "restore":
            await runtime.archive(options.id, archived=options.action == "archive")
            print(visible(tell("done", language, what=f"{options.action} {options.id}")))
        case "delete":
            await runtime.delete_context(options.id)
            print(visible(tell("done", language, what=f"delete {options.id}")))
        case _:
            await _list(runtime, language, archived=options.archived)
    return 0


async def _import(options: argparse.Namespace, runtime: Runtime, language: Language) -> None:
    told = await runtime.import_context(
        options.file.read_bytes(), context_id=options.new_id, workspace=options.workspace, grants=options.with_grants
    )
    print(visible(tell("imported", language, context_id=told.context_id)))
    for reason in told.left_out:
        text = say(reason, language)
        print(visible(text if reason.code is Code.UPLOAD_LEFT_OUT else tell("left_out", language, what=text)))


async def _list(runtime: Runtime, language: Language, *, archived: bool) -> None:
    cursor = None
    while True:
        page = await runtime.contexts(archived=archived, cursor=cursor)
        if not page.items and cursor is None:
            print(tell("no_contexts", language))
        for summary in page.items:
            told = say(summary.damage, language) if summary.damage is not None else summary.title or ""
            print(visible(f"{summary.context_id}  {summary.updated_at:<24}  {summary.mode or '-':<10}  {told}"))
        if page.next is None:
            return
        cursor = page.next
