"""Likely secrets are masked."""

import re
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.cost_growth import assert_grows_linearly, repeat_to
from testing.each_row import each_row
from testing.text.secret_forms import PASSWORD, SECRET_FORMS, TOKEN
from tests.safety.secrets.secret_samples import generate_secrets, get_rule
from triage.safety.secrets.likely_secrets import (
    LIKELY_SECRET_PLACEHOLDER,
    RULES,
    redact_likely_secrets,
)
from triage.safety.secrets.secret_rules import CONTEXT_RULES, Rule

A36 = "abcdefghijklmnopqrstuvwxyz0123456789"
LINE = "Ab1+" * 16
KEY = f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{LINE}\n{LINE}\nAbc1dEF=\n-----END RSA PRIVATE KEY-----"
RANDOM = "x7Kq9ZpL2mVb4TnR8sWd"


@each_row("rule", RULES)
def test_every_rule_masks_what_it_describes(rule: Rule):
    samples = list(islice(generate_secrets(rule, seed=1), 2))
    assert samples, "the pattern can match, and its exceptions do not cover everything"
    for text, secret in samples:
        left = redact_likely_secrets(f"{rule.keywords[0]}\n{text}\nafter\n")
        assert secret not in left
        assert LIKELY_SECRET_PLACEHOLDER in left
        assert left.count("\n") == text.count("\n") + 3
        assert left.startswith(f"{rule.keywords[0]}\n")
        assert left.endswith("after\n")


@each_row(
    "token",
    [
        f"ghp_{A36}",
        f"ghs_123_ey{A36}.ey{A36}.{A36}",
        f"github_pat_{A36}{A36}",
        f"glpat-{A36}",
        "AKIA" + "IOSFODNN7EXAMPLE",
        f"sk-{A36}",
        f"sk_live_{A36}",
        f"xoxb-{A36}",
        f"AIza{A36[:35]}",
        f"tvly-{A36}",
        f"npm_{A36}",
        f"pypi-{A36}{A36}",
        f"lsv2_pt_{A36}",
        "hf_" + "a" * 34,
    ],
)
def test_tokens_of_services_are_masked_examples_too(token: str):
    assert redact_likely_secrets(f'KEY = "{token}"  # ours\n') == 'KEY = "[masked secret]"  # ours\n'


@each_row(
    ("text", "left"),
    [
        (f"AUTHORIZATION: basic {RANDOM}==", f"AUTHORIZATION: basic {LIKELY_SECRET_PLACEHOLDER}"),
        (f'"Authorization": "Bearer {RANDOM}"', f'"Authorization": "Bearer {LIKELY_SECRET_PLACEHOLDER}"'),
        (f"postgres://shop:{RANDOM}@db/x", f"postgres://shop:{LIKELY_SECRET_PLACEHOLDER}@db/x"),
        (f"Server=db;User=sa;Password={RANDOM};", f"Server=db;User=sa;Password={LIKELY_SECRET_PLACEHOLDER};"),
        (f"aws_secret_access_key = {'aB3/' * 10}", f"aws_secret_access_key = {LIKELY_SECRET_PLACEHOLDER}"),
        (f'api_key = "{RANDOM}"\r\nx = 1', f'api_key = "{LIKELY_SECRET_PLACEHOLDER}"\r\nx = 1'),
        (f'äöü = 1; api_key = "{RANDOM}"', f'äöü = 1; api_key = "{LIKELY_SECRET_PLACEHOLDER}"'),
        (f'\ud800 api_key = "{RANDOM}"', f'\ud800 api_key = "{LIKELY_SECRET_PLACEHOLDER}"'),
        ("key: LS0tLS1CRUdJTi" + "Ab1+" * 30 + "==", f"key: {LIKELY_SECRET_PLACEHOLDER}"),
    ],
)
def test_only_the_secret_goes(text: str, left: str):
    assert redact_likely_secrets(text) == left


@each_row("form", SECRET_FORMS)
def test_a_secret_that_is_known_by_the_words_around_it_is_masked(form: str):
    text, secret = SECRET_FORMS[form]
    for before, after in [("", ""), ("before\n", "\nafter\n"), ("> ", "\r\n")]:
        left = redact_likely_secrets(f"{before}{text}{after}")
        assert secret not in left
        assert left.startswith(before)
        assert left.endswith(after)
        assert left.count("\n") == f"{before}{text}{after}".count("\n")


@each_row("rule", CONTEXT_RULES)
def test_every_rule_has_a_form(rule: Rule):
    assert any(list(rule.find(text.encode(), "")) for text, _ in SECRET_FORMS.values())


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"Set-Cookie: sid={TOKEN}; Path=/; SameSite=Lax", "Set-Cookie: sid=[masked secret]; Path=/; SameSite=Lax"),
        (f"url=postgres://shop:{PASSWORD}@db/x?ssl=1", "url=postgres://shop:[masked secret]@db/x?ssl=1"),
        (f"The password: {PASSWORD}.", "The password: [masked secret]."),
        (f"GET /v1?api_key={TOKEN}&page=2#top", "GET /v1?api_key=[masked secret]&page=2#top"),
    ],
)
def test_what_is_around_such_a_secret_stays(text: str, left: str):
    assert redact_likely_secrets(text) == left


