"""The Dockerfile without Docker: its steps build and start the server in a folder of this machine, as it says."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.request import Request, urlopen

import pytest

from pilothouse.server.state import WEB_FOLDER
from tests.server.restartable_server import free_port
from tests.support.scale import HANG_SECONDS

ROOT = Path(__file__).parents[2]
WHEELS = ROOT / ".wheels"
"""The pinned packages, which make has downloaded; without them, pip asks its index."""
NOBODY = 65534
TOKEN = "a-token-for-tests-only"
IMAGE_FOLDERS = ("/opt/pilothouse", "/build", "/data", "/state", "/config", "/work")


class Step(NamedTuple):
    instruction: str
    arguments: str


class Stage(NamedTuple):
    base: str
    name: str
    steps: list[Step]

    def of(self, instruction: str) -> list[str]:
        return [step.arguments for step in self.steps if step.instruction == instruction]


def stages() -> list[Stage]:
    text = re.sub(r"^#.*\n", "", (ROOT / "deploy/Dockerfile").read_text(), flags=re.MULTILINE)
    result: list[Stage] = []
    for line in filter(None, text.replace("\\\n", " ").splitlines()):
        instruction, _, arguments = line.partition(" ")
        if instruction == "FROM":
            base, _, name = arguments.partition(" AS ")
            result.append(Stage(base, name, []))
        else:
            result[-1].steps.append(Step(instruction, " ".join(arguments.split(" "))))
    return result


def environment_of(stage: Stage) -> dict[str, str]:
    return dict(word.split("=", 1) for line in stage.of("ENV") for word in shlex.split(line))


def test_the_image_is_small_pinned_unprivileged_and_without_secrets() -> None:
    web, package, image = stages()
    for stage in (web, package, image):
        assert re.fullmatch(r"(node|python):[\d.]+-slim", stage.base)
    installs = [line for line in package.of("RUN") if "pip install" in line]
    assert ["--require-hashes" in line or "--no-deps" in line for line in installs] == [True, True]
    assert "npm ci --ignore-scripts" in " ".join(web.of("RUN"))
    assert image.of("USER") == ["pilothouse"]
    order = [step.instruction for step in image.steps]
    assert order.index("USER") < order.index("CMD")
    assert set(json.loads(image.of("VOLUME")[0])) == {"/data", "/state"}
    assert not [stage.of("ARG") for stage in stages() if stage.of("ARG")]
    assert not [name for name in environment_of(image) if re.search("KEY|TOKEN|SECRET|PASSWORD", name)]
    assert not [line for line in image.of("COPY") if not line.startswith("--from=")]


def test_the_build_context_holds_what_is_copied_and_nothing_private() -> None:
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    assert rules[0] == "*", "everything is left out that is not named"
    allowed = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    copied = {name for stage in stages() for line in stage.of("COPY") for name in _sources(line)}
    assert {name.split("/")[0] for name in copied} == allowed
    for name in copied:
        assert (ROOT / name).exists(), name


def _sources(line: str) -> list[str]:
    return [] if line.startswith("--from=") else line.split(" ")[:-1]


class PlainEnvironment:
    """A folder of this machine that stands for the root of the image."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python, self.user = _interpreter(folder)
        programs = folder / "bin"
        programs.mkdir()
        (programs / "python").symlink_to(self.python)

    def path(self, text: str) -> str:
        """A text with the image's folders in this environment."""
        return re.sub(rf"(?<![\w.])({'|'.join(IMAGE_FOLDERS)})\b", lambda match: f"{self.folder}{match[1]}", text)

    def build(self, stage: Stage) -> None:
        workdir = self.folder
        for instruction, arguments in stage.steps:
            if instruction == "WORKDIR":
                workdir = Path(self.path(arguments))
                workdir.mkdir(parents=True, exist_ok=True)
            elif instruction == "COPY":
                self._copy(arguments, workdir)
            else:
                assert instruction == "RUN", instruction
                self._run(arguments, workdir)

    def _copy(self, arguments: str, workdir: Path) -> None:
        *sources, target = arguments.split(" ")
        if sources[0] == "--from=web":  # `make` has built it, with the command of the first stage
            sources = [str(WEB_FOLDER)]
        for source in map(ROOT.joinpath, sources):
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "web") if source.name == "src" else None
                shutil.copytree(source, workdir / target, ignore=ignored, dirs_exist_ok=True)
            else:
                folder = workdir / target
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, folder)

    def _run(self, command: str, workdir: Path) -> None:
        variables = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        for name in ("PYTHONPATH", "VIRTUAL_ENV"):
            variables.pop(name, None)
        if (WHEELS / ".done").exists():
            variables |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(WHEELS)}
        done = subprocess.run(
            ["sh", "-c", f"umask 022; {self.path(command)}"],
            cwd=workdir,
            env=variables,
            capture_output=True,
            text=True,
            timeout=4 * HANG_SECONDS,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"

    def prepare_folders(self, image: Stage) -> None:
        """As the image's `install -d` does."""
        (command,) = image.of("RUN")
        for name in command.partition("-m 700 ")[2].split():
            folder = Path(self.path(name))
            folder.mkdir(mode=0o700)
            if self.user is not None:
                os.chown(folder, self.user, self.user)

    def start(self, command: list[str], image: Stage, port: int) -> subprocess.Popen[str]:
        """Start a command of the image, with its environment and user. Tests listen on loopback only."""
        variables = {name: self.path(value) for name, value in environment_of(image).items()}
        variables["PATH"] = variables["PATH"].replace("$PATH", os.defpath)
        words = [word.replace("8484", str(port)).replace("0.0.0.0", "127.0.0.1") for word in command]
        program = shutil.which(words[0], path=variables["PATH"])
        assert program is not None
        return subprocess.Popen(
            [program, *words[1:]],
            cwd=self.path(image.of("WORKDIR")[0]),
            env={**variables, "PILOTHOUSE_TOKEN": TOKEN},
            user=self.user,
            group=self.user,
            extra_groups=[] if self.user is not None else None,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


def _interpreter(folder: Path) -> tuple[str, int | None]:
    """An interpreter of this version, and the user `nobody` if that user can run it and this one may change users."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    own = os.path.realpath(sys.executable)
    if os.geteuid() != 0:
        return own, None
    for path in (own, f"/usr/local/bin/{name}", f"/usr/bin/{name}"):
        try:
            done = subprocess.run(
                [path, "-c", "import ensurepip, ssl"], cwd=folder, user=NOBODY, group=NOBODY, timeout=HANG_SECONDS
            )
        except OSError:
            continue
        if done.returncode == 0:
            return path, NOBODY
    return own, None


@contextmanager
def plain_environment() -> Iterator[PlainEnvironment]:
    with tempfile.TemporaryDirectory(prefix="pilothouse-image-") as name:
        os.chmod(name, 0o755)
        yield PlainEnvironment(Path(name))


@pytest.mark.seconds(400)
def test_the_steps_of_the_dockerfile_give_a_server_that_its_health_check_finds_healthy() -> None:
    _, package, image = stages()
    with plain_environment() as here:
        here.build(package)
        here.prepare_folders(image)
        port = free_port()
        check = json.loads(image.of("HEALTHCHECK")[0].partition("CMD ")[2])
        assert healthy(here, check, image, port) is False, "nothing answers yet"
        with here.start(json.loads(image.of("CMD")[0]), image, port) as server:
            try:
                assert server.stdout is not None
                assert server.stderr is not None
                while f"127.0.0.1:{port}" not in (line := server.stdout.readline()):
                    assert line, server.stderr.read()
                assert healthy(here, check, image, port)
                if here.user is not None:
                    assert os.stat(f"/proc/{server.pid}").st_uid == here.user
                request = Request(f"http://127.0.0.1:{port}/", headers={"authorization": f"Bearer {TOKEN}"})
                with urlopen(request, timeout=HANG_SECONDS) as page:
                    assert b"./assets/index-" in page.read()
                os.kill(server.pid, signal.SIGTERM)
                assert server.wait(timeout=HANG_SECONDS) == 0, server.stderr.read()
            finally:
                server.kill()
        assert healthy(here, check, image, port) is False
        assert (here.folder / "data/tokens.json").exists()


def healthy(here: PlainEnvironment, check: list[str], image: Stage, port: int) -> bool:
    with here.start(check, image, port) as process:
        _, errors = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode in (0, 1), errors
    return process.returncode == 0
