"""All texts in English."""

from pilothouse.i18n.en.calls import CALLS, DANGERS
from pilothouse.i18n.en.codes import CODES
from pilothouse.i18n.en.commands import AUDIT, CLEAN, DOCTOR, MCP, SERVE, TRUST
from pilothouse.i18n.en.demo import DEMO
from pilothouse.i18n.en.joins import JOINS
from pilothouse.i18n.en.markdown import MARKDOWN
from pilothouse.i18n.en.modes import MEANINGS, TITLES
from pilothouse.i18n.en.rules import RULES
from pilothouse.i18n.en.sandbox import PROMISES
from pilothouse.i18n.en.sign_in import SIGN_IN
from pilothouse.i18n.en.states import STATES
from pilothouse.i18n.en.terminal import TERMINAL
from pilothouse.i18n.en.tour import TOUR
from pilothouse.i18n.text_catalog import TextCatalog

CATALOG = TextCatalog(
    html_language="en",
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
