"""Stores: one contract, several implementations. `base` is the contract."""
