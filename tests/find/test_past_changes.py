"""Scores of files by past commits and fixed issues.

Reading beside the indexing ends with the indexing, whatever happens."""

import asyncio
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from tests.find.indexes import make_corpus
from triage.base.threads import in_thread, raise_if_abandoned
from triage.domain.past_issues import PastFix, PastIssue
from triage.find.past_changes import ChangeReader, ChangeTable, PastChanges, read_changes
from triage.find.words.corpus import Corpus
from triage.git.commit_log import MAX_FILES, LoggedCommit
from triage.git.history import GitHistory

YEAR = 365 * 86_400
NOW = 1_700_000_000
TODAY = datetime.fromtimestamp(NOW, UTC)
FILES = dict.fromkeys(("dates.py", "queue.py", "render.py", "docs/guide.md"), "x = 1\n")
LEAP = {"leap": 1.0, "year": 1.0}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("past"), FILES)


def logged(message: str, *paths: str, years: float = 0.0, commit: str = "0123456789" * 4) -> LoggedCommit:
    return LoggedCommit(commit, int(NOW - years * YEAR), message, paths)


def past_of(corpus: Corpus, *commits: LoggedCommit) -> PastChanges:
    return PastChanges(corpus, read_changes(commits))


def score(past: PastChanges, words: Mapping[str, float] = LEAP) -> dict[str, float]:
    scores = past.score_files(past.score_changes(words))
    return {file.path: float(one) for file, one in zip(past.corpus.files, scores, strict=True) if one}


OTHERS = [logged(f"Draw canvas {n}", "render.py") for n in range(5)]


def test_trailers_are_not_words_of_the_change():
    (change,) = read_changes([logged("Fix\n\nSigned-off-by: Leap Year <a@b>\ngit-svn-id: http://leap", "a.py")]).changes
    assert change.text.strip() == "Fix"


def make_issue(number: int, title: str, *fixes: PastFix, body: str = "", closed: datetime | None = None) -> PastIssue:
    return PastIssue(
        number=number,
        title=title,
        body=body,
        created_at=datetime(2023, 1, 1, tzinfo=UTC),
        closed_at=closed,
        fixes=[*fixes],
    )


def fix_of(*files: str, at: datetime | None = TODAY) -> PastFix:
    return PastFix(number=90, files=[*files], at=at)


def test_the_words_of_a_fixed_issue_lead_to_the_files_of_its_fix(corpus: Corpus):
    before = past_of(corpus, logged("Tidy", "queue.py"), *OTHERS)
    assert score(before) == {}
    issues = [make_issue(12, "Wrong day", fix_of("dates.py"), body="In a leap year."), make_issue(13, "leap year")]
    after = before.add_issues(issues)
    assert list(score(after)) == ["dates.py"]
    assert after.coverage > before.coverage
    assert score(before) == {}, "the past of others is not changed"


def test_a_fix_counts_from_its_date_or_else_from_the_close(corpus: Corpus):
    closed = datetime.fromtimestamp(NOW - 3 * YEAR, UTC)
    issues = [
        make_issue(1, "leap", fix_of("dates.py")),
        make_issue(2, "leap", fix_of("queue.py", at=None), closed=closed),
        make_issue(3, "leap", fix_of("render.py", at=None)),
    ]
    found = score(past_of(corpus, *OTHERS).add_issues(issues))
    assert found["queue.py"] == pytest.approx(found["dates.py"] / 2, rel=0.01)
    assert "render.py" not in found, "nothing says when"


def test_a_fix_of_too_many_files_says_nothing(corpus: Corpus):
    wide = make_issue(1, "leap", fix_of("dates.py", *(f"{n}.py" for n in range(MAX_FILES))))
    assert score(past_of(corpus, *OTHERS).add_issues([wide])) == {}


class WaitingHistory(GitHistory):
    """Reads until nobody waits any more."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    def read_commits(self) -> list:  # type: ignore[type-arg]
        try:
            while True:
                raise_if_abandoned()
                time.sleep(0.01)
        finally:
            self.ended.set()


def test_it_ends_when_nobody_waits_for_the_index(recwarn: pytest.WarningsRecorder):
    history = WaitingHistory()
    tables: list[ChangeTable] = []

    async def run() -> None:
        with pytest.raises(TimeoutError):
            await in_thread(lambda: tables.append(ChangeReader(history).wait()), seconds=0.05)

    asyncio.run(run())
    assert history.ended.wait(10)
    assert not [one for one in recwarn if "PytestUnhandledThread" in one.category.__name__]
