"""The provider and the model, set up in the page. Only the machine's own user decides about them."""

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.setup import ModelName, Setup, SetupTrial, WantedSetup
from pilothouse.domain.users import LOCAL
from pilothouse.server.serving import Call


class NewSetup(WantedSetup, kw_only=True):
    model: ModelName


async def read(call: Call) -> Setup:
    return _for(call, call.runtime.setup())


async def trial(call: Call, body: WantedSetup) -> SetupTrial:
    call.check_is_local()
    return await call.runtime.try_setup(body)


async def replace(call: Call, body: NewSetup) -> Setup:
    call.check_is_local()
    return await call.runtime.set_up(body)


async def forget(call: Call) -> Setup:
    call.check_is_local()
    return await call.runtime.forget_setup()


def _for(call: Call, found: Setup) -> Setup:
    """Where it is and how its key ends is nothing for the others."""
    if call.user == LOCAL:
        return found
    hidden = {"base_url": None, "key_hint": None, "can_change": False, "reason": Reason(Code.ONLY_LOCAL_USER)}
    shown: Setup = msgspec.structs.replace(found, **hidden)
    return shown
