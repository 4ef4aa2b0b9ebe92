"""Summary, outputs, annotations and report, read back as the runner reads them."""

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.runner_grammar import RunnerCommand, parse_commands, parse_outputs
from testing.text.encoded_secrets import COLLECTOR, GITHUB, KEYS, MODEL, find_secrets
from tests.outside.output.hostile import TEXT
from triage.domain.code import Span
from triage.domain.effect import AnnotationLevel
from triage.outside.output.job_output import SUMMARY_BYTES, JobOutput, fit_summary, format_outputs
from triage.outside.output.line_logs import LineWriter
from triage.safety.secrets.redactor import OWN_SECRET_PLACEHOLDER, SecretRedactor


def runner(log: io.StringIO, **places: Path | None) -> JobOutput:
    return JobOutput(LineWriter(log), SecretRedactor(KEYS), **places)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def log() -> io.StringIO:
    return io.StringIO()


class TestSummary:
    def test_is_appended(self, tmp_path: Path, log: io.StringIO) -> None:
        page = tmp_path / "summary"
        page.write_text("before\n")
        out = runner(log, summary_path=page)
        out.write_summary("# One")
        out.write_summary("# Two\n")
        assert page.read_text() == "before\n# One\n# Two\n"
        assert log.getvalue() == ""

    def test_is_cut_below_what_github_drops(self, tmp_path: Path, log: io.StringIO) -> None:
        page = tmp_path / "summary"
        out = runner(log, summary_path=page)
        out.write_summary("Ein Satz über Größe 😀.\n" * 300_000)
        out.write_summary("more\n" * 10)
        content = page.read_bytes()
        assert len(content) <= SUMMARY_BYTES < 1_048_576
        assert content.decode().startswith("> **This summary was cut")
        assert content.decode().removesuffix("more\n" * 10).endswith(".\n")

    @given(TEXT, st.integers(-5, 400))
    def test_is_valid_utf8_within_the_limit(self, text: str, room: int) -> None:
        content = fit_summary(text, room)
        assert len(content) <= max(room, 0)
        content.decode()

    def test_a_missing_file_is_logged(self, log: io.StringIO) -> None:
        runner(log).write_summary("# One")
        assert log.getvalue() == "| 00:00 The runner names no file for the summary.\n"

    def test_a_file_that_cannot_be_written_is_a_warning(self, tmp_path: Path, log: io.StringIO) -> None:
        runner(log, summary_path=tmp_path).write_summary("# One")
        assert parse_commands(log.getvalue()) == [
            RunnerCommand("warning", "The summary could not be written: is a directory.")
        ]


class TestOutputs:
    def test_are_appended(self, tmp_path: Path, log: io.StringIO) -> None:
        file = tmp_path / "outputs"
        file.write_text("other=1\n")
        runner(log, output_path=file).write_outputs(
            {"status": "complete", "suspect-files": '["a=b<<c.py"]', "verdict": ""}
        )
        assert parse_outputs(file.read_bytes()) == {
            "other": "1",
            "status": "complete",
            "suspect-files": '["a=b<<c.py"]',
            "verdict": "",
        }

    @given(st.dictionaries(st.sampled_from(["status", "ticket-title", "seconds"]), TEXT))
    def test_any_value_comes_back_whole(self, values: dict[str, str]) -> None:
        expected = {name: text.encode("utf-8", "replace").decode() for name, text in values.items()}
        assert parse_outputs(format_outputs(values)) == expected

    def test_delimiters_are_unpredictable(self) -> None:
        assert format_outputs({"status": "x"}) != format_outputs({"status": "x"})

    def test_a_file_that_cannot_be_written_is_a_warning(self, tmp_path: Path, log: io.StringIO) -> None:
        runner(log, output_path=tmp_path / "none" / "file").write_outputs({"status": "x"})
        assert parse_commands(log.getvalue())[0].name == "warning"


class TestAnnotate:
    @pytest.mark.parametrize("level", ["error", "warning", "notice"])
    def test_one_line(self, log: io.StringIO, level: AnnotationLevel) -> None:
        runner(log).annotate(level, "50% of\nit: a, b")
        assert log.getvalue() == f"::{level}::50%25 of it: a, b\n"
        assert parse_commands(log.getvalue()) == [RunnerCommand(level, "50% of it: a, b")]

    @pytest.mark.parametrize("path", [".github/triage.yml", "a,b:c=d::e %2C/f.yml"])
    def test_the_location_is_part_of_the_annotation(self, log: io.StringIO, path: str) -> None:
        runner(log).annotate("error", "Mend it.", Span(path=path, start=3, end=4))
        where = {"file": path, "line": "3", "endLine": "4"}
        assert parse_commands(log.getvalue()) == [RunnerCommand("error", "Mend it.", where)]

    @given(TEXT)
    def test_an_odd_path_is_no_second_command(self, path: str) -> None:
        log = io.StringIO()
        runner(log).annotate("error", "Mend it.", Span(path=path, start=1, end=1))
        (command,) = parse_commands(log.getvalue())
        assert (command.name, command.data) == ("error", "Mend it.")
        assert command.properties.keys() - {"file"} == {"line", "endLine"}

    def test_four_thousand_characters(self, log: io.StringIO) -> None:
        runner(log).annotate("error", "long %\n" * 2_000)
        message = parse_commands(log.getvalue())[0].data
        assert len(message) == 4_000
        assert message.endswith("…")


