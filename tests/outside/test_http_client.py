"""One request against real servers on loopback. `test_network.py` has proxies, certificates and redirects."""

import json
import os
import ssl
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

import pytest
import truststore
from langchain_core.tools import ToolException
from pydantic import SecretStr
from urllib3.util.ssl_ import create_urllib3_context

from testing.each_row import each_row
from testing.servers.endless_body import EndlessBody
from testing.servers.http_server import QuietHandler, serve_http
from testing.servers.scripted_server import ScriptedReply, serve_script
from testing.servers.tcp_servers import (
    BASIC_AUTH,
    LOGIN,
    PASSWORD,
    CertificateAuthority,
    Proxy,
    read_head,
    serve_proxy,
    serve_redirect,
    serve_tcp,
    serve_tls,
)
from triage.app.settings.network_settings import prepare_network
from triage.base.errors import AnswerTooLarge, BadInput, TriageError
from triage.domain.run import Collector
from triage.outside.github.issue_tracker import IssueTracker
from triage.outside.http_client import (
    HttpResponse,
    RequestFailed,
    create_ssl_context,
    parse_retry_after,
    proxy_for,
    send_request,
)
from triage.outside.model.endpoint import Endpoint
from triage.outside.model.model_errors import REQUEST_ERRORS, classify_error
from triage.outside.output.telemetry import send_spans
from triage.outside.web.web_search_tool import build_search_tool


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
        pytest.raises(RequestFailed, match="timed out"),
    ):
        ask(server.url, 0.2)


def test_a_connection_that_is_refused_sends_nothing():
    with pytest.raises(RequestFailed, match="connection failed"):
        ask("http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_how_long_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None):
    assert parse_retry_after(headers) == seconds


KEY = SecretStr("k3y-" + "q7" * 16)
NAME = "service.example"
ISSUE = {"number": 7, "id": 1, "title": "t", "body": "b", "state": "open", "html_url": "", "labels": []}
CHOICE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}
ANSWERS: dict[str, Any] = {
    "/issues/7": ISSUE,
    "/comments": [],
    "/chat/completions": {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [CHOICE]},
    "/embeddings": {"object": "list", "model": "m", "data": [{"object": "embedding", "index": 0, "embedding": [1.0]}]},
    "/search": {"results": []},
}
"""What any service answers, by the end of the path."""


@contextmanager
def service() -> Iterator[tuple[int, list[str]]]:
    """All services at once, without TLS: the port, and what was asked."""
    asked: list[str] = []

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            asked.append(self.path)
            path = self.path.partition("?")[0]
            data = json.dumps(next((ANSWERS[end] for end in ANSWERS if path.endswith(end)), {})).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_POST(self) -> None:
            self.do_GET()

    with serve_http(Handler) as url:
        yield urlsplit(url).port or 0, asked


async def ask_github(url: str) -> str:
    tracker = IssueTracker(KEY.get_secret_value(), "o/n", url, backoff_seconds=0)
    try:
        tracker.fetch_issue(7)
    except TriageError as error:
        return str(error)
    return ""


async def ask_model(url: str) -> str:
    try:
        await Endpoint(KEY, "r", url).chat_client("m").ainvoke("well?")
    except REQUEST_ERRORS as error:
        return classify_error(error).reason
    return ""


async def ask_embeddings(url: str) -> str:
    try:
        Endpoint(KEY, "r", url).sdk_client.embeddings.create(input="x", model="m")
    except REQUEST_ERRORS as error:
        return classify_error(error).reason
    return ""


async def ask_search(url: str) -> str:
    try:
        await build_search_tool(KEY, url).ainvoke({"query": "why"})
    except ToolException as error:
        return str(error)
    return ""


async def ask_collector(url: str) -> str:
    headers = SecretStr(f"authorization={KEY.get_secret_value()}")
    return send_spans([], Collector(endpoint=SecretStr(f"{url}/v1/traces"), headers=headers))


