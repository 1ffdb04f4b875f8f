"""The systemd unit and the compose file, checked by the tools and the schema of their own projects."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.scale import HANG_SECONDS

DEPLOY = Path(__file__).parents[2] / "deploy"
UNIT = DEPLOY / "pilothouse.service"
PROGRAM = "/opt/pilothouse/bin/pilothouse"
MAX_EXPOSURE = 25
"""The limit of `systemd-analyze security`, in tenths: 10 is the best grade of a service with a network, 96 none."""


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit, with a program that exists on this machine."""
    text = UNIT.read_text()
    assert text.count(f"ExecStart={PROGRAM} ") == 1
    path = tmp_path / UNIT.name
    path.write_text(text.replace(PROGRAM, sys.executable))
    return path


def analyze(*words: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed, and make could not install it: make systemd")
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=HANG_SECONDS)


def test_systemd_finds_nothing_wrong_with_the_unit(unit: Path) -> None:
    checked = analyze("verify", "--man=no", str(unit))
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
    unit.write_text(unit.read_text().replace("ProtectSystem=strict", "ProtectSystm=strict"))
    assert "ProtectSystm" in analyze("verify", "--man=no", str(unit)).stderr, "a mistake would be reported"


def test_the_unit_is_closed_off_from_the_rest_of_the_machine(unit: Path) -> None:
    limits = ("--offline=yes", f"--threshold={MAX_EXPOSURE}", "--no-pager")
    checked = analyze("security", *limits, str(unit))
    assert checked.returncode == 0, checked.stdout[-500:]


def test_the_unit_keeps_no_secret_and_opens_no_other_address() -> None:
    text = UNIT.read_text()
    assert not re.search(r"^Environment=.*(KEY|TOKEN|SECRET)", text, re.MULTILINE)
    assert "--host" not in text, "the server listens on this machine only"


def test_the_compose_file_follows_the_schema_of_the_compose_project(tmp_path: Path) -> None:
    def check(path: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(path)],
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
        )

    checked = check(DEPLOY / "compose.yaml")
    assert checked.returncode == 0, checked.stdout
    wrong = tmp_path / "compose.yaml"
    wrong.write_text((DEPLOY / "compose.yaml").read_text().replace("cap_drop:", "drop_caps:"))
    assert check(wrong).returncode == 1, "a mistake would be reported"


def test_the_compose_file_publishes_on_this_machine_only_and_takes_the_token_from_outside() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    assert re.findall(r'- "([\d.:]+)"', text) == ["127.0.0.1:8484:8484"]
    assert "PILOTHOUSE_TOKEN: ${PILOTHOUSE_TOKEN:?" in text
    assert "OPENAI_API_KEY:\n" in text
    for name in ("read_only: true", "no-new-privileges:true", "init: true"):
        assert name in text


@pytest.mark.parametrize("path", sorted(DEPLOY.iterdir()), ids=lambda path: path.name)
def test_no_example_names_a_registry_or_a_foreign_host(path: Path) -> None:
    hosts = re.findall(r"(?<![\w./-])(?:[a-z0-9-]+\.)+(?:com|io|net|org|dev|cloud|sh)\b", path.read_text())
    assert {host for host in hosts if host != "pilothouse.example.org"} == set()
    assert not re.search(r"^(FROM|\s*image:) \S*/", path.read_text(), re.MULTILINE)
