"""Undo: the record of a call's changes, the earlier contents of files, and their restoration.

`changes` is the conversation's log of changes with the contents that it needs; `baseline` is a rebuildable cache of the
contents of a workspace, compared before and after a command; `tree` scans a workspace, `git_state` reads the state of
its repositories; `revert` restores files.
"""
