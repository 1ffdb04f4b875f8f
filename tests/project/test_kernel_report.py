"""A test run that could not test the sandbox reports it, and does not pass on a build server."""

import pytest

from pilothouse.domain.promises import Kernel
from tests.support.kernel import check_kernel, not_tested

COMPLETE, WITHOUT_FILTER = Kernel(landlock=7, filter=True), Kernel(landlock=7)


def test_a_build_server_whose_kernel_does_not_keep_every_promise_tests_nothing() -> None:
    with pytest.raises(pytest.UsageError, match="writes, network, ipc, devices"):
        check_kernel(WITHOUT_FILTER, {"CI": "true"})


def test_a_complete_kernel_and_a_persons_own_machine_may_run_the_tests() -> None:
    check_kernel(COMPLETE, {"CI": "true"})
    check_kernel(WITHOUT_FILTER, {})


def test_the_reason_of_a_skip_names_the_promises() -> None:
    assert not_tested(WITHOUT_FILTER).endswith("writes, network, ipc, devices")
