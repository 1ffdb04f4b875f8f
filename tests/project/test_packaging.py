"""Built packages contain the web client, although git does not."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.support.scale import HANG_SECONDS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_wheel_and_sdist_contain_the_built_web_client(tmp_path: Path, kind: str) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("web", "__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore"):
        shutil.copy(ROOT / name, tree)
    page = tree / "src/pilothouse/server/web"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("<!doctype html>")
    (page / "assets/index-0a1b2c3d.js").write_text("run()")
    subprocess.run(
        [sys.executable, "-c", f"from hatchling.build import build_{kind}; build_{kind}({str(tmp_path)!r})"],
        cwd=tree,
        check=True,
        capture_output=True,
        timeout=HANG_SECONDS,
    )
    if kind == "wheel":
        (built,) = tmp_path.glob("*.whl")
        names = zipfile.ZipFile(built).namelist()
    else:
        (built,) = tmp_path.glob("*.tar.gz")
        with tarfile.open(built) as archive:
            names = [name.partition("/src/")[2] for name in archive.getnames()]
    for name in ("web/index.html", "web/assets/index-0a1b2c3d.js", "files/docs.css", "web_client.py"):
        assert f"pilothouse/server/{name}" in names
