"""The Chinese texts have one word for one thing: the agent is 智能体, the reader is 你."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("src/pilothouse", "web/src", "web/e2e", "docs")
ENDINGS = {".py", ".ts", ".tsx", ".json", ".html", ".md", ".toml"}
# 代理 is the usual word for a proxy; texts about a proxy say 代理服务器.
PROXIES = ("代理服务器", "反向代理")


def texts() -> list[Path]:
    paths = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in ENDINGS)
    return [path for path in paths if "server/web/" not in path.as_posix()]  # built from web/src


@pytest.mark.parametrize(("other", "word"), [("代理", "智能体"), ("您", "你")])
def test_chinese_texts_use_one_word_for_the_agent_and_one_for_the_reader(other: str, word: str) -> None:
    mixed = []
    for path in texts():
        for line in path.read_text(encoding="utf-8").splitlines():
            for proxy in PROXIES:
                line = line.replace(proxy, "")
            if other in line:
                mixed.append(f"{path.relative_to(ROOT)}: {line.strip()}")
    assert mixed == [], f"write {word}"


def test_the_search_finds_the_chinese_texts() -> None:
    assert sum(path.read_text(encoding="utf-8").count("智能体") for path in texts()) > 30
