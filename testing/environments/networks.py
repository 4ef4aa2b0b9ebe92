"""Networks that are odd: servers of one's own, proxies, authorities, names that nobody knows, servers that say nothing."""

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


def _no_word_of_the_public_one(setting: EnvironmentSetup) -> Check:
    """Neither a comment nor the page of the job leads to the public GitHub."""

    def check(done: JobResult) -> dict[str, bool]:
        told = "\n".join([*setting.comments, done.summary, *done.outputs.values()])
        return {
            "a word of the public GitHub": any(word in told for word in PUBLIC),
            "no link to the code": f"{setting.server.pages}/octo/shop/blob/" not in "".join(setting.comments),
            "no link to the run": f"{setting.server.pages}/octo/shop/actions/runs/1" not in told,
        }

    return check


def _at(setting: EnvironmentSetup, pages: str, api: str) -> None:
    setting.server.pages, setting.server.api_path = pages.rstrip("/"), urlsplit(api).path.rstrip("/")
    setting.job.variables |= {"GITHUB_SERVER_URL": pages, "GITHUB_API_URL": api}
    event = setting.job.folder / "temp" / "event.json"
    event.write_text(
        event.read_text(encoding="utf-8").replace("https://github.com", pages.rstrip("/")), encoding="utf-8"
    )


@contextmanager
def _enterprise(setting: EnvironmentSetup) -> Iterator[Check]:
    """With a port, a path, and slashes at the end."""
    _at(setting, f"{setting.server.url}/git/", f"{setting.server.url}/git/api/v3/")
    yield _no_word_of_the_public_one(setting)


@contextmanager
def _company(setting: EnvironmentSetup) -> Iterator[tuple[CertificateAuthority, ExitStack]]:
    with ExitStack() as stack:
        company = CertificateAuthority(setting.job.folder / "temp" / "company")
        setting.job.variables["SSL_CERT_FILE"] = str(company.file)
        yield company, stack


def _behind_a_proxy(pages: str, api: str) -> Around:
    """Nothing is reached but by a proxy with a login, and everything has a certificate of the company's authority."""

    @contextmanager
    def around(setting: EnvironmentSetup) -> Iterator[Check]:
        with _company(setting) as (company, stack), serve_collector() as collector:
            _at(setting, pages, api)
            inner = {urlsplit(api).hostname or "": setting.server.url, COLLECTOR: collector.url}
            inner |= dict.fromkeys((MODEL, SEARCH), setting.services)
            ports = {
                host: stack.enter_context(serve_tls(urlsplit(url).port or 0, company.issue_certificate(host)))
                for host, url in inner.items()
            }
            proxy = stack.enter_context(serve_proxy(Proxy(BASIC_AUTH, ports=ports)))
            setting.job.inputs["model-base-url"] = f"https://{MODEL}/v1"
            setting.job.variables |= {
                "https_proxy": f"http://{LOGIN}@127.0.0.1:{proxy.port}",
                "TAVILY_BASE_URL": f"https://{SEARCH}",
                "OTEL_EXPORTER_OTLP_ENDPOINT": f"https://{COLLECTOR}:4318",
            }
            public = _no_word_of_the_public_one(setting)

            def check(done: JobResult) -> dict[str, bool]:
                told = "\n".join(line for line in done.log.splitlines() if not line.startswith("::add-mask::"))
                return {
                    **public(done),
                    f"asked {sorted(proxy.hosts)}": proxy.hosts != set(inner),
                    "nothing told to the collector": not collector.spans,
                    "the proxy's login": any(word in told + done.summary for word in (PASSWORD, LOGIN, BASIC_AUTH)),
                }

            yield check

    return around


def _proxy(manner: str = "", login: str = LOGIN) -> Around:
    """A proxy that does not do its work, for GitHub alone."""

    @contextmanager
    def around(setting: EnvironmentSetup) -> Iterator[Check]:
        with serve_proxy(Proxy(BASIC_AUTH, manner)) as proxy:
            setting.job.variables["HTTP_PROXY"] = f"http://{login}@127.0.0.1:{proxy.port}"

            def check(done: JobResult) -> dict[str, bool]:
                told = "\n".join(line for line in done.log.splitlines() if not line.startswith("::add-mask::"))
                return {
                    "the proxy was not asked": not proxy.request_lines,
                    "GitHub was asked": bool(setting.server.requests),
                    "the proxy's login": any(word in told + done.summary for word in (PASSWORD, login, BASIC_AUTH)),
                }

            yield check

    return around


