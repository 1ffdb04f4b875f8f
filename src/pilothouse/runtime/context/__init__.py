"""A context in memory: its state, its drafts, its recovery after a crash."""
