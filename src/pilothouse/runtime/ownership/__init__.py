"""The right to drive a context: one owner at a time, under a lease whose fence every commit carries.

`Ownership` is the protocol, `SoleProcess` the default of one process that has the store to itself. The store refuses a
commit with the fence of an earlier lease, so that an owner which has lost its lease without noticing changes nothing.
"""
