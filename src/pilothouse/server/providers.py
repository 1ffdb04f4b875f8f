"""The provider setup routes: read, test, replace and reset. Only the local user can change the setup."""

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.provider_setup import ProviderModelName, Setup, SetupRequest, SetupTrial
from pilothouse.domain.users import LOCAL
from pilothouse.server.state import RequestContext


class NewSetup(SetupRequest, kw_only=True):
    model: ProviderModelName


async def read(request: RequestContext) -> Setup:
    return _redact(request, request.runtime.providers.current())


async def trial(request: RequestContext, body: SetupRequest) -> SetupTrial:
    request.check_is_local()
    return await request.runtime.providers.test(body)


async def replace(request: RequestContext, body: NewSetup) -> Setup:
    request.check_is_local()
    return await request.runtime.providers.use(body)


async def forget(request: RequestContext) -> Setup:
    request.check_is_local()
    return await request.runtime.providers.forget()


def _redact(request: RequestContext, setup: Setup) -> Setup:
    """Hide the provider's address and the end of its key from all but the local user."""
    if request.user == LOCAL:
        return setup
    changes = {"base_url": None, "key_hint": None, "can_change": False, "reason": Reason(Code.ONLY_LOCAL_USER)}
    redacted: Setup = msgspec.structs.replace(setup, **changes)
    return redacted
