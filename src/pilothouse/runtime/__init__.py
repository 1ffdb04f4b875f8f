"""The runtime: contexts in memory, the turn with its steps, and the commands that any client can give."""
