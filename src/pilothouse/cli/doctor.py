"""`pilothouse doctor`: report which sandbox promises the kernel keeps and which programs are installed."""

import os
import platform
import shutil

from pilothouse import __version__
from pilothouse.domain.codes import Language
from pilothouse.domain.promises import Kernel, SandboxPromise
from pilothouse.i18n import translate_means, translate_promise, ui_text
from pilothouse.sandbox.confinement import kernel as running_kernel
from pilothouse.tools.builtin.grep.tool import find_ripgrep


def doctor_command(language: Language, kernel: Kernel | None = None) -> int:
    """Print the report. Return the exit code: 1 if a promise is broken or a program is missing."""
    kernel = kernel or running_kernel()
    print(f"Pilothouse {__version__} · Python {platform.python_version()} · {platform.platform()}\n")
    print(ui_text("doctor", "complete" if kernel.is_complete else "incomplete", language))
    for promise in SandboxPromise:
        is_kept = kernel.means_for(promise) is not None
        means = translate_means(promise, kernel, language)
        state = ui_text("doctor", "kept" if is_kept else "broken", language)
        reason = ui_text("doctor", "by" if is_kept else "needs", language, means=means)
        print(f"  {state}: {translate_promise(promise, language)} ({reason})")
    programs = {name: shutil.which(name) for name in ("bash", "git", "tesseract")} | {"rg": find_ripgrep()}
    print(f"\n{ui_text('doctor', 'programs', language)}")
    for name, path in programs.items():
        print(f"  {name}: {path or ui_text('doctor', 'missing', language, why=ui_text('doctor', name, language))}")
    return os.EX_OK if kernel.is_complete and all(programs.values()) else 1