class TestReport:
    def test_is_written_beside_a_gitignore(self, tmp_path: Path, log: io.StringIO) -> None:
        assert runner(log, workspace=tmp_path).write_report('{"a": 1}') == ".triage/report.json"
        assert json.loads((tmp_path / ".triage/report.json").read_text()) == {"a": 1}
        assert (tmp_path / ".triage/.gitignore").read_text() == "*\n"
        assert names(tmp_path / ".triage") == [".gitignore", "report.json"]

    def test_is_replaced(self, tmp_path: Path, log: io.StringIO) -> None:
        out = runner(log, workspace=tmp_path)
        out.write_report('{"a": 1}')
        (tmp_path / ".triage/.gitignore").write_text("mine\n")
        out.write_report("{}")
        assert (tmp_path / ".triage/report.json").read_text() == "{}"
        assert (tmp_path / ".triage/.gitignore").read_text() == "mine\n"

    def test_may_be_read_by_later_steps(self, tmp_path: Path, log: io.StringIO) -> None:
        runner(log, workspace=tmp_path).write_report("{}")
        assert (tmp_path / ".triage/report.json").stat().st_mode & 0o444 == 0o444

    def test_a_lone_surrogate_stays_json(self, tmp_path: Path, log: io.StringIO) -> None:
        runner(log, workspace=tmp_path).write_report('{"a": "\ud800é"}')
        assert json.loads((tmp_path / ".triage/report.json").read_text()) == {"a": "\ud800é"}

    def test_a_symlinked_folder_is_not_followed(self, tmp_path: Path, log: io.StringIO) -> None:
        outside = tmp_path / "outside"
        workspace = tmp_path / "workspace"
        outside.mkdir()
        workspace.mkdir()
        (workspace / ".triage").symlink_to(outside)
        assert runner(log, workspace=workspace).write_report("{}") == ""
        assert names(outside) == []
        assert parse_commands(log.getvalue()) == [
            RunnerCommand(
                "warning",
                ".triage/report.json could not be written: a symbolic link or a file is in its place.",
            )
        ]

    @pytest.mark.parametrize("name", ["report.json", ".gitignore"])
    def test_a_symlinked_file_is_not_followed(self, tmp_path: Path, log: io.StringIO, name: str) -> None:
        victim = tmp_path / "victim"
        victim.write_text("precious")
        workspace = tmp_path / "workspace"
        (workspace / ".triage").mkdir(parents=True)
        (workspace / ".triage" / name).symlink_to(victim)
        assert runner(log, workspace=workspace).write_report("{}") == ".triage/report.json"
        assert victim.read_text() == "precious"
        assert not (workspace / ".triage/report.json").is_symlink()

    def test_a_file_in_the_folders_place(self, tmp_path: Path, log: io.StringIO) -> None:
        (tmp_path / ".triage").write_text("mine")
        assert runner(log, workspace=tmp_path).write_report("{}") == ""
        assert (tmp_path / ".triage").read_text() == "mine"

    def test_a_folder_in_the_files_place_leaves_no_draft(self, tmp_path: Path, log: io.StringIO) -> None:
        (tmp_path / ".triage/report.json/x").mkdir(parents=True)
        assert runner(log, workspace=tmp_path).write_report("{}") == ""
        assert names(tmp_path / ".triage") == [".gitignore", "report.json"]

    def test_no_workspace(self, tmp_path: Path, log: io.StringIO) -> None:
        assert runner(log).write_report("{}") == ""
        assert runner(log, workspace=tmp_path / "gone").write_report("{}") == ""
        assert [command.data for command in parse_commands(log.getvalue())] == [
            ".triage/report.json could not be written: no such file or directory."
        ]

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk to write to")
    def test_a_full_disk(self, tmp_path: Path, log: io.StringIO) -> None:
        runner(log, summary_path=Path("/dev/full"), output_path=Path("/dev/full")).write_summary("x")
        assert "no space left on device" in log.getvalue()


def test_our_secrets_are_masked_in_all_that_is_written(tmp_path: Path, log: io.StringIO) -> None:
    out = runner(log, summary_path=tmp_path / "summary", output_path=tmp_path / "outputs", workspace=tmp_path)
    out.write_summary(f"# {GITHUB}\n")
    out.write_outputs({"suspect-files": json.dumps([f"a/{MODEL}.py", "b.py"]), "ticket-title": f"It is {MODEL}"})
    out.annotate("warning", f"Fix {COLLECTOR}.", Span(path=f"{MODEL}/x.py", start=1, end=1))
    out.annotate("error", f"{'x' * 3_990} {GITHUB}", Span(path="x.py", start=1, end=1))
    out.write_report(json.dumps({"a": [MODEL]}, indent=2))
    assert (tmp_path / "summary").read_text() == f"# {OWN_SECRET_PLACEHOLDER}\n"
    assert parse_outputs((tmp_path / "outputs").read_bytes()) == {
        "suspect-files": f'["a/{OWN_SECRET_PLACEHOLDER}.py", "b.py"]',
        "ticket-title": f"It is {OWN_SECRET_PLACEHOLDER}",
    }
    report = (tmp_path / ".triage" / "report.json").read_text()
    assert json.loads(report) == {"a": [OWN_SECRET_PLACEHOLDER]}
    warning, error = log.getvalue().splitlines()
    assert "file=" not in warning
    assert "file=x.py" in error
    assert find_secrets(log.getvalue()) == []
    assert GITHUB[:8] not in error, "masked before it is cut"
