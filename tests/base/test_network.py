"""Every client keeps to the same rules on its way out: proxy, certificates, redirects, and no variable of its own."""

import asyncio
import json
import ssl
import subprocess
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from testing.each_row import each_row
from testing.fakes import FakeProgressLog
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
from tests.output.telemetry.runs import REPORT
from triage.app.settings.network_settings import read_network
from triage.base.errors import BadInput, TriageError
from triage.base.network import CertificateAuthorities, Network
from triage.domain.run import Collector, OtlpEndpoint
from triage.model.endpoint import Endpoint
from triage.model.endpoint import check_endpoint as model_reached
from triage.model.model_errors import REQUEST_ERRORS, classify_error
from triage.output.telemetry.otlp_exporter import OtlpExporter
from triage.safety.secrets.redactor import SecretRedactor

KEY = SecretStr("k3y-" + "q7" * 16)
NAME = "service.example"
ISSUE = {"number": 7, "id": 1, "title": "t", "body": "b", "state": "open", "user": {"login": "mona"}, "labels": []}
CHOICE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}
ANSWERS: dict[str, Any] = {
    "/issues/7": ISSUE,
    "/comments": [],
    "/models": {"object": "list", "data": []},
    "/chat/completions": {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [CHOICE]},
    "/embeddings": {"object": "list", "model": "m", "data": [{"object": "embedding", "index": 0, "embedding": [1.0]}]},
    "/search": {"results": []},
    "/usage": {},
    "/heartbeat": {"nanosecond heartbeat": 1},
    "/identity": {"user_id": "", "tenant": "default_tenant", "databases": ["default_database"]},
    "/default_database": {"id": "0" * 32, "name": "default_database", "tenant": "default_tenant"},
}
"""What any service answers, by the end of the path."""


@contextmanager
def service() -> Iterator[tuple[int, list[str]]]:
    """All services at once, without TLS: the port, and what was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
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

        def log_message(self, *_: Any) -> None:
            """Silence."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield http.server_port, asked
        http.shutdown()


async def ask_model(url: str, network: Network) -> str:
    try:
        await Endpoint(KEY, "r", url, network).chat_client("m").ainvoke("well?")
    except REQUEST_ERRORS as error:
        return classify_error(error).reason
    return ""


async def ask_embeddings(url: str, network: Network) -> str:
    try:
        Endpoint(KEY, "r", url, network).sdk_client.embeddings.create(input="x", model="m")
    except REQUEST_ERRORS as error:
        return classify_error(error).reason
    return ""


async def ask_collector(url: str, network: Network) -> str:
    journal = FakeProgressLog()
    intake = OtlpEndpoint(url=f"{url}/v1/traces", headers={"authorization": KEY})
    OtlpExporter(Collector(traces=intake), journal, SecretRedactor([]), network, seconds=1.0).export(REPORT)
    (line,) = journal.lines
    return line if "not sent" in line else ""


async def look_for_model(url: str, network: Network) -> str:
    try:
        model_reached(Endpoint(KEY, "r", url, network), [])
    except TriageError as error:
        return str(error)
    return ""


Client = Callable[[str, Network], Awaitable[str]]
CLIENTS: dict[str, Client] = {
    "model": ask_model,
    "embeddings": ask_embeddings,
    "collector": ask_collector,
    "model's probe": look_for_model,
}
"""Ask a service at an address. What went wrong, in the words that a report or the log has; empty when nothing did."""


@dataclass
class Street:
    """A service behind TLS, and a proxy before it."""

    company: CertificateAuthority
    proxy: Proxy
    port: int
    asked: list[str]

    def network(self, login: str = LOGIN, **more: str) -> Network:
        environ = {
            "HTTPS_PROXY": f"http://{login}@127.0.0.1:{self.proxy.port}",
            "SSL_CERT_FILE": str(self.company.file),
        }
        return read_network(environ | more)[0]


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return CertificateAuthority(tmp_path_factory.mktemp("company"))


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return CertificateAuthority(tmp_path_factory.mktemp("strangers"))


@pytest.fixture
def street(
    company: CertificateAuthority, strangers: CertificateAuthority, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Street]:
    # Whoever reads variables on its own goes astray.
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("SSL_CERT_FILE", str(strangers.file))
    with ExitStack() as stack:
        plain, asked = stack.enter_context(service())
        port = stack.enter_context(serve_tls(plain, company.issue_certificate(NAME, "localhost")))
        proxy = stack.enter_context(serve_proxy(Proxy(login=BASIC_AUTH, ports={NAME: port})))
        yield Street(company, proxy, port, asked)


