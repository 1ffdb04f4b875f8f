"""All texts in Chinese."""

from pilothouse.i18n.text_catalog import TextCatalog
from pilothouse.i18n.zh.calls import CALLS, DANGERS
from pilothouse.i18n.zh.codes import CODES
from pilothouse.i18n.zh.commands import AUDIT, CLEAN, DOCTOR, MCP, SERVE, TRUST
from pilothouse.i18n.zh.demo import DEMO
from pilothouse.i18n.zh.joins import JOINS
from pilothouse.i18n.zh.markdown import MARKDOWN
from pilothouse.i18n.zh.modes import MEANINGS, TITLES
from pilothouse.i18n.zh.rules import RULES
from pilothouse.i18n.zh.sandbox import PROMISES
from pilothouse.i18n.zh.sign_in import SIGN_IN
from pilothouse.i18n.zh.states import STATES
from pilothouse.i18n.zh.terminal import TERMINAL
from pilothouse.i18n.zh.tour import TOUR

CATALOG = TextCatalog(
    html_language="zh-CN",
    codes=CODES,
    states=STATES,
    mode_titles=TITLES,
    mode_meanings=MEANINGS,
    dangers=DANGERS,
    calls=CALLS,
    rules=RULES,
    promises=PROMISES,
    joins=JOINS,
    terminal=TERMINAL,
    tour=TOUR,
    audit=AUDIT,
    doctor=DOCTOR,
    clean=CLEAN,
    serve=SERVE,
    mcp=MCP,
    trust=TRUST,
    markdown=MARKDOWN,
    sign_in=SIGN_IN,
    demo=DEMO,
)
