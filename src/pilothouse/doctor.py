"""`pilothouse doctor`: what the machine gives to this program, and what to do about what is missing."""

import os
import platform
import shutil

from pilothouse import __version__
from pilothouse.domain.codes import Language
from pilothouse.domain.promise_words import say_means, say_promise
from pilothouse.domain.promises import Kernel, SandboxPromise
from pilothouse.sandbox.confinement import kernel as running_kernel
from pilothouse.tools.builtin.search import find_ripgrep

_WORDS: dict[str, tuple[str, str]] = {
    "complete": (
        "Sandbox: complete. Commands that only read run by themselves in review.",
        "沙箱：完整。只读命令在审阅模式下会自动运行。",
    ),
    "incomplete": (
        "Sandbox: not complete. In review, only a strict list of commands runs by itself. Use a newer kernel, or "
        "approve commands one by one.",
        "沙箱：不完整。在审阅模式下只有严格列表中的命令会自动运行。请使用更新的内核，或逐条批准命令。",
    ),
    "kept": ("kept", "有效"),
    "broken": ("NOT KEPT", "无效"),
    "by": ("by {means}", "依靠 {means}"),
    "needs": ("needs {means}", "需要 {means}"),
    "programs": ("Programs:", "程序："),
    "missing": ("not found: {why}", "未找到：{why}"),
    "bash": ("without it no command runs by itself", "没有它，任何命令都不会自动运行"),
    "git": ("the model cannot look at repositories", "模型无法查看仓库"),
    "rg": ("searching is slower; install ripgrep", "搜索较慢；请安装 ripgrep"),
    "tesseract": ("text in images is not read; install tesseract-ocr", "无法读取图片中的文字；请安装 tesseract-ocr"),
}


def doctor_command(language: Language, kernel: Kernel | None = None) -> int:
    """Print the report; gives the exit code, 1 where something is missing."""
    kernel = kernel or running_kernel()
    print(f"Pilothouse {__version__} · Python {platform.python_version()} · {platform.platform()}\n")
    print(_say("complete" if kernel.is_complete else "incomplete", language))
    for promise in SandboxPromise:
        is_kept = kernel.means_for(promise) is not None
        means = say_means(promise, kernel, language)
        state = _say("kept" if is_kept else "broken", language)
        reason = _say("by" if is_kept else "needs", language, means=means)
        print(f"  {state}: {say_promise(promise, language)} ({reason})")
    programs = {name: shutil.which(name) for name in ("bash", "git", "tesseract")} | {"rg": find_ripgrep()}
    print(f"\n{_say('programs', language)}")
    for name, path in programs.items():
        print(f"  {name}: {path or _say('missing', language, why=_say(name, language))}")
    return os.EX_OK if kernel.is_complete and all(programs.values()) else 1


def _say(key: str, language: Language, **values: str) -> str:
    return _WORDS[key][language == "zh"].format(**values)
