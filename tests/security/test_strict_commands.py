"""The strict list: lines that run without approval where the kernel's sandbox is incomplete open no connection and no
device, and write no file, whatever their options are.
"""

import random
import re
import shutil
import string
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pilothouse.sandbox.shell import classify
from pilothouse.sandbox.shell.readers import READERS
from tests.security.line_corpus import BENIGN
from tests.security.line_runner import fresh_folder
from tests.security.strict_runner import can_trace, refused_calls
from tests.support.scale import LONG, Record

SAMPLE = 100_000 if LONG else 40
SECONDS = 2
ENDLESS = frozenset({"yes", "sleep", "cd", "pushd", "popd"})

NAME_LOOKUPS = (
    *("who --lookup utmp.bin", "who --look", "last -d", "last --dns", "last -df utmp.bin", "last -f utmp.bin", "w -i"),
    *("hostname -A", "hostname -f", "hostname -d", "hostname -i", "hostname -a", "hostname --fqdn", "hostid"),
)
DEVICES = (
    *("lsusb -v", "lsusb -D /dev/bus/usb/001/001", "lsblk -f", "lsblk -O", "lsblk -o NAME,FSTYPE", "file -s /dev/sda"),
    *("cat /dev/watchdog", "head -c1 //dev/./watchdog", "tail --bytes=1 /dev/st0", "grep x /dev/sda", "sort /dev/sda"),
    *("sed -n p /dev/st0", "awk 1 /dev/st0", "diff f.txt /dev/st0", "od /dev/mem", "sort --files0-from=/dev/st0"),
    *("lspci -xxx", "timeout 1 cat /dev/watchdog"),
)
TEMPORARY_FILES = (
    *("ls | tac", "tac", "tac -", "tac f.txt -", "tac $x", "sort -S 1K f.txt", "sort --buffer-size=1K f.txt"),
    *("sort -m f.txt", "sort -cm f.txt", "sort --merge f.txt"),
    *("sort -m --batch-size=2 f.txt g.txt f.txt", "java -version", "java --version", "javac -version", "php -v"),
)
OTHERS = (
    "pip --version",
    "pip3 --version",
    "df --sync",
    "df --sy",
    "getconf -v x y",
    "diff -l f g",
    "diff -rl f g",
    "pidof -t",
)
STRICT = (
    *("who", "who -b", "who am i", "w", "w -h", "last -n 5", "last -5", "hostname", "lsblk", "lsblk -o NAME,SIZE,TYPE"),
    *("lsusb", "lsusb -t", "df -h .", "df -T", "tac f.txt", "sort -k2 f.txt", "pgrep -fl x", "diff -ru a b", "file x"),
    *("getconf PAGESIZE", "getconf -a", "lspci -nnk", "cat /dev/null", "head -c 8 /dev/urandom", "ls -l /dev/sda"),
    *(
        "grep x /dev/stdin",
        "stat /dev/sda",
        "python3 --version",
        "node -v",
        "git --version",
        "date -u",
        "echo /dev/sda",
    ),
)


@pytest.mark.parametrize("command", [*NAME_LOOKUPS, *DEVICES, *TEMPORARY_FILES, *OTHERS])
def test_a_command_that_only_the_sandbox_makes_harmless_is_not_strict(command: str) -> None:
    classification = classify(command)
    assert not classification.strict
    assert classification.read_only, "in the sandbox the command runs without approval"
    assert classification.only_reads, "the approval of the command shows no warning"


@pytest.mark.parametrize("command", STRICT)
def test_an_ordinary_command_that_reads_is_strict(command: str) -> None:
    assert classify(command).strict


@pytest.fixture
def folder() -> Iterator[Path]:
    if not can_trace():
        pytest.skip("strace cannot trace here")
    with fresh_folder() as folder:
        yield folder


@pytest.mark.parametrize("command", ["cat f.txt > PWNED", "touch PWNED", "cat < /dev/tcp/127.0.0.1/9", "hostname -f"])
def test_the_trace_sees_what_a_strict_line_may_not_do(command: str, folder: Path) -> None:
    if command == "hostname -f":
        command = f"{command}; getent ahosts pilothouse.invalid; getent ahosts localhost"
    assert refused_calls(command, folder, folder / "trace.log")


@pytest.mark.seconds(600)
def test_strict_lines_write_no_file_and_open_no_connection_or_device(folder: Path, record_property: Record) -> None:
    """Ordinary lines, and each reading program with each letter as an option, and with the options of its help."""
    commands = [line.command for line in BENIGN if line.runs and classify(line.command).strict]
    options = [command for program in READERS for command in _with_options(program) if classify(command).strict]
    sample = [*STRICT, *_sample(commands), *_sample(options)]
    log = folder.parent / "trace"

    def trace(number: int, command: str) -> tuple[str, list[str]]:
        return command, refused_calls(command, folder, log.with_suffix(f".{number}"), SECONDS)

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(trace, range(len(sample)), sample))
    record_property("figure", f"strict lines: {len(sample)} traced")
    assert [outcome for outcome in outcomes if outcome[1]] == []


def _sample(commands: list[str]) -> list[str]:
    return random.Random(11).sample(commands, min(SAMPLE, len(commands)))


def _with_options(program: str) -> Iterator[str]:
    if program in ENDLESS or shutil.which(program) is None:
        return
    options = ["", *(f"-{letter}" for letter in string.ascii_letters)]
    if LONG:
        text = subprocess.run([program, "--help"], check=False, capture_output=True, stdin=subprocess.DEVNULL).stdout
        options += sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", text.decode(errors="replace"))))
    for option in options:
        yield from (" ".join(filter(None, (program, option, rest))) for rest in ("", "f.txt", "1 f.txt"))
