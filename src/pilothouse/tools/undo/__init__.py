"""Undo: what a call changed, what files held before, and putting it back.

`changes` is the conversation's log of changes with the contents it needs; `baseline` is a rebuildable cache of what the
files of a workspace hold, compared before and after a command; `tree` scans a workspace, `git_state` reads where its
repositories stand; `revert` puts files back.
"""
