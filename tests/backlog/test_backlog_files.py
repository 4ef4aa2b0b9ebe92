"""The files that the jobs of a backlog hand on: whole or not there, readable by another user, and never elsewhere."""

import os
from pathlib import Path

import pytest

from testing.text.encoded_secrets import KEYS, MODEL
from tests.backlog.backlog_values import NEWEST, list_issue, make_plan, make_report
from triage.backlog.backlog import BatchRecord, Caps
from triage.backlog.backlog_files import BacklogFiles
from triage.base.errors import BadInput
from triage.domain.past_issues import PastIssue
from triage.safety.secrets.redactor import SecretRedactor

PLAN = make_plan([[1], [2]])
ISSUES = [[list_issue(1)], [list_issue(2, title="Größe \ud800")]]
PAST = [PastIssue(number=1, title="Old", created_at=NEWEST)]


@pytest.fixture
def files(tmp_path: Path) -> BacklogFiles:
    files = BacklogFiles(tmp_path / "a" / "backlog")
    files.write_list(PLAN, ISSUES, PAST)
    return files


def test_our_secrets_are_masked(tmp_path: Path) -> None:
    files = BacklogFiles(tmp_path, redactor=SecretRedactor(KEYS))
    files.write_list(PLAN, [[list_issue(1, title=f"Key {MODEL}")]], [PAST[0].model_copy(update={"title": MODEL})])
    files.append(1, BatchRecord(number=1, spent=Caps(usd=0, tokens=0), report=make_report(1, title=MODEL)))
    files.write_table(f"# {MODEL}", MODEL)
    assert not [path.name for path in tmp_path.iterdir() if MODEL.encode() in path.read_bytes()]


def test_what_was_written_is_read(files: BacklogFiles) -> None:
    assert files.read_plan() == PLAN
    assert files.read_past() == PAST
    assert files.read_batch(1) == ISSUES[0]
    assert files.read_batch(2)[0].issue.title == "Größe ?"


def test_records_are_added(files: BacklogFiles) -> None:
    records = [BatchRecord(number=1, reserved=Caps(usd=1, tokens=2)), BatchRecord(number=1, report=make_report(1))]
    assert files.read_records(1) == []
    for record in records:
        files.append(1, record)
    assert files.read_records(1) == records
    assert files.read_records(2) == []


def test_a_line_that_was_cut_costs_only_itself(files: BacklogFiles) -> None:
    first, last = BatchRecord(number=1, reason="a"), BatchRecord(number=2, reason="b")
    files.append(1, first)
    with (files.folder / "results-001.jsonl").open("ab") as file:
        file.write(b'{"number": 5, "report": {"sch\xc3')
    files.append(1, last)
    assert files.read_records(1) == [first, last]


def test_a_new_list_forgets_the_results_of_the_last(files: BacklogFiles) -> None:
    files.append(1, BatchRecord(number=1, reason="a"))
    files.write_list(PLAN, ISSUES, PAST)
    assert files.read_records(1) == []


def test_another_user_may_read_the_files(files: BacklogFiles) -> None:
    files.append(1, BatchRecord(number=1))
    files.write_table("page", "csv")
    modes = {path.name: path.stat().st_mode & 0o444 for path in files.folder.iterdir()}
    assert set(modes.values()) == {0o444}
    assert (files.folder / ".gitignore").read_text() == "*\n"


def test_a_link_is_not_followed(files: BacklogFiles, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("[]")
    for name in ("past.json", "results-001.jsonl"):
        (files.folder / name).unlink(missing_ok=True)
        (files.folder / name).symlink_to(secret)
    with pytest.raises(BadInput, match=r"past\.json cannot be read"):
        files.read_past()
    with pytest.raises(BadInput, match="cannot be written"):
        files.append(1, BatchRecord(number=1))
    files.write_list(PLAN, ISSUES, PAST)
    assert secret.read_text() == "[]"


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(BadInput, match="cannot be written"):
        BacklogFiles(tmp_path / "link").write_list(PLAN, ISSUES, PAST)


def test_errors_say_what_to_do(files: BacklogFiles, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="List the backlog first"):
        BacklogFiles(tmp_path / "nothing").read_plan()
    (files.folder / "plan.json").write_text('{"schema_version": "2"}')
    with pytest.raises(BadInput, match="not a file of this version"):
        files.read_plan()
    (files.folder / "past.json").unlink()
    os.mkfifo(files.folder / "past.json")
    with pytest.raises(BadInput, match="not a regular file"):
        files.read_past()
