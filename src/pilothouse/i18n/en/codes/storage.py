"""English texts of the codes about the data directory, its records and their audit."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

STORAGE: Mapping[Code, str] = {
    Code.STORE_REFUSED: (
        "Couldn't save: {detail}. Everything saved before is intact. Free up disk space or repair the disk, then try "
        "again."
    ),
    Code.STORE_READ_ONLY: (
        "Couldn't save: a sync to the disk failed ({detail}). Everything saved before is intact. Check the disk, then "
        "continue."
    ),
    Code.STORE_UNAVAILABLE: "Can't use the data folder {path}: {detail}. Restore it, or restart with another one.",
    Code.CHANGE_NOT_KEPT: (
        "Nothing was changed: the current content of {path} couldn't be saved for undo ({detail}). Free up disk space, "
        "then try again."
    ),
    Code.SANDBOX_INCOMPLETE: (
        "The command wasn't run: since it was decided, the kernel's sandbox has become incomplete, and the command now "
        "needs approval. Request it again."
    ),
    Code.SANDBOX_TOO_MANY_ENTRIES: (
        "Nothing was run: {folder} has more than {most} entries next to Pilothouse's private data, too many to grant a "
        "program access to each of them. Move the data folder into a folder of its own, or remove entries. Then try "
        "again."
    ),
    Code.DISK_SPACE_LOW: (
        "Only {free_mb} MB are free on the disk with the data folder {path}. Free up space before the disk is full."
    ),
    Code.STORE_LOCKED: (
        "The data folder {path!r} is in use by another process ({holder}). Stop that process, or choose another folder."
    ),
    Code.STALE_VERSION: (
        "Not saved: another change was saved first (version {found} instead of {expected}). Reload, then try again."
    ),
    Code.STALE_FENCE: (
        "Not saved: another process has taken over this conversation. Continue there, or stop that process and start "
        "this one again."
    ),
    Code.CONTEXT_DAMAGED: "The conversation {context_id!r} is damaged: {detail}.",
    Code.FORMAT_TOO_NEW: (
        "The conversation {context_id!r} was written by a newer version of Pilothouse (format {format}, this version "
        "reads up to {known}). Update Pilothouse."
    ),
    Code.TAIL_CUT: "An unfinished write of {size} bytes was removed and kept as {kept}.",
    Code.JOURNAL_GAP: "{size} unreadable bytes in the journal were skipped and kept as {kept}.",
    Code.METADATA_REBUILT: (
        "The metadata couldn't be read ({detail}). It was rebuilt from the messages; the old file is kept as {kept}."
    ),
    Code.MESSAGE_DAMAGED: "This message can't be read: {detail}.",
    Code.AUDIT_BROKEN: (
        "The audit log was cut off or rewritten: entry {sequence} is missing, unreadable or not the one that was "
        "written."
    ),
    Code.AUDIT_CHANGED: (
        "Nothing was accepted: the audit log of this conversation was changed outside of Pilothouse after it was last "
        "read. Check it again, then accept it."
    ),
    Code.AUDIT_CUT: (
        "This conversation was cut off, rewritten or removed outside of Pilothouse: entry {sequence} of its audit log "
        "is missing, unreadable or not the one that was written. Its mode and rules may not be those that you chose, "
        "so every action needs your approval. Check its mode and rules, then revoke the rule that asks about every "
        "tool. Or stop Pilothouse and accept all records as they are now: pilothouse audit verify --accept"
    ),
    Code.AUDIT_NOT_CONFIRMED: (
        "The audit log is intact, but not confirmed here: this machine has no record of it yet, for example because "
        "the folder was copied. The next entry confirms it."
    ),
    Code.AUDIT_WHOLE: "The audit log is intact.",
    Code.AUDIT_LOST: "The conversation is gone: its folder was removed outside of Pilothouse.",
    Code.INTERNAL: "Internal error in Pilothouse: {detail}. Everything that was confirmed is saved.",
}
