"""Signals to subscribers, and the stream of events that follows a turn."""
