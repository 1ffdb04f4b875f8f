"""`pilothouse contexts`: list, export, import, archive and delete saved conversations."""

import argparse

from pilothouse.domain.codes import Code, Language
from pilothouse.domain.deception.hidden_characters import visible
from pilothouse.i18n import translate, ui_text
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.conversation_commands import print_export_omissions, write_export


async def contexts_command(options: argparse.Namespace, runtime: Runtime, language: Language) -> int:
    """Run an action on saved conversations. Raises: PilothouseError, OSError."""
    match options.action:
        case "export":
            size = await write_export(runtime, options.id, options.file, include_system_prompt=options.system_prompt)
            print(visible(ui_text("terminal", "exported", language, file=options.file, size=size)))
            await print_export_omissions(runtime, options.id, language)
        case "import":
            await _import(options, runtime, language)
        case "archive" | "restore":
            is_archive = options.action == "archive"
            await runtime.contexts.change(options.id, archived=is_archive)
            text = "archived" if is_archive else "unarchived"
            print(visible(ui_text("terminal", text, language, context_id=options.id)))
        case "delete":
            await runtime.contexts.delete(options.id)
            print(visible(ui_text("terminal", "deleted", language, context_id=options.id)))
        case _:
            await _list(runtime, language, archived=options.archived)
    return 0


async def _import(options: argparse.Namespace, runtime: Runtime, language: Language) -> None:
    imported = await runtime.imports.create(
        options.file.read_bytes(), context_id=options.new_id, workspace=options.workspace, grants=options.with_grants
    )
    print(visible(ui_text("terminal", "imported", language, context_id=imported.context_id)))
    for reason in imported.left_out:
        text = translate(reason, language)
        if reason.code is not Code.UPLOAD_LEFT_OUT:
            text = ui_text("terminal", "left_out", language, what=text)
        print(visible(text))


async def _list(runtime: Runtime, language: Language, *, archived: bool) -> None:
    cursor = None
    while True:
        page = await runtime.contexts.list(archived=archived, cursor=cursor)
        if not page.items and cursor is None:
            print(ui_text("terminal", "no_contexts", language))
        for summary in page.items:
            title = translate(summary.damage, language) if summary.damage is not None else summary.title or ""
            print(visible(f"{summary.context_id}  {summary.updated_at:<24}  {summary.mode or '-':<10}  {title}"))
        if page.next is None:
            return
        cursor = page.next
