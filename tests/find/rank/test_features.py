"""What speaks for a file, signal by signal."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.find.indexes import make_corpus, make_query, make_trace
from tests.find.project import PROJECT
from triage.domain.code import SearchQuery
from triage.find.past_changes import PastChanges
from triage.find.rank.features import (
    FEATURES,
    score_called_code,
    score_quotes,
)
from triage.find.rank.query import build_query
from triage.find.rank.ranking import PAST_FEATURE, load_weights, rank_files
from triage.find.rank.search import Scores, Search

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
def evidence_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[SearchQuery], Search]:
    corpus = make_corpus(tmp_path_factory.mktemp("web"), WEB)
    return lambda asked: Search(corpus, build_query(asked), PastChanges(corpus))


def by_path(evidence: Search, scores: Scores) -> Mapping[str, float]:
    """Positive scores, rounded."""
    return {
        file.path: round(float(score), 2) for file, score in zip(evidence.corpus.files, scores, strict=True) if score
    }


def test_every_learned_weight_belongs_to_a_signal_and_the_other_way_round():
    assert {*load_weights(), PAST_FEATURE} == set(FEATURES)
    assert PAST_FEATURE not in load_weights(), "it has its own weight, which grows with the past"


def test_no_signal_fails_on_an_empty_repository_or_an_empty_issue(tmp_path: Path):
    empty, full = make_corpus(tmp_path, {}), make_corpus(tmp_path / "full", PROJECT)
    for name, signal in FEATURES.items():
        assert not len(signal(Search(empty, build_query(make_query(title="x y", prose="z")), PastChanges(empty)))), name
        assert len(signal(Search(full, build_query(make_query()), PastChanges(full)))) == len(PROJECT), name


def test_what_the_best_chunks_call_by_a_word_of_the_issue(evidence_of: Callable[[SearchQuery], Search]):
    evidence = evidence_of(make_query(title="fetch_page cannot decode a page", prose="fetch page"))
    assert set(by_path(evidence, score_called_code(evidence))) == {"web/decode.py"}  # nobody speaks of a connection


def test_tests_lead_nowhere(evidence_of: Callable[[SearchQuery], Search]):
    evidence = evidence_of(make_query(title="test_fetch_page", prose="assert test paint"))
    assert "other/paint.py" not in by_path(evidence, score_called_code(evidence))


def test_quoted_text_counts_where_it_stands(evidence_of: Callable[[SearchQuery], Search]):
    evidence = evidence_of(
        make_query(title="flag keep alive", prose="Running with --keep-alive has no effect, `nowhere.at()`.")
    )
    found = by_path(evidence, score_quotes(evidence))
    assert set(found) == {"web/options.py"}


def test_neighbouring_words_make_the_name_of_the_code(tmp_path: Path):
    corpus = make_corpus(
        tmp_path, {"a.py": "def group_by(x):\n    return x\n", "b.py": "def other(group):\n    return group\n"}
    )
    evidence = Search(corpus, build_query(make_query(title="Wrong rows in group by")), PastChanges(corpus))
    assert corpus.vocabulary.find_number("group_by") in evidence.term_weights
    assert rank_files(corpus, evidence.query, {}, by_embedding=False).order[0] == corpus.file_numbers["a.py"]


def test_chances_are_shares_of_one_and_fall_with_the_score(tmp_path: Path):
    corpus = make_corpus(tmp_path, PROJECT)
    ranking = rank_files(
        corpus, build_query(make_query(title="parse_date fails in a leap year")), {}, by_embedding=False
    )
    chances = [ranking.probabilities[file] for file in ranking.order]
    assert sum(chances) == pytest.approx(1.0 - 1 / (len(PROJECT) + 1))
    assert chances == sorted(chances, reverse=True)
    assert rank_files(corpus, build_query(make_query(title="zzz")), {}, by_embedding=False).probabilities == {}


@pytest.mark.parametrize("files", [{"t/x.c": ""}, {"t/x.c": "", "src/y.c": ""}])
def test_a_frame_is_all_that_speaks_for_an_empty_file(tmp_path: Path, files: Mapping[str, str]):
    corpus = make_corpus(tmp_path, files)
    asked = make_query(title="q", traces=[make_trace(("t/x.c", 2, "f"))])
    ranking = rank_files(corpus, build_query(asked), {}, by_embedding=False)
    assert ranking.order == [corpus.file_numbers["t/x.c"]]
    assert ranking.probabilities == {ranking.order[0]: pytest.approx(1.0 - 1 / (len(files) + 1))}


EXPORT = {
    "reports/csv.py": """class CsvReport:
    \"\"\"A monthly report as CSV.\"\"\"

    def export(self, rows):
        for row in rows:
            self.add(row)
""",
    "reports/pdf.py": "class PdfReport:\n    def export(self, rows):\n        for row in rows:\n            self.add(row)\n",
    "reports/xls.py": "class XlsReport:\n    def export(self, rows):\n        for row in rows:\n            self.add(row)\n",
    "reports/buffer.py": """class Buffer:
    \"\"\"Collects the rows of an export until they are written.\"\"\"

    def flush(self):
        for row in self.rows:
            self.file.write(row.encode())
""",
    "reports/names.py": "def title_of(name):\n    return name\n",
}


def test_the_file_in_which_a_trace_ends_is_among_the_first_three(tmp_path: Path):
    # The learned weight of the innermost frame leaves it behind three files that share more words with the issue.
    corpus = make_corpus(tmp_path, EXPORT)
    frames = make_trace(("site/app.py", 3, "main"), ("reports/buffer.py", 6, "flush"))
    asked = make_query("Export of the monthly report stops", "The export ends after some rows.", traces=[frames])
    order = rank_files(corpus, build_query(asked), {}, by_embedding=False).order
    assert corpus.file_numbers["reports/buffer.py"] in order[:3]
