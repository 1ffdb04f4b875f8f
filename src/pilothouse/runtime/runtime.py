"""`Runtime`: every command that a client can give. Each command is defined in the module of its noun."""

from collections.abc import Iterable

from pilothouse.domain.audit import CheckedAudit
from pilothouse.domain.promises import Kernel
from pilothouse.runtime.commands import (
    branches,
    calls,
    context_export,
    context_import,
    files,
    merges,
    messages,
    modes,
    queue,
    rules,
    titles,
    tools,
    turns,
    uploads,
    workspaces,
)
from pilothouse.runtime.commands import (
    contexts as context_commands,
)
from pilothouse.runtime.commands import (
    providers as setup,
)
from pilothouse.runtime.commands.audit import read_audit
from pilothouse.runtime.compression import commands
from pilothouse.runtime.context import context_ids
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.events.hub import Subscription
from pilothouse.runtime.pool import ContextPool
from pilothouse.runtime.request import preview
from pilothouse.runtime.turn import subagents
from pilothouse.sandbox import confinement


class Runtime(ContextPool):
    """The runtime, built from `RuntimeDependencies`. Use it as an async context manager, or call `close`."""

    create_context = context_commands.create_context
    contexts = context_commands.list_contexts
    own_context = context_ids.own_context
    archive = context_commands.archive
    change_context = context_commands.change_context
    delete_context = context_commands.delete_context
    usage = context_commands.usage
    add_file = uploads.add_file
    copy_upload = uploads.copy_upload
    remove_upload = uploads.remove_upload
    set_title = titles.set_title
    export_context = context_export.export_context
    left_out_of_export = context_export.left_out_of_export
    export_markdown = context_export.export_markdown
    import_context = context_import.import_context

    send = messages.send
    edit_message = messages.edit_message
    read_messages = messages.read_messages
    read_ids = messages.read_ids
    read_content = messages.read_content

    queued = queue.queued
    edit_queued = queue.edit_queued
    delete_queued = queue.delete_queued
    take_queued = queue.take_queued

    cancel = turns.cancel
    pause = turns.pause
    resume = turns.resume
    continue_turn = turns.continue_turn
    retry_now = turns.retry_now

    decide = calls.decide
    preview_edit = calls.preview_edit
    approve_all = calls.approve_all
    reject_all = calls.reject_all
    pending_calls = calls.pending_calls
    open_questions = calls.open_questions
    call = calls.call
    read_calls = calls.read_calls
    records_of = calls.records_of
    answer = calls.answer
    decline = calls.decline

    switch_mode = modes.switch_mode
    would_start = modes.would_start
    set_policy = modes.set_policy
    set_persona = modes.set_persona
    elevate = modes.elevate
    end_elevation = modes.end_elevation
    elevation = modes.elevation

    rule_offers = rules.rule_offers
    would_allow = rules.would_allow
    give_rule = rules.give_rule
    revoke_rule = rules.revoke_rule
    explain_call = rules.explain_call
    rules = rules.rules

    create_branch = branches.create_branch
    fork = branches.fork
    switch_branch = branches.switch_branch
    delete_branch = branches.delete_branch
    set_prompt_addition = branches.set_prompt_addition
    merge = merges.merge
    preview_merge = merges.preview_merge
    provenance = merges.provenance

    compress = commands.compress
    preview_compression = commands.preview_compression
    undo_compression = commands.undo_compression
    pin = commands.pin
    read_window = preview.read_window
    meter = preview.read_meter
    add_overview = workspaces.add_overview

    delegate = subagents.delegate

    folder_trust = workspaces.folder_trust
    trust_folder = workspaces.trust_folder
    distrust_folder = workspaces.distrust_folder
    undo = workspaces.undo
    note_own_command = workspaces.note_own_command
    call_output = workspaces.call_output
    find_files = files.find_files

    known_tools = tools.known_tools
    tools_off = tools.tools_off
    switch_tool = tools.switch_tool
    tool_servers = tools.tool_servers
    reconnect_server = tools.reconnect_server
    server_resources = tools.server_resources
    server_prompt = tools.server_prompt
    add_resource = tools.add_resource

    try_setup = setup.try_setup
    set_up = setup.set_up
    forget_setup = setup.forget_setup
    setup = setup.setup

    @property
    def kernel(self) -> Kernel:
        """The promises that the kernel keeps about commands that only read. Without one of them, fewer commands run
        without approval."""
        return confinement.kernel()

    async def context(self, context_id: str) -> LiveContext:
        """The live context, for reading only. Raises: NotFound, StoreError."""
        return await self.find(context_id)

    async def audit(self, context_id: str, after: int = 0, limit: int | None = None) -> CheckedAudit:
        """The audit behind the first `after` entries, and whether its chain is intact. Raises: NotFound, StoreError."""
        live = await self.find(context_id)
        return await read_audit(self, live.id, after, limit)

    def signals(self, topics: Iterable[str]) -> Subscription:
        """Subscribe to signals: of contexts by their ids, of a user's session by its topic."""
        return self.dependencies.hub.subscribe(topics)

    async def __aenter__(self) -> "Runtime":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