@each_row(
    "written",
    [
        KEY,
        KEY.replace("\n", "\r\n"),
        KEY.replace("\n", "\\n"),
        KEY.replace("\n", " "),
        "".join(f"    {line}\n" for line in KEY.split("\n")),
        "".join(f'"{line}\\n" +\n' for line in KEY.split("\n")),
        KEY.replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"),
        KEY.replace("RSA ", "") + KEY,
    ],
)
def test_private_keys_are_masked_to_their_last_line(written: str):
    left = redact_likely_secrets(f"x = 1\n{written}\ny = 2\n")
    assert not re.search("Ab1|1dEF", left)
    assert "Proc-Type: 4,ENCRYPTED" in left
    assert left.count("\n") == written.count("\n") + 3
    assert left.startswith("x = 1\n")
    assert left.endswith("\ny = 2\n")


def test_a_private_key_whose_end_is_missing_is_masked():
    assert LINE not in redact_likely_secrets(KEY.partition("-----END")[0])


@each_row(
    "text",
    [
        "sk-no-key-required",
        "sk-spinner-circle-fade-delay-and-some-more-words",
        "task-list-of-things",
        "ghp_short",
        'if "-----BEGIN PRIVATE KEY-----" in text:\n    return parseTheWholeDocument(text)\n',
        'a = "-----BEGIN PRIVATE KEY-----"\nthisIsALongNameInAProgram()\nb = "-----END PRIVATE KEY-----"\n',
        "sha = 'da39a3ee5e6b4b0d3255bfef95601890afd80709'\n",
        'TIME_ZONE_KEY = "Europe/Helsinki"',
        "token = self.request.session.csrf_token",
        "headers['Authorization'] = f'Bearer {token}'",
        "postgres://user:password@localhost/db",
        "postgres://user:${PASSWORD}@localhost/db",
        'password = os.environ["DATABASE_PASSWORD"]',
        "password=form.cleaned_data.password1, token=tokens[0].value2",
        "secret := &corev1.Secret{}",
        "DB_PASSWORD=${DB_PASSWORD_2}",
        "DB_PASSWORD=$SHOP_PASSWORD_1,host=x1",
        "password: change-me-1!",
        "spring.datasource.password=sunflower",
        "const token = api1.getToken2();",
        "token: 2030-01-01T00:00:00Z",
        "from: https://localhost:8080/users/@mona",
        "https://acme.com:443/a/b@v1.2.3",
        "pip install git+ssh://git@github.com:acme/shop.git@v1.0.0",
        "https://acme.com/search?key=name&page=2",
        "<password>${db.password}</password>",
        "curl -u $USER:$PASSWORD https://acme.com",
        "mysql -u root -p shop",
        "docker run -p 8080:80 mysql -P 3306",
        "Cookie: theme=dark; lang=en",
        "response.set_cookie(key, value2)",
        "Set-Cookie: theme=dark; Expires=Wed, 21 Oct 2015 07:28:00 GMT",
        "The default password is admin1, on every machine you log in to.",
        "src/app.c:5432:12:error:expected",
        "It costs $1$ or $2$ and $6$ more.",
        "Private-Lines: 12 and other words that are not a key",
        LIKELY_SECRET_PLACEHOLDER,
        "",
    ],
)
def test_other_text_stays(text: str):
    assert redact_likely_secrets(text) == text


def test_rules_for_certain_files_apply_there_and_to_text_without_a_file():
    rule = get_rule("hashicorp-tf-password")
    text, secret = next(generate_secrets(rule, seed=1))
    assert secret not in redact_likely_secrets(text, "main.tf")
    assert secret not in redact_likely_secrets(text)
    assert not list(rule.find(text.encode(), "main.py"))


@given(
    st.text(max_size=300) | st.lists(st.sampled_from([KEY, f"ghp_{A36}", "pwd=", ";", "key: ", "\n", "ä"])).map("".join)
)
def test_lines_are_kept_and_redacting_twice_changes_nothing(text: str):
    left = redact_likely_secrets(text)
    assert left.count("\n") == text.count("\n")
    assert redact_likely_secrets(left) == left


SHAPES = [
    "sk-",
    "ghp_",
    "-----BEGIN PRIVATE KEY-----\n",
    "xoxb-",
    f"api_key='{RANDOM}' ",
    "curl -u a:b ",
    "ey" + A36 + ".",
    *(
        "curl -u a",
        "curl \\\n",
        "mysql -u ",
        "cookie: a=b; ",
        "set-cookie: a=",
        "machine a login b ",
        "a://b:c/",
        "?key=",
    ),
    *("password", "password=Aa1#", "$2a$05$", "otpauth://?", "Private-Lines: 1\n", "---- END", "<token>", ":5432:a:b:"),
]


@each_row("shape", [*SHAPES, f"; password={RANDOM}", "kind: secret data: ", "key=", "://a:", "Ab1+" * 12])
def test_hostile_text_takes_linear_time(shape: str):
    redact_likely_secrets(shape * 100)  # compiles the rules that it needs
    assert_grows_linearly(repeat_to(shape), redact_likely_secrets)


def test_a_private_key_of_headers_takes_linear_time():
    assert_grows_linearly(lambda size: KEY.partition("\n")[0] + repeat_to("Hash:a ")(size), redact_likely_secrets)