Client = Callable[[str], Awaitable[str]]
CLIENTS: dict[str, Client] = {
    "GitHub": ask_github,
    "model": ask_model,
    "embeddings": ask_embeddings,
    "search": ask_search,
    "collector": ask_collector,
}
"""Ask a service at an address. What went wrong, in the words that a report or the log has; empty when nothing did."""
every_client = pytest.mark.parametrize("ask", CLIENTS.values(), ids=CLIENTS)
OURS = {name: ask for name, ask in CLIENTS.items() if name != "search"}
every_client_of_ours = pytest.mark.parametrize("ask", OURS.values(), ids=OURS)
"""Tavily's own client follows redirects and reads `.netrc`, without the key or at a terminal only."""
PRECISE = {name: ask for name, ask in CLIENTS.items() if name != "collector"}
every_precise_client = pytest.mark.parametrize("ask", PRECISE.values(), ids=PRECISE)
"""Those that say what is wrong with a certificate or a login. OpenTelemetry's exporter does not tell."""


@dataclass
class Street:
    """A service behind TLS, and a proxy before it."""

    company: CertificateAuthority
    proxy: Proxy
    port: int
    asked: list[str]
    environment: pytest.MonkeyPatch

    def prepare(self, **variables: str) -> list[str]:
        for name, value in variables.items():
            self.environment.setenv(name, value)
        return prepare_network(os.environ)


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return CertificateAuthority(tmp_path_factory.mktemp("company"))


CERTIFICATES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    monkeypatch.setattr("triage.outside.output.telemetry.EXPORT_SECONDS", 0.5)
    monkeypatch.setattr("requests.utils.getproxies", getproxies)
    for name in (*CERTIFICATES, "no_proxy"):
        monkeypatch.setenv(name, "")  # and so it is as before after what `prepare_network` sets
        monkeypatch.delenv(name)
    yield monkeypatch
    truststore.extract_from_ssl()


@pytest.fixture
def street(company: CertificateAuthority, environment: pytest.MonkeyPatch) -> Iterator[Street]:
    with ExitStack() as stack:
        plain, asked = stack.enter_context(service())
        port = stack.enter_context(serve_tls(plain, company.issue_certificate(NAME, "localhost")))
        proxy = stack.enter_context(serve_proxy(Proxy(login=BASIC_AUTH, ports={NAME: port})))
        environment.setenv("HTTPS_PROXY", f"http://{LOGIN}@127.0.0.1:{proxy.port}")
        yield Street(company, proxy, port, asked, environment)