every_client = pytest.mark.parametrize("ask", CLIENTS.values(), ids=CLIENTS)


@every_client
async def test_the_proxy_is_used_with_its_login_and_the_authority_is_trusted(ask: Client, street: Street):
    assert await ask(f"https://{NAME}:8443/api", street.network()) == ""
    assert street.proxy.hosts == {NAME}
    assert street.asked


@every_client
async def test_a_refused_proxy_login_is_reported_as_such(ask: Client, street: Street):
    said = await ask(f"https://{NAME}", street.network("work:wr0ng-w0rd"))
    assert "the proxy refuses the login (407)" in said
    assert "wr0ng" not in said
    assert street.asked == []


@every_client
async def test_without_a_proxy_the_connection_is_direct(ask: Client, street: Street):
    direct = street.network(NO_PROXY=f"other.example, LOCALHOST:{street.port}")
    assert await ask(f"https://localhost:{street.port}", direct) == ""
    assert street.proxy.request_lines == []


@every_client
@pytest.mark.parametrize("manner", ["garbage", "hang up"])
async def test_a_broken_proxy_is_an_ordinary_failure(ask: Client, manner: str, street: Street):
    street.proxy.misbehavior = manner
    said = await ask(f"https://{NAME}", street.network())
    assert said
    assert not any(word in said for word in (PASSWORD, LOGIN, BASIC_AUTH, "ESMTP"))
    assert street.asked == []


@every_client
async def test_a_server_with_an_untrusted_certificate_is_refused(
    ask: Client, street: Street, strangers: CertificateAuthority
):
    with serve_tls(9, strangers.issue_certificate(NAME)) as port:
        street.proxy.ports = {NAME: port}
        assert "authority that is not trusted" in await ask(f"https://{NAME}", street.network())


@every_client
async def test_a_certificate_of_another_host_is_refused(ask: Client, street: Street):
    network = street.network(NO_PROXY="127.0.0.1")
    assert "its certificate is for another host" in await ask(f"https://127.0.0.1:{street.port}", network)
    assert street.asked == []


@every_client
async def test_an_expired_certificate_is_refused(ask: Client, street: Street):
    with serve_tls(9, street.company.issue_certificate(NAME, expired=True)) as port:
        street.proxy.ports = {NAME: port}
        assert "its certificate has expired" in await ask(f"https://{NAME}", street.network())


@every_client
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_redirects_are_not_followed(ask: Client, status: int, street: Street):
    with service() as (elsewhere, asked), serve_redirect(f"http://127.0.0.1:{elsewhere}/", status) as (port, first):
        assert await ask(f"http://127.0.0.1:{port}", Network())
        assert first
        assert asked == []


@every_client
async def test_a_proxy_may_be_behind_tls_and_a_service_without(ask: Client, street: Street):
    with (
        service() as (plain, asked),
        serve_proxy(Proxy(BASIC_AUTH), street.company.issue_certificate("localhost")) as proxy,
    ):
        proxy.ports = {NAME: plain}
        environ = {
            "all_proxy": f"https://{LOGIN}@localhost:{proxy.port}",
            "REQUESTS_CA_BUNDLE": str(street.company.file),
        }
        assert await ask(f"http://{NAME}", read_network(environ)[0]) == ""
        assert proxy.hosts == {NAME}
        assert asked


@every_client
async def test_ipv6_addresses_work(ask: Client, company: CertificateAuthority):
    with service() as (plain, asked), serve_tls(plain, company.issue_certificate("::1"), "::1") as port:
        trusting = Network(authorities=CertificateAuthorities(extra=company.file))
        assert await ask(f"https://[::1]:{port}/deep/api", trusting) == ""
        assert asked
        assert all(path.startswith("/deep/api/") for path in asked)