@contextmanager
def _by_the_sixth_version(setting: EnvironmentSetup) -> Iterator[Check]:
    with serve_tcp(relay_to(urlsplit(setting.server.url).port or 0), "::1") as port:
        _at(setting, f"http://[::1]:{port}", f"http://[::1]:{port}/api/v3")
        yield no_checks  # nobody makes links to such an address


def _certified(*hosts: str, expired: bool = False, trusted: bool = True) -> Around:
    """GitHub has a certificate of the company's authority for these hosts, and is asked as `localhost`."""

    @contextmanager
    def around(setting: EnvironmentSetup) -> Iterator[Check]:
        with _company(setting) as (company, stack):
            certificate = company.issue_certificate(*hosts, expired=expired)
            port = stack.enter_context(serve_tls(urlsplit(setting.server.url).port or 0, certificate))
            setting.job.variables["GITHUB_API_URL"] = f"https://localhost:{port}"
            if not trusted:
                del setting.job.variables["SSL_CERT_FILE"]
            yield no_checks

    return around


def _instead_of(what: str, server: Callable[[], AbstractContextManager[int]], scheme: str = "http") -> Around:
    """Another server stands where one of ours is looked for: by the name of a variable or of an input."""

    @contextmanager
    def around(setting: EnvironmentSetup) -> Iterator[Check]:
        with server() as port:
            place = setting.job.variables if what.isupper() else setting.job.inputs
            place[what] = f"{scheme}://127.0.0.1:{port}"
            yield no_checks

    return around


@contextmanager
def _pages_only(setting: EnvironmentSetup) -> Iterator[Check]:
    _at(setting, setting.server.url, f"{setting.server.url}/api/v3")
    yield _no_word_of_the_public_one(setting)


@contextmanager
def _search_of_nobody(setting: EnvironmentSetup) -> Iterator[Check]:
    setting.job.variables["TAVILY_BASE_URL"] = f"https://{NOBODY}"
    yield no_checks


@contextmanager
def _past_a_dead_proxy(setting: EnvironmentSetup) -> Iterator[Check]:
    setting.job.variables |= {"HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": f"127.0.0.0/8:{_port(setting)}"}
    yield no_checks


def _port(setting: EnvironmentSetup) -> int:
    return urlsplit(setting.server.url).port or 0


def _unreached(around: Around = no_arrangement, told: str = "", **more: Any) -> Environment:
    """GitHub cannot be asked: the issue is triaged as the event tells it, for the job's page only."""
    return Environment(arrange=around, expected_text=told, comments=0, status="degraded", **more)


def _refused(told: str, **variables: str) -> Environment:
    """Somebody must mend a variable, and is told so before anything is asked."""
    return Environment(variables, exit_code=1, comments=0, status="failed", expected_text=told)


HURRIED = {"timeout-seconds": "8", "agent-timeout-seconds": "2", "tool-timeout-seconds": "2"}
NOBODY = "nobody.invalid"
SERVICES = {
    "model": "model-base-url",
    "search": "TAVILY_BASE_URL",
    "Chroma": "chroma-url",
    "collector": "OTEL_EXPORTER_OTLP_ENDPOINT",
}

