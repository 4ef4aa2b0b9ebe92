"""Progress in a server's log: one line each, whatever the text."""

import logging

import pytest

from tests.say.sample_reports import MODEL_STEPS
from triage.outside.output.line_logs import ServerLog


def test_every_line_is_one_record_without_anything_odd(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO, "triage")
    log = ServerLog()
    log.log_start("critic")
    log.log_end(MODEL_STEPS[1])
    log.info("100 %s\n\x1b[31mred")
    lines = [record.getMessage() for record in caplog.records]
    assert [line.split()[0] for line in lines] == ["critic", "investigator", "100"]
    assert all(line.isprintable() for line in lines)
