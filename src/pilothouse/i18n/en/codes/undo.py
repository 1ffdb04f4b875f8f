"""English texts of the codes about undo: restored files, and changes that cannot be undone."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

UNDO: Mapping[Code, str] = {
    Code.NOTHING_TO_UNDO: "Nothing to undo.",
    Code.CHANGE_UNDONE: (
        "The user has undone your last file change. These files are back to what they were before it: {paths}. Read "
        "them before you continue."
    ),
    Code.UNDO_REFUSED: "Nothing was undone: {paths} changed again after the agent's change.",
    Code.UNDO_CONFLICT: "These files changed again after the agent's change and were left as they are: {paths}.",
    Code.UNDO_UNKEPT: (
        "These files were left as they are, because they are too large or can't be read, and undo never replaces a "
        "file without keeping a copy: {paths}."
    ),
    Code.UNDO_SET_ASIDE: "The content from before the agent's change is in: {files}.",
    Code.UNDO_ASKS: (
        "A command changed {paths}, and a person may have changed files meanwhile, so only a person can undo this here."
    ),
    Code.UNDO_INCOMPLETE: "Nothing was undone: the earlier content of {paths} wasn't saved ({detail}).",
    Code.UNDO_NOTHING: "No file was restored. {left} Undo again to go further back.",
    Code.UNDO_EXPIRED: (
        "Nothing was undone: the earlier content of {paths} is no longer saved. The settings under [undo] control how "
        "much is saved, and for how long."
    ),
    Code.UNDO_UNKNOWN: "The earlier content of the files isn't known: {detail}.",
    Code.UNDO_INTERRUPTED: "The command was interrupted before its changes could be recorded.",
    Code.UNDO_IGNORED: "Files in ignored or generated folders aren't restored: {paths}.",
    Code.UNDO_UNSEEN: (
        "The earlier content of these files isn't known, because the project is too large to scan completely: {paths}."
    ),
    Code.UNDO_TOO_MANY: "Too many files changed to save all of them: {paths}.",
    Code.UNDO_TOO_LARGE: "Files over {megabytes} MB aren't saved: {paths}.",
    Code.UNDO_OVER_BUDGET: (
        "The space for undo was full, so these files weren't saved: {paths}. To allow more, change the settings under "
        "[undo]."
    ),
    Code.UNDO_SPECIAL: "Sockets, pipes and devices aren't restored: {paths}.",
    Code.UNDO_UNREADABLE: "These files couldn't be read before the command ran: {paths}.",
    Code.UNDO_COVERAGE: (
        "Undo covers only part of this folder, because it has too many files: the nearest {files} entries and "
        "{megabytes} MB. Work in a project folder to have all of it covered."
    ),
    Code.GIT_CREATED: "The git repository in {repository} was created. Undo doesn't remove it.",
    Code.GIT_REMOVED: "The git repository in {repository} is gone. Undo doesn't bring it back.",
    Code.GIT_SWITCHED: (
        "Git in {repository} was on {before} and is now on {after}. Undo doesn't change that. To switch back: git "
        "switch {before}."
    ),
    Code.GIT_MOVED: (
        "The branch {branch} in {repository} moved from {before} to {after}. Undo doesn't change commits. To take them "
        "back and keep the files: git reset {before}."
    ),
    Code.GIT_REFERENCES: "Branches, tags or stashes in {repository} changed and stay as they are: {names}.",
    Code.GIT_INDEX: "The git index in {repository} changed, and undo leaves its staged changes as they are.",
    Code.GIT_OTHER: "Git's settings or an unfinished merge or rebase in {repository} changed and stay as they are.",
}
