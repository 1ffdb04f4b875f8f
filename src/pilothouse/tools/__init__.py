"""Tools: what the model can ask for. `base` is the contract."""
