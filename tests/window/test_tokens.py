"""Counting tokens: true counts where the tokenizer is installed, an estimate that is near them, and never an error."""

import base64
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pilothouse
from pilothouse.window.tokens import Counter, counter_for

SOURCE = Path(pilothouse.__file__).parent
EXACT = ("o200k", "cl100k")
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)  # halves of surrogate pairs too

ENGLISH = """The harbour was quiet when the ferry came in. Two men in yellow coats threw the ropes ashore, and a third,
who had been asleep on a crate of oranges, stood up and pretended that he had been waiting all along. Nobody believed
him. The captain looked at her watch, wrote something into the book that she kept under her arm, and went below to see
what the noise in the engine room had been; it had stopped, which worried her more than the noise itself. "If it starts
again," she said to the boy at the wheel, "call me before you call anybody else." He nodded, and did not ask why."""
GERMAN = """Der Hafen lag still, als die Fähre einlief. Zwei Männer in gelben Jacken warfen die Taue an Land, und ein
dritter, der auf einer Kiste mit Apfelsinen geschlafen hatte, stand auf und tat so, als hätte er immer schon gewartet.
Niemand glaubte ihm. Die Kapitänin sah auf die Uhr, schrieb etwas in das Buch, das sie unter dem Arm trug, und ging nach
unten, um nach dem Geräusch im Maschinenraum zu sehen; es hatte aufgehört, was sie mehr beunruhigte als das Geräusch."""
CHINESE = """渡轮进港的时候，码头上很安静。两个穿黄色外套的男人把缆绳抛到岸上，第三个人本来在一箱橙子上睡着了，
这时站起来，装作一直在等。没有人相信他。船长看了看手表，在夹在腋下的本子上写了几个字，然后走下去查看机舱里的声音是怎么回事。声音已经停了，
这比声音本身更让她担心。“如果它又响起来，”她对掌舵的男孩说，“先叫我，再叫别人。”他点点头，没有问为什么。"""
PYTHON = (SOURCE / "window" / "history.py").read_text()
MIXED = "\n\n".join(f"{CHINESE}\n```python\n{PYTHON[start : start + 300]}\n```" for start in range(0, 1500, 300))
RECORDS = [
    {"id": number, "name": f"worker-{number}", "is_active": number % 3 == 0, "tags": ["red", "new"], "load": number / 7}
    for number in range(40)
]

# The allowed deviation of the estimate from the true count, below and above.
SAMPLES = [
    ("English", ENGLISH, 0.0, 0.20),
    ("German", GERMAN, -0.10, 0.20),
    ("Chinese", CHINESE, 0.0, 0.30),
    ("Python", PYTHON, 0.0, 0.35),
    ("Chinese with code", MIXED, 0.0, 0.30),
    ("JSON", json.dumps(RECORDS), -0.05, 0.30),
    ("JSON in lines", json.dumps(RECORDS, indent=2), -0.10, 0.30),
    ("base64", base64.b64encode(random.Random(1).randbytes(3000)).decode(), -0.10, 0.10),
    ("base64 in lines", base64.encodebytes(random.Random(2).randbytes(3000)).decode(), -0.10, 0.10),
]


@pytest.fixture(params=[*EXACT, "estimate"])
def counter(request: pytest.FixtureRequest) -> Counter:
    return counter_for(request.param)


# As another tokenizer with the same vocabularies counts them.
@pytest.mark.parametrize(
    ("text", "o200k", "cl100k"),
    [
        ("", 0, 0),
        ("hello world", 2, 2),
        ("<|endoftext|>", 7, 7),
        ("The quick brown fox jumps over the lazy dog.", 10, 10),
        ("你好，世界", 3, 6),
        ("def f(x):\n    return x + 1\n", 11, 11),
        ('{"a": [1, 2, 3]}', 12, 12),
        ("naïve café", 4, 4),
        ("😀", 1, 2),
    ],
)
def test_known_texts_have_their_known_counts(text: str, o200k: int, cl100k: int) -> None:
    assert (counter_for("o200k").count(text), counter_for("cl100k").count(text)) == (o200k, cl100k)


def test_a_counter_has_its_name() -> None:
    for name in EXACT:
        assert (counter_for(name).name, counter_for(name).is_estimate) == (name, False)
    for other in (None, "estimate", "unheard of"):
        assert (counter_for(other).name, counter_for(other).is_estimate) == ("estimate", True)


@given(ANY_TEXT)
def test_any_text_can_be_counted(text: str) -> None:
    for name in (*EXACT, "estimate"):
        count = counter_for(name).count(text)
        assert (count > 0) == bool(text)
        assert count <= 2 * len(text.encode("utf-8", "replace"))


@given(ANY_TEXT, ANY_TEXT)
def test_token_counts_are_nearly_additive(one: str, other: str) -> None:
    for name in (*EXACT, "estimate"):
        count = counter_for(name).count
        assert abs(count(one) + count(other) - count(one + other)) <= 4, name


def test_counting_in_pieces_equals_counting_the_whole(counter: Counter) -> None:
    pieces = [ENGLISH, CHINESE, PYTHON]
    whole = "\n\n".join(pieces[number % 3] for number in range(300))
    apart = sum(counter.count(pieces[number % 3] + "\n\n") for number in range(300))
    assert counter.count(whole) == pytest.approx(apart, rel=0.003)


@pytest.mark.parametrize("run", [" ", "a", "-", "=", "\n", "中", "\ud800", "ab"])
def test_a_run_of_millions_is_counted(counter: Counter, run: str) -> None:
    million = counter.count(run * 1_000_000)
    assert counter.count(run * 4_000_000) == pytest.approx(4 * million, rel=0.01)


@pytest.mark.parametrize(("text", "below", "above"), [sample[1:] for sample in SAMPLES], ids=[s[0] for s in SAMPLES])
def test_the_estimate_is_near_and_rather_high_than_low(text: str, below: float, above: float) -> None:
    error = counter_for("estimate").count(text) / counter_for("o200k").count(text) - 1
    assert below <= error <= above


def test_concurrent_threads_count_correctly() -> None:
    program = """
import threading
from pilothouse.window.tokens import counter_for
found = []
start = threading.Barrier(8)
def count():
    start.wait()
    found.append(counter_for("o200k").count("hello world " * 2000))
threads = [threading.Thread(target=count) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(set(found))
"""
    assert output_of(program) == "{4001}"


def test_without_the_tokenizer_package_counts_are_estimated() -> None:
    program = """
import sys
sys.modules["rs_bpe"] = None
from pilothouse.window.tokens import counter_for
counter = counter_for("o200k")
print(counter.name, counter.is_estimate, counter.count("hello world"))
"""
    assert output_of(program) == "estimate True 3"


def test_the_tokenizer_package_is_loaded_only_when_needed() -> None:
    program = """
import sys
import pilothouse.app, pilothouse.window.tokens
pilothouse.window.tokens.counter_for(None).count("hello")
print("rs_bpe" in sys.modules)
"""
    assert output_of(program) == "False"


def output_of(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.strip()
