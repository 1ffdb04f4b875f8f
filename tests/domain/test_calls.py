"""Call records as the store and the export hold them."""

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.command_line import CommandLine

STORED = b"""
{"id":"c","provider_id":"p","message_id":"m","turn":"t","round":1,"tool":"execute","display_name":"Execute",
"arguments":{"command":"ls"},"digest":"d","fingerprint":"f","effect":"mutating","basis":"abc:partial",
"limit":{"code":"protected_path","params":{"path":"a"}},"line":{"commands":[["ls"]],"hidden":"no"},
"status":"pending","requested_at":"2026-11-19T12:00:00Z"}
"""


def test_a_record_keeps_the_stored_names_of_its_renamed_fields() -> None:
    record = msgspec.json.decode(STORED, type=CallRecord)
    assert record.content_hash == "abc:partial"
    assert record.violation == Reason(Code.PROTECTED_PATH, {"path": "a"})
    assert record.command_line == CommandLine(commands=(("ls",),), hidden="no")
    assert msgspec.json.decode(msgspec.json.encode(record)) == msgspec.json.decode(STORED)
