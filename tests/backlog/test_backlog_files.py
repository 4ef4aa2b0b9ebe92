"""The files that the jobs of a backlog hand on."""

from pathlib import Path

import pytest

from testing.text.encoded_secrets import KEYS, MODEL
from tests.backlog.backlog_values import list_issue, make_backlog, make_report
from triage.backlog.backlog_files import BacklogFiles
from triage.base.errors import BadInput
from triage.safety.secrets.redactor import SecretRedactor

BACKLOG = make_backlog(*range(25, 0, -1))


@pytest.fixture
def files(tmp_path: Path) -> BacklogFiles:
    files = BacklogFiles(tmp_path / "new", SecretRedactor(KEYS))
    files.write_list(BACKLOG)
    return files


def test_what_was_written_is_read(files: BacklogFiles) -> None:
    assert files.read_list() == BACKLOG
    assert [len(batch) for batch in BACKLOG.batches] == [20, 5]
    reports = [make_report(3), make_report(2)]
    files.write_reports(2, reports)
    assert (files.read_reports(1), files.read_reports(2)) == ([], reports)


def test_a_new_list_forgets_the_reports_of_the_last(files: BacklogFiles) -> None:
    files.write_reports(2, [make_report(3)])
    files.write_list(BACKLOG)
    assert files.read_reports(2) == []


def test_our_secrets_are_masked_and_no_text_is_refused(files: BacklogFiles) -> None:
    files.write_list(make_backlog(issues=[list_issue(1, title=f"Größe \ud800 {MODEL}")]))
    files.write_reports(1, [make_report(1, title=MODEL)])
    files.write_table(f"# {MODEL}")
    written = [path for path in (files.folder / ".triage").iterdir() if path.is_file()]
    assert not [path.name for path in written if MODEL.encode() in path.read_bytes()]
    assert files.read_list().issues[0].title.startswith("Größe ? ")


def test_errors_say_what_to_do(files: BacklogFiles, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="List the backlog first"):
        BacklogFiles(tmp_path, files.redactor).read_list()
    (files.folder / ".triage" / "backlog.json").write_text("{}")
    with pytest.raises(BadInput, match="not a file of this version"):
        files.read_list()
    (tmp_path / ".triage").symlink_to(tmp_path)
    with pytest.raises(BadInput, match="could not be written"):
        BacklogFiles(tmp_path, files.redactor).write_table("")
