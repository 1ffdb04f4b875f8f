"""Thousands of rewritten dangerous lines: the classifier must not be misled by the notation."""

from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest

from pilothouse.sandbox.shell import classify
from tests.security.line_mutations import mutations
from tests.security.line_runner import run, run_in_turn
from tests.security.random_lines import torn_lines_with_effects
from tests.support.scale import LONG, Record

MUTATIONS = 20_000 if LONG else 2000
RUN = 300 if LONG else 60
TORN = 60_000 if LONG else 4000
SEED = 20261115


def test_a_rewritten_dangerous_line_is_not_read_only(record_property: Record) -> None:
    lines = list(islice(mutations(SEED), MUTATIONS))
    wrong = [line for line in lines if (classification := classify(line)).read_only or classification.strict]
    record_property("figure", f"shell classifier: {len(wrong)} of {len(lines)} rewritten lines called read-only")
    assert wrong[:40] == []


@pytest.mark.seconds(300)
def test_rewriting_keeps_the_effect_of_a_line() -> None:
    lines = list(islice(mutations(SEED), RUN))
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(zip(lines, pool.map(run, lines), strict=True))
    idle = [line for line, outcome in outcomes if not (outcome.marker or outcome.changed or outcome.missing)]
    # A few combinations cancel themselves, such as an option printed by `echo -n`.
    assert len(idle) <= RUN * 0.03, idle


@pytest.mark.seconds(600)
def test_a_torn_line_classified_as_read_only_changes_nothing(record_property: Record) -> None:
    """Torn lines that the classifier lets through are run, and must change nothing."""
    lines = [line for line in islice(torn_lines_with_effects(SEED), TORN) if classify(line).read_only]
    outcomes = list(zip(lines, run_in_turn(lines), strict=True))
    record_property("figure", f"shell classifier: {len(lines)} of {TORN} torn lines let through and run")
    assert [(line, outcome.changed) for line, outcome in outcomes if outcome.changed] == []
