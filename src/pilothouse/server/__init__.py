"""The HTTP server. Handlers decode, call the runtime and encode; only authentication and ownership are decided here."""
