"""Which tests need a kernel that keeps the promises of the sandbox. A skip names those that do not hold."""

from collections.abc import Mapping

import pytest

from pilothouse.domain.promises import Kernel
from pilothouse.sandbox import confinement

KERNEL = confinement.kernel()


def not_tested(kernel: Kernel) -> str:
    return f"this kernel does not keep these promises of the sandbox: {', '.join(kernel.broken)}"


def check_kernel(kernel: Kernel, environment: Mapping[str, str]) -> None:
    """A build server (CI is set) must test every promise: a run that skips some of them must not pass there."""
    if environment.get("CI") and not kernel.is_complete:
        raise pytest.UsageError(
            f"{not_tested(kernel)}. Run on a kernel where `pilothouse doctor` finds all, or unset CI."
        )


needs_sandbox = pytest.mark.skipif(not KERNEL.is_complete, reason=not_tested(KERNEL))
"""For tests of commands that are confined to reading."""
needs_workspace_sandbox = pytest.mark.skipif(not KERNEL.keeps_to_workspace, reason=not_tested(KERNEL))
"""For tests of `sandbox = "workspace"`."""