@pytest.mark.parametrize(
    ("ask", "variable"),
    [
        *((ask, "NODE_EXTRA_CA_CERTS") for ask in CLIENTS.values()),
        *((ask_github, name) for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")),
        *((ask_model, name) for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")),
    ],
)
async def test_the_proxy_is_used_with_its_login_and_the_authority_is_trusted(
    ask: Client, variable: str, street: Street
):
    assert street.prepare(**{variable: str(street.company.file)}) == []
    assert await ask(f"https://{NAME}:8443/api") == ""
    assert street.proxy.hosts == {NAME}
    assert street.asked


@every_client
async def test_a_refused_proxy_login_is_an_ordinary_failure(ask: Client, street: Street):
    street.prepare(HTTPS_PROXY=f"http://work:wr0ng-w0rd@127.0.0.1:{street.proxy.port}")
    said = await ask(f"https://{NAME}")
    assert "the proxy refuses the login (407)" in said or ask is ask_collector
    assert said
    assert "wr0ng" not in said
    assert street.asked == []


@pytest.mark.parametrize(
    ("ask", "entry"),
    [
        *((ask, "other.example, LOCALHOST") for ask in CLIENTS.values()),
        *((ask_github, entry) for entry in ("localhost:{port}", "*", "other.example localhost", "other.example *")),
        *((ask_model, entry) for entry in ("localhost:{port}", "*", "other.example localhost", "other.example *")),
    ],
)
async def test_without_a_proxy_the_connection_is_direct(ask: Client, entry: str, street: Street):
    street.prepare(SSL_CERT_FILE=str(street.company.file), NO_PROXY=entry.format(port=street.port))
    assert await ask(f"https://localhost:{street.port}") == ""
    assert street.proxy.request_lines == []


@every_client
@pytest.mark.parametrize("manner", ["garbage", "hang up"])
async def test_a_broken_proxy_is_an_ordinary_failure(ask: Client, manner: str, street: Street):
    street.proxy.misbehavior = manner
    street.prepare()
    said = await ask(f"https://{NAME}")
    assert said
    assert not any(word in said for word in (PASSWORD, LOGIN, BASIC_AUTH, "ESMTP"))
    assert street.asked == []


@pytest.fixture(scope="module")
def unusable(
    company: CertificateAuthority, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[ssl.SSLContext, str]]:
    """Certificates, and what is wrong with each."""
    strangers = CertificateAuthority(tmp_path_factory.mktemp("strangers"))
    return [
        (strangers.issue_certificate(NAME), "unable to get local issuer certificate"),
        (company.issue_certificate("other.example"), f"certificate is not valid for '{NAME}'"),
        (company.issue_certificate(NAME, expired=True), "its certificate is not valid: certificate has expired"),
    ]


@every_precise_client
async def test_an_unusable_certificate_is_named(
    ask: Client, street: Street, unusable: list[tuple[ssl.SSLContext, str]]
):
    street.prepare(SSL_CERT_FILE=str(street.company.file))
    for certificate, words in unusable:
        with serve_tls(9, certificate) as port:
            street.proxy.ports = {NAME: port}
            assert words in await ask(f"https://{NAME}")


@every_client_of_ours
@pytest.mark.parametrize("status", [302, 307])
async def test_redirects_are_not_followed(ask: Client, status: int, environment: pytest.MonkeyPatch):
    with service() as (elsewhere, asked), serve_redirect(f"http://127.0.0.1:{elsewhere}/", status) as (port, first):
        await ask(f"http://127.0.0.1:{port}")
    assert first
    assert asked == []


@every_client
async def test_a_proxy_may_be_behind_tls(ask: Client, street: Street):
    with serve_proxy(Proxy(BASIC_AUTH), street.company.issue_certificate("localhost")) as proxy:
        proxy.ports = {NAME: street.port}
        url = f"https://{LOGIN}@localhost:{proxy.port}"
        street.prepare(HTTPS_PROXY=url, NODE_EXTRA_CA_CERTS=str(street.company.file))
        assert await ask(f"https://{NAME}") == ""
    assert proxy.hosts == {NAME}


@every_client
async def test_a_service_may_be_behind_a_proxy_without_tls(ask: Client, street: Street):
    with service() as (plain, asked):
        street.proxy.ports = {NAME: plain}
        street.prepare(http_proxy=f"http://{LOGIN}@localhost:{street.proxy.port}")
        assert await ask(f"http://{NAME}") == ""
    assert street.proxy.hosts == {NAME}
    assert asked


@pytest.mark.parametrize("ask", [ask_model, ask_embeddings, ask_search, ask_collector])
async def test_ipv6_addresses_work(ask: Client, company: CertificateAuthority, environment: pytest.MonkeyPatch):
    with service() as (plain, asked), serve_tls(plain, company.issue_certificate("::1"), "::1") as port:
        environment.setenv("NODE_EXTRA_CA_CERTS", str(company.file))
        prepare_network(os.environ)
        assert await ask(f"https://[::1]:{port}/deep/api") == ""
    assert all(path.startswith("/deep/api/") for path in asked)


@every_client_of_ours
async def test_no_login_is_read_from_netrc(ask: Client, environment: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login mallory password m4llory")
    environment.setenv("NETRC", str(tmp_path / ".netrc"))
    heads: list[bytes] = []
    with serve_tcp(lambda line: heads.append(read_head(line))) as port:
        assert await ask(f"http://127.0.0.1:{port}")
    assert heads
    assert all(b"uthorization: Basic" not in head for head in heads)


@each_row(
    "value",
    [
        "socks5h://u:s3cret@far:1080",
        "http://s3cret@far:port",
        "http://u:s3cret/x@far:1",
        "http://far/s3cret",
        "http://far:1\r\nX: s3cret",
        "http://:s3cret@",
    ],
)
def test_an_unusable_proxy_is_named_without_its_value(value: str):
    with pytest.raises(BadInput) as refused:
        prepare_network({"ALL_PROXY": value})
    assert str(refused.value).startswith("ALL_PROXY: the value is not the URL of an HTTP proxy")
    assert "s3cret" not in str(refused.value)


def test_another_proxy_than_the_one_that_is_used_is_not_judged(environment: pytest.MonkeyPatch):
    unused = {
        "SOCKS_PROXY": "socks5://x",
        "ftp_proxy": "ftp://x",
        "ALL_PROXY": "socks5://x",
        "HTTP_PROXY": "socks5://x",
    }
    prepare_network(unused | {"http_proxy": " http://one:1 ", "HTTPS_PROXY": "http://two:2\n"})
    assert [proxy_for(f"{scheme}://far.example") for scheme in ("http", "https")] == ["http://one:1", "http://two:2"]
    prepare_network({"ALL_PROXY": "http://three:3", "NO_PROXY": "*.corp.example near.example"})
    hosts = ("far.example", "api.corp.example", "near.example")
    assert [proxy_for(f"https://{host}") for host in hosts] == ["http://three:3", None, None]


def test_an_unusable_file_is_a_warning_and_no_client_reads_it(street: Street):
    warnings = street.prepare(**dict.fromkeys(CERTIFICATES[:2], "/nonexistent/s3cret"), SSL_CERT_FILE="/missing")
    said = "is not used: there is no such file. In a container"
    names = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
    assert [warning.partition(" the action")[0] for warning in warnings] == [f"{name} {said}" for name in names]
    assert not set(names) & os.environ.keys()


def test_files_may_be_named_from_the_workspace(
    company: CertificateAuthority, environment: pytest.MonkeyPatch, tmp_path: Path
):
    (tmp_path / "ca.pem").write_bytes(company.file.read_bytes())
    named = {"CURL_CA_BUNDLE": "ca.pem", "SSL_CERT_FILE": "ca.pem"}
    assert prepare_network({"GITHUB_WORKSPACE": str(tmp_path), **named}) == []
    assert os.environ["REQUESTS_CA_BUNDLE"] == os.environ["SSL_CERT_FILE"] == str(tmp_path / "ca.pem")


def test_an_unusable_file_is_a_warning_and_the_next_one_is_used(
    company: CertificateAuthority, environment: pytest.MonkeyPatch
):
    environment.setenv("REQUESTS_CA_BUNDLE", "/nonexistent/s3cret")
    environment.setenv("CURL_CA_BUNDLE", __file__)
    environment.setenv("NODE_EXTRA_CA_CERTS", str(company.file))
    environment.setenv("SSL_CERT_FILE", str(company.file))
    first, second = prepare_network(os.environ)
    assert first.startswith("REQUESTS_CA_BUNDLE is not used: there is no such file.")
    assert second.startswith("CURL_CA_BUNDLE is not used: the file has no PEM certificate.")
    assert "s3cret" not in first
    assert os.environ["REQUESTS_CA_BUNDLE"] == str(company.file)
    assert isinstance(create_ssl_context(), truststore.SSLContext)


def test_authorities_need_not_conform_to_what_new_pythons_ask_for(environment: pytest.MonkeyPatch):
    prepare_network(os.environ)
    assert not create_urllib3_context().verify_flags & ssl.VERIFY_X509_STRICT
