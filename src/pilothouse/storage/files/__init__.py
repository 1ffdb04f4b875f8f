"""The embedded default: one folder a context, written through a journal and checkpointed into files."""
