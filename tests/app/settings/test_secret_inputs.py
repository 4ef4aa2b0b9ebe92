"""Which variables hold secrets of ours, and which only sound like it."""

from testing.each_row import each_row
from triage.app.settings.inputs import PLACEHOLDER_KEY
from triage.app.settings.secret_inputs import collect_own_secrets, remove_own_variables


@each_row(
    ("name", "value", "secrets"),
    [
        ("INPUT_GITHUB-TOKEN", " ghs_1234567890 ", ["ghs_1234567890"]),
        ("INPUT_MODEL-API-KEY", "a key with spaces", ["a key with spaces"]),  # which is refused, and not shown
        ("INPUT_TAVILY-API-KEY", "tvly-%41b", ["tvly-%41b", "tvly-Ab"]),
        ("TRIAGE_MODEL_API_KEY", "sk-1234567890", ["sk-1234567890"]),
        ("INPUT_MODEL-API-KEY", PLACEHOLDER_KEY, []),
        ("INPUT_MODEL", "gpt-4o", []),
        ("INPUT_MODEL-BASE-URL", "https://bot:p%40ssword@llm.example/v1", ["p%40ssword", "p@ssword"]),
        ("INPUT_CHROMA-URL", "https://a-token-of-mine@chroma.example", ["a-token-of-mine"]),
        ("INPUT_MODEL-BASE-URL", "https://llm.example/v1?api-version=2026-01-01&api-key=k123", ["k123"]),
        ("HTTPS_PROXY", "http://bot:hunter2hunter2@proxy:3128", ["hunter2hunter2"]),
        ("http_proxy", "bot:hunter2hunter2@proxy:3128", ["hunter2hunter2"]),
        ("HTTPS_PROXY", "http://[bad", []),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://u:pass-word@otel.example", ["pass-word"]),
        (
            "OTEL_EXPORTER_OTLP_HEADERS",
            "Authorization=Bearer%20k3yk3yk3y,x-dataset=bug-triage",
            ["Bearer k3yk3yk3y", "k3yk3yk3y"],
        ),
        (
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
            "authorization=Basic dXNlcjpwYXNzd29yZA==",
            ["Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA==", "password"],
        ),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-honeycomb-team=hcaik01", ["hcaik01"]),
        ("OTEL_EXPORTER_OTLP_HEADERS", "nonsense", []),
        ("PATH", "/usr/bin:/bin", []),
    ],
)
def test_a_variable(name: str, value: str, secrets: list[str]):
    assert collect_own_secrets({name: value, "LANG": "C"}) == secrets


def test_a_program_of_the_project_gets_no_key_of_ours() -> None:
    of_the_project = {
        "PATH": "/usr/bin",
        "DATABASE_URL": "postgres://test:test-password@localhost/x",
        "HTTPS_PROXY": "http://bot:hunter2hunter2@proxy:3128",
        "SHORT": "abc",
    }
    removed = {
        "TRIAGE_MODEL_API_KEY": "sk-1234567890",
        "TRIAGE_TAVILY_API_KEY": "abc",
        "TRIAGE_MODEL": "gpt-4o",
        "INPUT_GITHUB-TOKEN": "ghs_1234567890",
        "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20k3yk3yk3y",
        "OPENAI_API_KEY": "sk-1234567890",
        "PYTHONSAFEPATH": "1",
        "GIT_CONFIG_VALUE_0": "AUTHORIZATION: bearer ghs_1234567890",
        "OTHER": "x k3yk3yk3y",
    }
    assert remove_own_variables(of_the_project | removed) == of_the_project