@pytest.mark.parametrize("wants_a_key", [False, True])
async def test_a_collector_may_have_certificates_of_its_own(
    wants_a_key: bool, company: CertificateAuthority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    certificate = company.issue_certificate("localhost")
    network = Network()
    if wants_a_key:
        certificate.load_verify_locations(company.file)
        certificate.verify_mode = ssl.CERT_REQUIRED
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", str(company.issue_client_key("runner.example")))
        network = Network(authorities=CertificateAuthorities(paths=(company.file,)))
    else:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", str(company.file))
    with service() as (plain, asked), serve_tls(plain, certificate) as port:
        assert await ask_collector(f"https://localhost:{port}", network) == ""
        assert asked
        if wants_a_key:
            assert await ask_model(f"https://localhost:{port}", network), "the key is the collector's only"


@every_client
async def test_a_closed_port_is_an_ordinary_failure(ask: Client):
    assert await ask("http://127.0.0.1:9", Network())


@every_client
async def test_no_login_is_read_from_netrc(ask: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login mallory password m4llory")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    heads: list[bytes] = []
    with serve_tcp(lambda line: heads.append(read_head(line))) as port:
        assert await ask(f"http://127.0.0.1:{port}", Network())
    assert heads
    assert all(b"uthorization: Basic" not in head for head in heads)


TABLE: dict[str, list[str]] = {
    "example.com": [
        "https://example.com",
        "https://api.example.com:8443/x",
        "https://EXAMPLE.com.",
        "http://a.b.example.com",
    ],
    ".example.com": ["https://example.com", "https://api.example.com"],
    "*.example.com": ["https://api.example.com"],
    "Example.COM": ["https://example.com"],
    "example.com:443": ["https://example.com", "https://example.com:443/"],
    "example.com:8443": ["https://example.com:8443"],
    "localhost": ["http://localhost:3000"],
    "10.0.0.0/8": ["http://10.1.2.3", "http://[::ffff:10.1.2.3]"],
    "10.1.2.3": ["http://10.1.2.3:9"],
    "10.1.2.3:80": ["http://10.1.2.3"],
    "::1": ["http://[::1]:8000"],
    "[::1]": ["http://[::1]"],
    "[::1]:8000": ["http://[::1]:8000"],
    "fd00::/8": ["http://[fd12::7]"],
    "[fd00::]/8": ["http://[fd12::7]"],
    "*": ["https://anything.example", "http://10.1.2.3", "http://[::1]"],
}
FAR: dict[str, list[str]] = {
    "example.com": ["https://notexample.com", "https://example.com.evil.test", "https://example.org"],
    ".example.com": ["https://badexample.com"],
    "example.com:443": ["https://example.com:8443", "http://example.com"],
    "10.0.0.0/8": ["http://11.0.0.1", "http://10.example.com", "http://[::1]"],
    "10.1.2.3": ["http://10.1.2.30", "http://110.1.2.3"],
    "1.2.3": ["http://10.1.2.3"],
    "fd00::/8": ["http://10.0.0.1", "http://fd00.example"],
    "": ["http://example.com"],
    ".": ["http://example.com"],
    "com:x": ["http://example.org"],
    "[": ["http://[::1]"],
    "1/2/3": ["http://1.2.3.4"],
}


def through(entry: str, url: str) -> str | None:
    return read_network({"http_proxy": "p:1", "https_proxy": "p:2", "NO_PROXY": f" x.test,{entry} "})[0].proxy_for(url)


@each_row(("entry", "url"), [(entry, url) for entry, urls in TABLE.items() for url in urls])
def test_a_match_in_no_proxy_is_a_direct_connection(entry: str, url: str):
    assert through(entry, url) is None


@each_row(("entry", "url"), [(entry, url) for entry, urls in FAR.items() for url in urls])
def test_without_a_match_in_no_proxy_the_proxy_is_used(entry: str, url: str):
    assert through(entry, url) == ("http://p:2" if url.startswith("https") else "http://p:1")


@given(st.text(max_size=40), st.sampled_from(["https://api.example.com:8443/x", "http://10.1.2.3", "http://[::1]:80"]))
def test_any_entry_of_no_proxy_is_accepted(entry: str, url: str):
    assert through(entry, url) in (None, "http://p:1", "http://p:2")


@pytest.mark.parametrize(
    ("environ", "proxies"),
    [
        ({}, {}),
        ({"HTTPS_PROXY": "proxy:3128"}, {"https": "http://proxy:3128"}),
        ({"https_proxy": "http://small:1", "HTTPS_PROXY": "http://large:1"}, {"https": "http://small:1"}),
        ({"https_proxy": " ", "HTTPS_PROXY": "http://large:1/"}, {"https": "http://large:1"}),
        (
            {"ALL_PROXY": "http://all:1", "http_proxy": "http://one:1"},
            {"http": "http://one:1", "https": "http://all:1"},
        ),
        ({"https_proxy": "http://u:p%40ss@[fd00::1]:3128"}, {"https": "http://u:p%40ss@[fd00::1]:3128"}),
        ({"https_proxy": "socks5://far:1", "no_proxy": "a.test,*"}, {}),
    ],
)
def test_proxies_are_read_from_the_usual_variables(environ: dict[str, str], proxies: dict[str, str]):
    found = read_network(environ)[0].proxies
    assert {scheme: proxy.get_secret_value() for scheme, proxy in found.items()} == proxies


@each_row(
    ("environ", "words"),
    [
        ({"ALL_PROXY": "socks5h://u:s3cret@far:1080"}, "ALL_PROXY: SOCKS proxies are not supported"),
        ({"https_proxy": "ftp://s3cret@far"}, "https_proxy: the value is not a proxy URL"),
        ({"HTTP_PROXY": "http://s3cret@far:port"}, "HTTP_PROXY: the value is not a proxy URL"),
        ({"HTTP_PROXY": "http://u:s3cret/x@far:1"}, "HTTP_PROXY: "),
        ({"HTTP_PROXY": "http://u:s3cret#x@far:1"}, "HTTP_PROXY: "),
        ({"HTTP_PROXY": "http://far/s3cret"}, "HTTP_PROXY: percent-encode special characters"),
        ({"HTTP_PROXY": "http://[s3cret"}, "HTTP_PROXY: the value is not a proxy URL"),
        ({"HTTP_PROXY": "http://far:1\r\nX: s3cret"}, "HTTP_PROXY: the value is not a proxy URL"),
        ({"HTTP_PROXY": "http://:s3cret@"}, "HTTP_PROXY: the value is not a proxy URL"),
        ({"SSL_CERT_FILE": "/nonexistent/s3cret"}, "SSL_CERT_FILE: there is no such file."),
        ({"SSL_CERT_FILE": "/dev/zero"}, "SSL_CERT_FILE: there is no such file."),
        ({"REQUESTS_CA_BUNDLE": __file__}, "REQUESTS_CA_BUNDLE: the file has no PEM certificate."),
        ({"SSL_CERT_DIR": "/nonexistent"}, "SSL_CERT_DIR: there is no such file."),
    ],
)
def test_an_unusable_variable_is_named_without_its_value(environ: dict[str, str], words: str):
    with pytest.raises(BadInput) as refused:
        read_network(environ)
    assert str(refused.value).startswith(words)
    assert "s3cret" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_passwords_of_proxies_are_not_shown():
    network = read_network({"https_proxy": f"http://{LOGIN}@p:1"})[0]
    assert LOGIN not in repr(network) + str(network)


def test_authorities_are_found_below_the_workspace(company: CertificateAuthority):
    environ = {"GITHUB_WORKSPACE": str(company.file.parent), "CURL_CA_BUNDLE": company.file.name}
    assert read_network(environ)[0].authorities == CertificateAuthorities(paths=(company.file,))


def test_extra_authorities_may_be_missing(company: CertificateAuthority):
    network, warnings = read_network({"NODE_EXTRA_CA_CERTS": "/nonexistent", "SSL_CERT_FILE": str(company.file)})
    assert network.authorities == CertificateAuthorities(paths=(company.file,))
    assert warnings[0].startswith("NODE_EXTRA_CA_CERTS is not used: there is no such file.")


def test_extra_authorities_do_not_replace_the_default_ones(
    company: CertificateAuthority, strangers: CertificateAuthority
):
    def trusts(**environ: str) -> int:
        network = read_network(environ)[0]
        return len(network.ssl_context("https://x.test").get_ca_certs())

    assert trusts(SSL_CERT_FILE=str(company.file)) == 1
    assert trusts(SSL_CERT_FILE=str(company.file), NODE_EXTRA_CA_CERTS=str(strangers.file)) == 2
    assert trusts(NODE_EXTRA_CA_CERTS=str(company.file)) == trusts() + 1 > 100


def test_a_folder_of_authorities_is_trusted(company: CertificateAuthority, tmp_path: Path):
    digest = subprocess.run(
        ["openssl", "x509", "-hash", "-noout", "-in", str(company.file)], capture_output=True, text=True, check=True
    )
    (tmp_path / f"{digest.stdout.strip()}.0").symlink_to(company.file)
    network = read_network({"SSL_CERT_DIR": f"{tmp_path}:{tmp_path}"})[0]
    with service() as (plain, asked), serve_tls(plain, company.issue_certificate("localhost")) as port:
        assert asyncio.run(ask_model(f"https://localhost:{port}", network)) == ""
        assert asked
