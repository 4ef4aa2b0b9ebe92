"""Unusual networks: Enterprise servers, proxies, private authorities, unknown hosts, silent servers."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

from testing.environments.environment import Check, Environment, EnvironmentSetup, no_arrangement, no_checks
from testing.runs.job import JobResult
from testing.servers.tcp_servers import (
    BASIC_AUTH,
    LOGIN,
    PASSWORD,
    CertificateAuthority,
    Proxy,
    relay_to,
    serve_proxy,
    serve_silence,
    serve_slowly,
    serve_tcp,
    serve_tls,
)
from testing.servers.telemetry_collector import serve_collector

Around = Callable[[EnvironmentSetup], AbstractContextManager[Check]]
ENTERPRISE, TENANT = "ghe.corp.example", "tenant.ghe.com"
MODEL, SEARCH, COLLECTOR = "models.corp.example", "search.corp.example", "otel.corp.example"
PUBLIC = "//github.com", "api.github.com", "www.github.com"


def _check_links(setup: EnvironmentSetup) -> Check:
    """Returns a check that neither comment nor page link to github.com."""

    def check(done: JobResult) -> dict[str, bool]:
        text = "\n".join([*setup.comments, done.summary, *done.outputs.values()])
        return {
            "a link to github.com": any(word in text for word in PUBLIC),
            "no link to the code": f"{setup.server.pages}/octo/shop/blob/" not in "".join(setup.comments),
            "no link to the run": f"{setup.server.pages}/octo/shop/actions/runs/1" not in text,
        }

    return check


def _set_urls(setup: EnvironmentSetup, pages: str, api: str) -> None:
    setup.server.pages, setup.server.api_path = pages.rstrip("/"), urlsplit(api).path.rstrip("/")
    setup.job.variables |= {"GITHUB_SERVER_URL": pages, "GITHUB_API_URL": api}
    event = setup.job.folder / "temp" / "event.json"
    event.write_text(
        event.read_text(encoding="utf-8").replace("https://github.com", pages.rstrip("/")), encoding="utf-8"
    )


@contextmanager
def _enterprise(setup: EnvironmentSetup) -> Iterator[Check]:
    """With a port, a path, and slashes at the end."""
    _set_urls(setup, f"{setup.server.url}/git/", f"{setup.server.url}/git/api/v3/")
    yield _check_links(setup)


@contextmanager
def _private_authority(setup: EnvironmentSetup) -> Iterator[tuple[CertificateAuthority, ExitStack]]:
    with ExitStack() as stack:
        authority = CertificateAuthority(setup.job.folder / "temp" / "authority")
        setup.job.variables["SSL_CERT_FILE"] = str(authority.file)
        yield authority, stack


def _behind_proxy(pages: str, api: str) -> Around:
    """All servers are behind a proxy with a login, with certificates of a private authority."""

    @contextmanager
    def around(setup: EnvironmentSetup) -> Iterator[Check]:
        with _private_authority(setup) as (authority, stack), serve_collector() as collector:
            _set_urls(setup, pages, api)
            inner = {urlsplit(api).hostname or "": setup.server.url, COLLECTOR: collector.url}
            inner |= dict.fromkeys((MODEL, SEARCH), setup.services)
            ports = {
                host: stack.enter_context(serve_tls(urlsplit(url).port or 0, authority.issue_certificate(host)))
                for host, url in inner.items()
            }
            proxy = stack.enter_context(serve_proxy(Proxy(BASIC_AUTH, ports=ports)))
            setup.job.inputs["model-base-url"] = f"https://{MODEL}/v1"
            setup.job.variables |= {
                "https_proxy": f"http://{LOGIN}@127.0.0.1:{proxy.port}",
                "TAVILY_BASE_URL": f"https://{SEARCH}",
                "OTEL_EXPORTER_OTLP_ENDPOINT": f"https://{COLLECTOR}:4318",
            }
            check_links = _check_links(setup)

            def check(done: JobResult) -> dict[str, bool]:
                text = "\n".join(line for line in done.log.splitlines() if not line.startswith("::add-mask::"))
                return {
                    **check_links(done),
                    f"hosts {sorted(proxy.hosts)}": proxy.hosts != set(inner),
                    "no spans at the collector": not collector.spans,
                    "the proxy's login": any(word in text + done.summary for word in (PASSWORD, LOGIN, BASIC_AUTH)),
                }

            yield check

    return around


def _proxy(manner: str = "", login: str = LOGIN) -> Around:
    """A proxy before GitHub that does not work."""

    @contextmanager
    def around(setup: EnvironmentSetup) -> Iterator[Check]:
        with serve_proxy(Proxy(BASIC_AUTH, manner)) as proxy:
            setup.job.variables["HTTP_PROXY"] = f"http://{login}@127.0.0.1:{proxy.port}"

            def check(done: JobResult) -> dict[str, bool]:
                text = "\n".join(line for line in done.log.splitlines() if not line.startswith("::add-mask::"))
                return {
                    "the proxy got no request": not proxy.request_lines,
                    "GitHub got a request": bool(setup.server.requests),
                    "the proxy's login": any(word in text + done.summary for word in (PASSWORD, login, BASIC_AUTH)),
                }

            yield check

    return around


@contextmanager
def _ipv6_only(setup: EnvironmentSetup) -> Iterator[Check]:
    with serve_tcp(relay_to(urlsplit(setup.server.url).port or 0), "::1") as port:
        _set_urls(setup, f"http://[::1]:{port}", f"http://[::1]:{port}/api/v3")
        yield no_checks  # Links to such a host are not made.


def _with_certificate(*hosts: str, expired: bool = False, trusted: bool = True) -> Around:
    """GitHub at `localhost` has a certificate of a private authority for these hosts."""

    @contextmanager
    def around(setup: EnvironmentSetup) -> Iterator[Check]:
        with _private_authority(setup) as (authority, stack):
            certificate = authority.issue_certificate(*hosts, expired=expired)
            port = stack.enter_context(serve_tls(urlsplit(setup.server.url).port or 0, certificate))
            setup.job.variables["GITHUB_API_URL"] = f"https://localhost:{port}"
            if not trusted:
                del setup.job.variables["SSL_CERT_FILE"]
            yield no_checks

    return around


def _replace_server(what: str, server: Callable[[], AbstractContextManager[int]], scheme: str = "http") -> Around:
    """Replaces one of our servers: `what` is the variable or input with its URL."""

    @contextmanager
    def around(setup: EnvironmentSetup) -> Iterator[Check]:
        with server() as port:
            place = setup.job.variables if what.isupper() else setup.job.inputs
            place[what] = f"{scheme}://127.0.0.1:{port}"
            yield no_checks

    return around


@contextmanager
def _pages_and_api_on_one_host(setup: EnvironmentSetup) -> Iterator[Check]:
    _set_urls(setup, setup.server.url, f"{setup.server.url}/api/v3")
    yield _check_links(setup)


@contextmanager
def _unknown_search_host(setup: EnvironmentSetup) -> Iterator[Check]:
    setup.job.variables["TAVILY_BASE_URL"] = f"https://{UNKNOWN_HOST}"
    yield no_checks


@contextmanager
def _bypass_dead_proxy(setup: EnvironmentSetup) -> Iterator[Check]:
    github = f"localhost:{urlsplit(setup.server.url).port}"
    setup.job.variables |= {
        "HTTP_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": github,
        "GITHUB_API_URL": f"http://{github}",
    }
    yield no_checks


def _unreachable(around: Around = no_arrangement, expected_text: str = "", **more: Any) -> Environment:
    """GitHub cannot be reached: the issue of the event is triaged, for the page of the job only."""
    return Environment(arrange=around, expected_text=expected_text, comments=0, status="degraded", **more)


def _refused(expected_text: str, **variables: str) -> Environment:
    """A variable is wrong: an error says so before any request."""
    return Environment(variables, exit_code=1, comments=0, status="failed", expected_text=expected_text)


SHORT_TIMEOUTS = {"timeout-seconds": "8"}
UNKNOWN_HOST = "nobody.invalid"
SERVICES = {
    "model": "model-base-url",
    "search": "TAVILY_BASE_URL",
    "collector": "OTEL_EXPORTER_OTLP_ENDPOINT",
}

SERVERS: dict[str, Environment] = {
    "an Enterprise Server with a port, a path and slashes": Environment(arrange=_enterprise),
    "an Enterprise Server behind a proxy with a login": Environment(
        arrange=_behind_proxy(f"https://{ENTERPRISE}", f"https://{ENTERPRISE}/api/v3"), with_model=True
    ),
    "GHE.com behind a proxy with a login": Environment(
        arrange=_behind_proxy(f"https://{TENANT}", f"https://api.{TENANT}"), with_model=True
    ),
    "an Enterprise Server without GITHUB_API_URL": Environment(
        {"GITHUB_API_URL": None}, arrange=_pages_and_api_on_one_host
    ),
    "an Enterprise Server without GITHUB_SERVER_URL": Environment(
        {"GITHUB_SERVER_URL": None}, arrange=_pages_and_api_on_one_host
    ),
    "a GitHub with IPv6 only": Environment(arrange=_ipv6_only),
    "a public GitHub without TLS": _refused(
        "GITHUB_API_URL: http:// is allowed for loopback and private addresses",
        GITHUB_API_URL="http://api.github.com.evil.example",
    ),
    "a GitHub with an invalid URL": _refused(
        "GITHUB_SERVER_URL: the URL must not contain a user name", GITHUB_SERVER_URL="https://octo:cat@ghe.example"
    ),
}
PROXIES: dict[str, Environment] = {
    "a proxy that refuses the login": _unreachable(
        _proxy(login="worker:wr0ng-w0rd"), "the proxy refuses the login (407)"
    ),
    "a proxy that talks nonsense": _unreachable(_proxy("garbage"), "did not answer"),
    "a proxy that hangs up": _unreachable(_proxy("hang up"), "did not answer"),
    "a proxy that says nothing": _unreachable(_proxy("silence"), inputs=SHORT_TIMEOUTS),
    "a proxy that is down": _unreachable(
        expected_text="did not answer", variables={"HTTP_PROXY": "http://127.0.0.1:9"}
    ),
    "a proxy that is down, for all but GitHub": Environment(
        arrange=_bypass_dead_proxy, with_model=True, status="degraded", expected_text="connection failed"
    ),
    "a SOCKS proxy": _refused(
        "ALL_PROXY: the value is not the URL of an HTTP proxy", ALL_PROXY="socks5://127.0.0.1:1080"
    ),
}
CERTIFICATES: dict[str, Environment] = {
    "a private authority": Environment(arrange=_with_certificate("localhost")),
    "a certificate for another host": _unreachable(
        _with_certificate("other.example"), "its certificate is for another host"
    ),
    "a certificate that has expired": _unreachable(
        _with_certificate("localhost", expired=True), "its certificate has expired"
    ),
    "an unknown authority": _unreachable(
        _with_certificate("localhost", trusted=False), "an authority that is not trusted"
    ),
    "certificates that are not there": Environment(
        {"NODE_EXTRA_CA_CERTS": "/etc/nobody/has.pem"}, expected_text="NODE_EXTRA_CA_CERTS is not used"
    ),
}
NAMES: dict[str, Environment] = {
    "a GitHub with an unknown host name": _unreachable(variables={"GITHUB_API_URL": f"https://{UNKNOWN_HOST}"}),
    "a model with an unknown host name": Environment(
        inputs={"model-base-url": f"https://{UNKNOWN_HOST}/v1"},
        with_model=True,
        status="degraded",
        expected_text="connection failed",
    ),
    "a search with an unknown host name": Environment(
        arrange=_unknown_search_host, with_model=True, status="degraded", expected_text="connection failed"
    ),
    "a collector with an unknown host name": Environment(
        {"OTEL_EXPORTER_OTLP_ENDPOINT": f"https://{UNKNOWN_HOST}"}, expected_text="Telemetry not sent"
    ),
}
SILENCE: dict[str, Environment] = {
    "a GitHub that says nothing": _unreachable(_replace_server("GITHUB_API_URL", serve_silence), inputs=SHORT_TIMEOUTS),
    "a GitHub whose handshake hangs": _unreachable(
        _replace_server("GITHUB_API_URL", serve_silence, "https"), inputs=SHORT_TIMEOUTS
    ),
    "a GitHub that drips": _unreachable(_replace_server("GITHUB_API_URL", serve_slowly), inputs=SHORT_TIMEOUTS),
} | {
    f"a {name} that {what}": Environment(
        arrange=_replace_server(place, server, scheme),
        inputs=SHORT_TIMEOUTS if name in ("model", "search") else {},
        with_model=name in ("model", "search"),
        status="complete" if name == "collector" else "degraded",
    )
    for name, place in SERVICES.items()
    for what, server, scheme in (("drips", serve_slowly, "http"), ("hangs in the handshake", serve_silence, "https"))
}
NETWORKS: dict[str, Environment] = SERVERS | PROXIES | CERTIFICATES | NAMES | SILENCE
