"""One request against real servers on loopback. `test_network.py` has proxies, certificates and redirects."""

import pytest

from testing.servers.endless_body import EndlessBody
from testing.servers.scripted_server import ScriptedReply, serve_script
from triage.base.errors import AnswerTooLarge
from triage.outside.http_client import HttpResponse, RequestFailed, parse_retry_after, send_request


def ask(url: str, seconds: float = 5.0) -> HttpResponse:
    return send_request("POST", url, seconds=seconds, max_bytes=1_000_000, json={})


def test_a_response_is_returned_whatever_its_status():
    with serve_script([ScriptedReply({"a": 1}, 404, headers={"X-Kind": "odd"})]) as server:
        response = ask(server.url)
    assert (response.status, response.body, response.headers["x-kind"]) == (404, b'{"a": 1}', "odd")


@pytest.mark.parametrize("gzipped", [False, True])
def test_no_more_than_the_limit_is_read(gzipped: bool):
    with serve_script([ScriptedReply(EndlessBody(gzipped=gzipped))]) as server, pytest.raises(AnswerTooLarge):
        ask(server.url)


def test_a_response_that_does_not_come_in_time_was_asked_for():
    with (
        serve_script([ScriptedReply(delay_seconds=30)]) as server,
        pytest.raises(RequestFailed, match="timed out") as raised,
    ):
        ask(server.url, 0.2)
    assert raised.value.was_sent


def test_a_connection_that_is_refused_sends_nothing():
    with pytest.raises(RequestFailed, match="connection failed") as raised:
        ask("http://127.0.0.1:9")
    assert not raised.value.was_sent
    assert raised.value.problem == ""


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Mon, 23 Nov 2026 10:00:07 GMT", "date": "Mon, 23 Nov 2026 10:00:00 GMT"}, 7.0),
        ({"retry-after": "Mon, 23 Nov 2026 09:00:00 GMT", "date": "Mon, 23 Nov 2026 10:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_how_long_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None):
    assert parse_retry_after(headers) == seconds