SERVERS: dict[str, Environment] = {
    "an Enterprise Server with a port, a path and slashes": Environment(arrange=_enterprise),
    "an Enterprise Server behind a proxy with a login": Environment(
        arrange=_behind_a_proxy(f"https://{ENTERPRISE}", f"https://{ENTERPRISE}/api/v3"), with_model=True
    ),
    "GHE.com behind a proxy with a login": Environment(
        arrange=_behind_a_proxy(f"https://{TENANT}", f"https://api.{TENANT}"), with_model=True
    ),
    "an Enterprise Server whose API is not told": Environment({"GITHUB_API_URL": None}, arrange=_pages_only),
    "an Enterprise Server whose pages are not told": Environment({"GITHUB_SERVER_URL": None}, arrange=_pages_only),
    "a GitHub by the sixth version alone": Environment(arrange=_by_the_sixth_version),
    "a GitHub without TLS far away": _refused(
        "GITHUB_API_URL: http:// is allowed for loopback and private addresses",
        GITHUB_API_URL="http://api.github.com.evil.example",
    ),
    "a GitHub whose address is none": _refused(
        "GITHUB_SERVER_URL: the URL must not contain a user name", GITHUB_SERVER_URL="https://octo:cat@ghe.example"
    ),
}
PROXIES: dict[str, Environment] = {
    "a proxy that refuses the login": _unreached(
        _proxy(login="worker:wr0ng-w0rd"), "the proxy refuses the login (407)"
    ),
    "a proxy that talks nonsense": _unreached(_proxy("garbage"), "did not answer"),
    "a proxy that hangs up": _unreached(_proxy("hang up"), "did not answer"),
    "a proxy that says nothing": _unreached(_proxy("silence"), inputs=HURRIED),
    "a proxy that is down": _unreached(told="did not answer", variables={"HTTP_PROXY": "http://127.0.0.1:9"}),
    "a proxy that is down, for all but GitHub": Environment(
        arrange=_past_a_dead_proxy, with_model=True, status="degraded", expected_text="connection failed"
    ),
    "a proxy by SOCKS": _refused("ALL_PROXY: SOCKS proxies are not supported", ALL_PROXY="socks5://127.0.0.1:1080"),
    "a proxy by SOCKS that is not to be used": Environment({"ALL_PROXY": "socks5://127.0.0.1:1", "no_proxy": "*"}),
}
CERTIFICATES: dict[str, Environment] = {
    "a company's authority": Environment(arrange=_certified("localhost")),
    "a certificate for another host": _unreached(_certified("other.example"), "its certificate is for another host"),
    "a certificate that has expired": _unreached(_certified("localhost", expired=True), "its certificate has expired"),
    "an authority that nobody knows": _unreached(
        _certified("localhost", trusted=False), "an authority that is not trusted"
    ),
    "certificates that are not there": _refused(
        "REQUESTS_CA_BUNDLE: there is no such file.", REQUESTS_CA_BUNDLE="/etc/nobody/has.pem"
    ),
    "further certificates that are not there": Environment(
        {"NODE_EXTRA_CA_CERTS": "/etc/nobody/has.pem"}, expected_text="NODE_EXTRA_CA_CERTS is not used"
    ),
}
NAMES: dict[str, Environment] = {
    "a GitHub whose name nobody knows": _unreached(variables={"GITHUB_API_URL": f"https://{NOBODY}"}),
    "a model whose name nobody knows": Environment(
        inputs={"model-base-url": f"https://{NOBODY}/v1"},
        with_model=True,
        status="degraded",
        expected_text="connection failed",
    ),
    "a search whose name nobody knows": Environment(
        arrange=_search_of_nobody, with_model=True, status="degraded", expected_text="connection failed"
    ),
    "a Chroma whose name nobody knows": Environment(
        inputs={"chroma-url": f"https://{NOBODY}"},
        status="degraded",
        expected_text="The Chroma server did not take the vectors",
    ),
    "a collector whose name nobody knows": Environment(
        {"OTEL_EXPORTER_OTLP_ENDPOINT": f"https://{NOBODY}"}, expected_text="Telemetry not sent"
    ),
}
SILENCE: dict[str, Environment] = {
    "a GitHub that says nothing": _unreached(_instead_of("GITHUB_API_URL", serve_silence), inputs=HURRIED),
    "a GitHub whose handshake hangs": _unreached(_instead_of("GITHUB_API_URL", serve_silence, "https"), inputs=HURRIED),
    "a GitHub that drips": _unreached(_instead_of("GITHUB_API_URL", serve_slowly), inputs=HURRIED),
} | {
    f"a {name} that {what}": Environment(
        arrange=_instead_of(place, server, scheme),
        inputs=HURRIED if name in ("model", "search") else {},
        with_model=name in ("model", "search"),
        status="complete" if name == "collector" else "degraded",
    )
    for name, place in SERVICES.items()
    for what, server, scheme in (("drips", serve_slowly, "http"), ("hangs in the handshake", serve_silence, "https"))
}
NETWORKS: dict[str, Environment] = SERVERS | PROXIES | CERTIFICATES | NAMES | SILENCE
