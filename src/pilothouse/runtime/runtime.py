"""The runtime: all that any client can do, bound together. Each command stands in the file of its noun."""

from collections.abc import Iterable

from pilothouse.domain.audit import CheckedAudit
from pilothouse.domain.promises import Kernel
from pilothouse.runtime import (
    branches,
    calls,
    catalogue,
    compressions,
    context_names,
    delegation,
    finding,
    folders,
    importing,
    looking_ahead,
    merges,
    messages,
    modes,
    queue,
    rules,
    setup,
    titles,
    toolbox,
    transfer,
    turns,
    uploads,
)
from pilothouse.runtime.audit_reads import read_audit
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.hub import Subscription
from pilothouse.runtime.live import Live
from pilothouse.sandbox import confinement


class Runtime(Contexts):
    """Made from `Parts`. Use it as an async context manager, or call `close`."""

    create_context = catalogue.create_context
    contexts = catalogue.list_contexts
    own_context = context_names.own_context
    archive = catalogue.archive
    change_context = catalogue.change_context
    delete_context = catalogue.delete_context
    usage = catalogue.usage
    add_file = uploads.add_file
    copy_upload = uploads.copy_upload
    remove_upload = uploads.remove_upload
    set_title = titles.set_title
    export_context = transfer.export_context
    left_out_of_export = transfer.left_out_of_export
    export_markdown = transfer.export_markdown
    import_context = importing.import_context

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

    compress = compressions.compress
    preview_compression = compressions.preview_compression
    undo_compression = compressions.undo_compression
    pin = compressions.pin
    read_window = looking_ahead.read_window
    meter = looking_ahead.read_meter
    add_overview = folders.add_overview

    delegate = delegation.delegate

    folder_trust = folders.folder_trust
    trust_folder = folders.trust_folder
    distrust_folder = folders.distrust_folder
    undo = folders.undo
    note_own_command = folders.note_own_command
    call_output = folders.call_output
    find_files = finding.find_files

    known_tools = toolbox.known_tools
    tools_off = toolbox.tools_off
    switch_tool = toolbox.switch_tool
    tool_servers = toolbox.tool_servers
    reconnect_server = toolbox.reconnect_server
    server_resources = toolbox.server_resources
    server_prompt = toolbox.server_prompt
    add_resource = toolbox.add_resource

    try_setup = setup.try_setup
    set_up = setup.set_up
    forget_setup = setup.forget_setup
    setup = setup.setup

    @property
    def kernel(self) -> Kernel:
        """Which promises the kernel keeps about commands that only read. Where it breaks one, fewer run by
        themselves."""
        return confinement.kernel()

    async def context(self, context_id: str) -> Live:
        """The context as it is now. To be read, not changed. Raises: NotFound, StoreError."""
        return await self.find(context_id)

    async def audit(self, context_id: str, after: int = 0, limit: int | None = None) -> CheckedAudit:
        """What was decided, and whether the audit can be relied on. Raises: NotFound, StoreError."""
        live = await self.find(context_id)
        return await read_audit(self, live.id, after, limit)

    def signals(self, topics: Iterable[str]) -> Subscription:
        """Of contexts by their id, of a user's session by its topic."""
        return self.parts.hub.subscribe(topics)

    async def __aenter__(self) -> "Runtime":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
