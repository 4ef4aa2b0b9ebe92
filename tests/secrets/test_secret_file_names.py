import pytest

from triage.index.files.file_filter import get_skip_reason, load_text

HELD = """
.env .env.local a/.env.production prod.env .envrc server.pem tls.key id_rsa deploy/id_ed25519 id_rsa.bak x.ppk
terraform.tfstate terraform.tfstate.backup prod.tfvars .npmrc .netrc _netrc .pypirc .pgpass .git-credentials .htpasswd
credentials credentials.json .aws/config home/.ssh/config .docker/config.json secrets.yml config/secrets.json
client_secret_123.json service-account.json x.p12 x.jks passwords.kdbx .vault_pass .bash_history ID_RSA .ENV
git-credentials-1f2e.config
"""
READ = """
env.py .env.example .env.sample example.env .env.local.template terraform.tfvars.example credentials.py secrets.py
src/secret.rs id_rsa.pub id_generator.py keys.py key.go monkey.py environment.ts charts/a/templates/secrets.yaml
locale/en/credentials.json docs/secrets.md .envoy.yaml npmrc.ts tokens.json .github/workflows/secrets-scan.yml
"""


@pytest.mark.parametrize("path", HELD.split())
def test_files_made_for_secrets_are_left_out(path: str):
    assert get_skip_reason(path, 10) == "may hold secrets"


@pytest.mark.parametrize("path", READ.split())
def test_sources_and_samples_are_read(path: str):
    assert get_skip_reason(path, 10) is None


def test_a_path_with_a_secret_is_left_out():
    assert get_skip_reason("dumps/gh" + "p_" + "a1" * 18 + ".txt", 10) == "may hold secrets"


def test_rules_for_certain_files_match_their_paths():
    data = b'password = "hunter2hunter"\n'
    assert load_text(data, "main.tf")[0] == "password = [masked secret]\n"
    assert load_text(data, "main.py")[0] == data.decode()
