"""The terminal: a plain conversation, line by line, and a run for scripts."""
