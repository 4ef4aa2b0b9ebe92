import pytest

from tests.find.embeddings import FailingModel, LetterCounts
from tests.find.past_issues.past import past_issue, past_issues
from triage.domain.issue import Issue, ParsedIssue
from triage.find.past_issues.similar_issues import NEAR, find_near_issues
from triage.read.read_issue import read_issue


def read(title: str, body: str = "") -> ParsedIssue:
    return read_issue(Issue(title=title, body=body))


def test_an_embedding_model_finds_what_shares_no_word() -> None:
    past = [*past_issues(12), past_issue(50, "zzzz zzzzz zz")]
    model = LetterCounts()
    near = find_near_issues(read("zzz"), past, model)
    assert near[0] == 50
    assert len(near) == NEAR
    assert any("zzzz" in text for text in model.texts)


def test_a_model_reads_the_start() -> None:
    model = LetterCounts()
    find_near_issues(read("a"), [past_issue(1, "Title", "x" * 9_000)], model)
    assert model.texts == [f"Title\n{'x' * 494}"]


def test_a_secret_is_not_sent_also_not_half_of_it() -> None:
    model = LetterCounts()
    key = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    past = [past_issue(1, "Token", f"{'x' * 480} {key}"), past_issue(2, "Token", f"token {key}")]
    find_near_issues(read("a"), past, model)
    assert len(model.texts) == 2
    assert not any("ghp" in text for text in model.texts)


@pytest.mark.parametrize("queries_only", [True, False])
def test_a_model_that_fails_finds_nothing(queries_only: bool) -> None:
    model = FailingModel(OSError("no route"), queries_only=queries_only)
    assert find_near_issues(read("Webhooks"), past_issues(40), model) == []


def test_nothing_is_near_without_past_issues() -> None:
    model = LetterCounts()
    assert find_near_issues(read("a"), [], model) == []
    assert model.texts == []
