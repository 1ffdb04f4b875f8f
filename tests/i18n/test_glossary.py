"""Texts use one word for one thing in each language, and Chinese is set like Chinese. `web/tests/glossary.test.ts` does
the same for the web client's own texts."""

import re
from collections.abc import Iterator

import msgspec
import pytest

from pilothouse.domain.codes import Code
from pilothouse.i18n import TextCatalog, catalog_of

SECTIONS = [field.name for field in msgspec.structs.fields(TextCatalog) if field.name != "html_language"]
GLOSSARY = {
    r"approv(e|es|ing|ed)": ["批准"],
    r"reject(s|ed)?": ["拒绝"],
    r"feedback": ["反馈"],
    r"agent": ["智能体"],
    r"sub-agents?": ["子智能体"],
    r"personas?": ["角色"],
    r"modes?": ["模式"],
    r"models?": ["模型"],
    r"providers?": ["服务商"],
    r"API keys?": ["API 密钥"],
    r"access tokens?": ["访问令牌"],
    r"demo model": ["演示模型"],
    r"context window": ["上下文窗口"],
    r"compact(ed)?": ["压缩"],
    r"conversations?": ["对话"],
    r"branch(es)?": ["分支"],
    r"rules?": ["规则"],
    r"revoked?": ["撤销", "/rules revoke"],
    r"undo": ["撤销", "还原", "保持现状", "undo"],
    r"reverted": ["还原"],
    r"project folder": ["项目文件夹"],
    r"project overview": ["项目概览"],
    r"data folder": ["数据文件夹"],
    r"folders?": ["文件夹"],
    r"uploads?": ["上传"],
    r"audit log": ["审计记录"],
    r"MCP servers?": ["MCP 服务器"],
    r"exit code": ["退出代码"],
    r"sandbox": ["沙盒", "sandbox ="],
    r"queued?": ["排队", "队列"],
    r"privileges": ["更高权限"],
    r"parent conversation": ["上级对话"],
}
"""English terms, and their Chinese translations, of which one must occur."""
BANNED = {
    "en": [
        r"\(s\)",
        r"\b(can not|cannot|was not|is not|does not)\b",  # can't, wasn't, isn't, doesn't
        r"\b(for good|by itself|all the same|anew|switched off)\b",
        r"\bgo(es)? on\b",  # continue
        r"\d %|\} %",
    ],
    "zh": [
        r"代理|您|提供方|工作区|派出|总是|暂不|改动|修改|调用|它",
        r"……|\.\.\.",  # …
        r"[\u4e00-\u9fff][A-Za-z0-9`]|[A-Za-z0-9`%][\u4e00-\u9fff]",  # a space between Chinese and Latin
        r"[\u4e00-\u9fff][,;:?()]|[,;?()][\u4e00-\u9fff]",  # Chinese punctuation
        r"\d %|\} %",
    ],
}
AS_SPECIFIED = {Code.PLAN_DENIED}
"""Texts whose wording the chat API's specification gives."""


def texts() -> Iterator[tuple[str, str, str]]:
    """Every text, by its section and key, in English and in Chinese."""
    for section in SECTIONS:
        english, chinese = getattr(catalog_of("en"), section), getattr(catalog_of("zh"), section)
        for key, text in english.items():
            if key not in AS_SPECIFIED:
                yield f"{section}.{key}", text, chinese[key]


@pytest.mark.parametrize("term", GLOSSARY)
def test_a_term_has_one_translation(term: str) -> None:
    pattern = re.compile(rf"(?<![\w/-]){term}(?![\w-])", re.IGNORECASE)
    wrong = [
        f"{name}: {english} | {chinese}"
        for name, english, chinese in texts()
        if pattern.search(re.sub(r"\{\w+[^}]*\}", "{}", english))
        and not any(word in chinese for word in GLOSSARY[term])
    ]
    assert wrong == []


@pytest.mark.parametrize("pattern", BANNED["en"])
def test_english_texts_avoid_words_with_a_better_one(pattern: str) -> None:
    assert [f"{name}: {english}" for name, english, _ in texts() if re.search(pattern, english)] == []


@pytest.mark.parametrize("pattern", BANNED["zh"])
def test_chinese_texts_avoid_words_with_a_better_one_and_are_set_like_chinese(pattern: str) -> None:
    assert [f"{name}: {chinese}" for name, _, chinese in texts() if re.search(pattern, chinese)] == []
