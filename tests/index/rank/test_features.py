"""What speaks for a file, signal by signal."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.index.indexes import ask, corpus_of, trace
from tests.index.project import PROJECT
from triage.domain.code import SearchQuery
from triage.index.corpus.bm25 import BM25, Counted
from triage.index.rank.called_code import called, calls_to
from triage.index.rank.evidence import Evidence, Scores, postings, top
from triage.index.rank.features import SIGNALS
from triage.index.rank.query import query_of
from triage.index.rank.quotes import longest_run, quoted_in, quoting, raised_in
from triage.index.rank.ranking import learned, rank

FETCH = """import json


def fetch_page(address):
    \"\"\"Fetch a page and decode it.\"\"\"
    return decode_body(open_connection(address))
"""
DECODE = 'def decode_body(body):\n    raise ValueError("the body of type %s cannot be decoded" % type(body))\n'
WEB = {
    "web/fetch.py": FETCH,
    "web/decode.py": DECODE,
    "web/connect.py": "def open_connection(address):\n    return address\n",
    "web/options.py": 'FLAG = "--keep-alive"\n',
    "other/paint.py": "def paint(canvas):\n    return canvas.fill()\n",
    "tests/test_fetch.py": "def test_fetch_page():\n    assert paint(fetch_page('x'))\n",
}


@pytest.fixture(scope="module")
def evidence_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[SearchQuery], Evidence]:
    corpus = corpus_of(tmp_path_factory.mktemp("web"), WEB)
    return lambda asked: Evidence(corpus, query_of(asked))


def by_path(evidence: Evidence, scores: Scores) -> Mapping[str, float]:
    """Positive scores, rounded."""
    return {
        file.path: round(float(score), 2) for file, score in zip(evidence.corpus.files, scores, strict=True) if score
    }


def test_every_learned_weight_belongs_to_a_signal_and_the_other_way_round():
    assert set(learned()) == set(SIGNALS)


def test_every_signal_has_a_number_for_each_file_and_none_below_zero(evidence_of: Callable[[SearchQuery], Evidence]):
    evidence = evidence_of(
        ask(
            title="fetch_page fails",
            prose="`decode_body` says 'x' in web/decode.py",
            code="open_connection()",
            traces=[trace(("web/decode.py", 2, "decode_body"))],
            paths=["web/decode.py"],
            identifiers=["decode_body"],
        )
    )
    for name, signal in SIGNALS.items():
        scores = signal(evidence)
        assert scores.shape == (len(WEB),), name
        assert scores.dtype == np.float32, name
        assert (scores >= 0).all(), name


@pytest.mark.parametrize("signal", SIGNALS)
def test_no_signal_fails_on_an_empty_repository_or_an_empty_issue(tmp_path: Path, signal: str):
    assert not len(SIGNALS[signal](Evidence(corpus_of(tmp_path, {}), query_of(ask(title="x y", prose="z")))))
    full = corpus_of(tmp_path / "full", PROJECT)
    assert len(SIGNALS[signal](Evidence(full, query_of(ask())))) == len(PROJECT)


def test_what_the_best_chunks_call_by_a_word_of_the_issue(evidence_of: Callable[[SearchQuery], Evidence]):
    evidence = evidence_of(ask(title="fetch_page cannot decode a page", prose="fetch page"))
    assert set(by_path(evidence, called(evidence))) == {"web/decode.py"}  # nobody speaks of a connection
    decode = evidence.corpus.numbers["web/decode.py"]
    assert calls_to(evidence, decode) == {"decode_body": "fetch_page"}


def test_tests_lead_nowhere(evidence_of: Callable[[SearchQuery], Evidence]):
    evidence = evidence_of(ask(title="test_fetch_page", prose="assert test paint"))
    assert "other/paint.py" not in by_path(evidence, called(evidence))


def test_quoted_text_counts_where_it_stands(evidence_of: Callable[[SearchQuery], Evidence]):
    evidence = evidence_of(
        ask(title="flag keep alive", prose="Running with --keep-alive has no effect, `nowhere.at()`.")
    )
    found = by_path(evidence, quoting(evidence))
    assert set(found) == {"web/options.py"}
    assert quoted_in(evidence, evidence.corpus.numbers["web/options.py"]) == ["keep-alive"]


def test_a_message_is_found_where_its_template_is_raised(evidence_of: Callable[[SearchQuery], Evidence]):
    message = "the body of type int cannot be decoded"
    evidence = evidence_of(ask(title="ValueError", prose=message, error_messages=[message]))
    decode, fetch = (
        list(evidence.corpus.chunks_of(evidence.corpus.numbers[f"web/{name}.py"])) for name in ("decode", "fetch")
    )
    assert raised_in(evidence, decode) > 0.4
    assert raised_in(evidence, fetch) < 0.2


@pytest.mark.parametrize(
    ("message", "text", "worth"),
    [
        ("a b c", "x a b c y", 3.0),
        ("a b c", "a b x c", 2.0),
        ("a b c", "c b a", 0.0),  # single words are no run
        ("a b c", "", 0.0),
        ("a b a b c", "a b c", 3.0),
    ],
)
def test_the_longest_run_of_words_in_both(message: str, text: str, worth: float):
    words = message.split()
    assert longest_run(words, [1.0] * len(words), text.split()) == worth


def test_hostile_messages_take_bounded_time(evidence_of: Callable[[SearchQuery], Evidence]):
    message = "the " * 20_000
    evidence = evidence_of(ask(title="the", prose=message, error_messages=[message] * 50))
    chunks = list(evidence.corpus.chunks_of(0))
    assert 0 <= raised_in(evidence, chunks) <= 1


def test_neighbouring_words_make_the_name_of_the_code(tmp_path: Path):
    corpus = corpus_of(
        tmp_path, {"a.py": "def group_by(x):\n    return x\n", "b.py": "def other(group):\n    return group\n"}
    )
    evidence = Evidence(corpus, query_of(ask(title="Wrong rows in group by")))
    assert corpus.vocabulary.number("group_by") in evidence.weights
    assert rank(corpus, evidence.query, {}, by_meaning=False).order[0] == corpus.numbers["a.py"]


def test_chances_are_shares_of_one_and_fall_with_the_score(tmp_path: Path):
    corpus = corpus_of(tmp_path, PROJECT)
    ranking = rank(corpus, query_of(ask(title="parse_date fails in a leap year")), {}, by_meaning=False)
    chances = [ranking.chances[file] for file in ranking.order]
    assert sum(chances) == pytest.approx(1.0)
    assert chances == sorted(chances, reverse=True)
    assert rank(corpus, query_of(ask(title="zzz")), {}, by_meaning=False).chances == {}


def test_top_is_in_order_and_leaves_out_what_has_nothing():
    assert top(np.array([0, 3, 1, 2, 0], dtype=np.float32), 3) == [1, 3, 2]
    assert top(np.array([0, 1], dtype=np.float32), 5) == [1]


def test_postings_of_a_term_that_came_later_are_empty(evidence_of: Callable[[SearchQuery], Evidence]):
    evidence = evidence_of(ask(title="x"))
    assert not len(postings(evidence.corpus.by_path, 10**6))


@pytest.mark.parametrize("files", [{"t/x.c": ""}, {"t/x.c": "", "src/y.c": ""}])
def test_a_frame_is_all_that_speaks_for_an_empty_file(tmp_path: Path, files: Mapping[str, str]):
    corpus = corpus_of(tmp_path, files)
    asked = ask(title="q", traces=[trace(("t/x.c", 2, "f"))])
    ranking = rank(corpus, query_of(asked), {}, by_meaning=False)
    assert ranking.order == [corpus.numbers["t/x.c"]]
    assert ranking.chances == {ranking.order[0]: 1.0}


def test_a_signal_without_weight_and_a_weight_without_signal_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    corpus = corpus_of(tmp_path, PROJECT)
    query = query_of(ask(title="parse_date fails in a leap year"))
    before = rank(corpus, query, {}, by_meaning=False).scores
    weights = {**learned(), "gone": 1.0}
    monkeypatch.setattr("triage.index.rank.ranking.learned", lambda: weights)
    monkeypatch.setattr(
        "triage.index.rank.ranking.SIGNALS", {**SIGNALS, "new": lambda evidence: evidence.nothing() + 1}
    )
    assert rank(corpus, query, {}, by_meaning=False).scores == before


def test_a_term_that_a_table_does_not_know_has_no_share(evidence_of: Callable[[SearchQuery], Evidence]):
    corpus = evidence_of(ask(title="x")).corpus
    corpus = replace(corpus, by_file=BM25.of([Counted(np.zeros(len(WEB), dtype=np.int32))], 0))
    assert not Evidence(corpus, query_of(ask(title="fetch_page"))).share("title").any()
