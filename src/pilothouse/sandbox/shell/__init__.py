"""Classification of a command line before it runs: the commands that it starts, and whether all of them only read.

`classify` parses the line (`grammar`) and looks up the effect of each simple command (`command_table`).
"""

from pilothouse.sandbox.shell.classify import Classification, classify

__all__ = ["Classification", "classify"]
