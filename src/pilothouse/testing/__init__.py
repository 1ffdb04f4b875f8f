"""Test doubles that ship with the library: a provider with the real wire format, a clock, a disk, a network."""
