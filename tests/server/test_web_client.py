"""The built web client: served files, their caching, and the page shown when it is missing."""

import gzip
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from yarl import URL

from pilothouse.testing.served import TOKEN, Served
from pilothouse.testing.world import World

BEARER = {"authorization": f"Bearer {TOKEN}"}
SCRIPT = "const words = 'the same words again and again';\n" * 100
FOR_EVER = "private, max-age=31536000, immutable"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """As the build leaves it."""
    folder = tmp_path / "page"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>Built</title>")
    (folder / "assets/index-Bx_9-aZ1.js").write_text(SCRIPT)
    (folder / "assets/theme.js").write_text("theme")
    (folder / "assets/icon.svg").write_text("<svg/>")
    (folder / "assets/face-0a1b2c3d.woff2").write_bytes(os.urandom(200))
    (folder / "assets/notes.txt").write_text("not of the page")
    (folder / "secret.js").write_text("not beneath assets")
    return folder


@asynccontextmanager
async def plain_client(tmp_path: Path, page: Path) -> AsyncIterator[aiohttp.ClientSession]:
    """A client without automatic decompression."""
    world = World(tmp_path)
    async with (
        world.runtime,
        Served(world.runtime, [tmp_path], web_folder=page) as served,
        aiohttp.ClientSession(
            served.url, headers=BEARER, auto_decompress=False, skip_auto_headers=["accept-encoding"]
        ) as http,
    ):
        yield http


async def test_the_page_is_served_and_revalidated_each_time(tmp_path: Path, page: Path) -> None:
    async with plain_client(tmp_path, page) as http:
        async with http.get("/") as answer:
            assert (answer.status, answer.content_type) == (200, "text/html")
            assert "Built" in await answer.text()
            assert answer.headers["cache-control"] == "no-cache"
        (page / "index.html").write_text("<!doctype html><title>Built again</title>")
        async with http.get("/") as answer:
            assert "Built again" in await answer.text()


@pytest.mark.parametrize(
    ("name", "kind", "cache_control"),
    [
        ("index-Bx_9-aZ1.js", "text/javascript", FOR_EVER),
        ("face-0a1b2c3d.woff2", "font/woff2", FOR_EVER),
        ("theme.js", "text/javascript", "no-cache"),
        ("icon.svg", "image/svg+xml", "no-cache"),
        ("docs.css", "text/css", "no-cache"),
    ],
)
async def test_only_files_with_a_content_hash_in_their_name_are_cached(
    tmp_path: Path, page: Path, name: str, kind: str, cache_control: str
) -> None:
    async with plain_client(tmp_path, page) as http, http.get(f"/assets/{name}") as answer:
        assert (answer.status, answer.content_type) == (200, kind)
        assert answer.headers["cache-control"] == cache_control
        assert answer.headers["x-content-type-options"] == "nosniff"


async def test_a_file_is_compressed_for_clients_that_accept_it(tmp_path: Path, page: Path) -> None:
    async with plain_client(tmp_path, page) as http:
        for encoding in ("gzip", "br, gzip;q=0.5", "deflate, GZIP; q=1.0"):
            async with http.get("/assets/index-Bx_9-aZ1.js", headers={"accept-encoding": encoding}) as answer:
                packed = await answer.read()
                assert answer.headers["content-encoding"] == "gzip"
                assert answer.headers["vary"] == "accept-encoding"
                assert len(packed) < len(SCRIPT) / 10
                assert gzip.decompress(packed).decode() == SCRIPT
        for encoding in ("", "br", "gzip;q=0", "gzip; q=0.0", "xgzip"):
            async with http.get("/assets/index-Bx_9-aZ1.js", headers={"accept-encoding": encoding}) as answer:
                assert "content-encoding" not in answer.headers
                assert answer.headers["vary"] == "accept-encoding"
                assert await answer.text() == SCRIPT
        async with http.get("/assets/face-0a1b2c3d.woff2", headers={"accept-encoding": "gzip"}) as answer:
            assert "content-encoding" not in answer.headers, "it would only grow"
            assert len(await answer.read()) == 200


@pytest.mark.parametrize(
    "name",
    ["notes.txt", "index.html", "nothing.js", "..%2fsecret.js", "%2e%2e%2fsecret.js", ".js", "a.js%00", "%2fetc"],
)
async def test_no_other_asset_is_served(tmp_path: Path, page: Path, name: str) -> None:
    async with plain_client(tmp_path, page) as http, http.get(URL(f"/assets/{name}", encoded=True)) as answer:
        assert answer.status == 404
        assert "not" not in (await answer.json())["params"].values()


async def test_a_missing_web_client_is_explained_in_the_readers_language(tmp_path: Path) -> None:
    async with plain_client(tmp_path, tmp_path / "nowhere") as http:
        for language, word in (("en", "hasn&#x27;t been built"), ("zh-CN", "尚未构建")):
            async with http.get("/", headers={"accept-language": language}) as answer:
                assert (answer.status, answer.content_type) == (503, "text/html")
                text = await answer.text()
                assert word in text
                assert "make run" in text
        async with http.get("/assets/docs.css") as answer:
            assert answer.status == 200
