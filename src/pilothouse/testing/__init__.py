"""Doubles that ship with the library: a provider that speaks the real wire format, a clock one can turn."""
