"""Confining tools: file paths stay beneath the workspace, processes end with their call.

`workspace.Workspace` is the folder that file tools reach, `shell.classify` predicts the effects of a command line,
`confinement.Confinement` is what the kernel allows a command, `processes.start` runs it under a supervisor.
"""
