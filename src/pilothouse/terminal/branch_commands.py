"""Slash commands about branches: show, switch, fork, delete, merge, edit and resend, prompt."""

from pilothouse.domain.codes import Code, Language
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.merges import Strategy
from pilothouse.domain.messages import Text
from pilothouse.i18n import ui_text
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.foreign_text import quoted

_STRATEGIES: tuple[Strategy, ...] = ("append", "rebase")


async def branch(runtime: Runtime, context_id: str, rest: str, _: Language) -> None:
    """/branch [NAME | delete NAME]"""
    word, __, name = rest.partition(" ")
    if word == "delete" and name:
        await runtime.branches.delete(context_id, name.strip())
    elif rest:
        await runtime.branches.switch(context_id, rest)
    live = await runtime.contexts.get(context_id)
    for each in live.branches.values():
        mark = "*" if each.name == live.core.active_branch else " "
        parent = f" ← {each.parent_branch}" if each.parent_branch is not None else ""
        merged = "".join(f" + {block.source} ({block.count})" for block in each.merged)
        original = f" = {each.original_of} ↺" if each.original_of is not None else ""
        print(quoted(f"  {mark} {each.name}{parent} ({each.length}){merged}{original}"))


async def fork(runtime: Runtime, context_id: str, name: str, language: Language) -> None:
    """/fork NAME"""
    await runtime.branches.create(context_id, name)
    is_resting = (await runtime.contexts.get(context_id)).core.turn is None
    await branch(runtime, context_id, name if is_resting else "", language)


async def merge(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/merge NAME [rebase] [preview]"""
    name, *words = rest.split() or [""]
    strategy: Strategy = "rebase" if "rebase" in words else "append"
    unknown = [word for word in words if word not in (*_STRATEGIES, "preview")]
    if unknown or not name:
        raise InvalidInput(Code.COMMAND_USAGE, usage="/merge BRANCH [append | rebase] [preview]")
    run_merge = runtime.merges.preview if "preview" in words else runtime.merges.merge
    plan = await run_merge(context_id, name, strategy=strategy)
    key = "would_merge" if "preview" in words else "merged"
    print(quoted(ui_text("terminal", key, language, source=plan.source, count=plan.merged)))
    for conflict in plan.conflicts:
        print(quoted(f"  ! {conflict.kind} {conflict.message_id}"))


async def edit(runtime: Runtime, context_id: str, text: str, language: Language) -> None:
    """/edit TEXT: send a new version of your last message on a new branch"""
    recent = await runtime.messages.read(context_id, limit=200)
    user_messages = [message for message in recent if isinstance(message, Text) and message.role == "user"]
    if not user_messages or not text:
        raise InvalidInput(Code.EMPTY_MESSAGE)
    await runtime.messages.edit(context_id, user_messages[-1].id, text)
    live = await runtime.contexts.get(context_id)
    print(quoted(ui_text("terminal", "active", language, name=live.core.active_branch)))


async def prompt(runtime: Runtime, context_id: str, text: str, language: Language) -> None:
    """/prompt [TEXT]: set the branch's addition to the system prompt, or remove it"""
    await runtime.branches.set_prompt_addition(context_id, text or None)
    print(ui_text("terminal", "prompt_set" if text else "prompt_gone", language))
