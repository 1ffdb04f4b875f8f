"""The tools that the model can call. `base` is the contract."""
