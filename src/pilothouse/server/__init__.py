"""The runtime behind HTTP. Handlers parse, call the runtime and return: no rule lives here but who may ask."""
