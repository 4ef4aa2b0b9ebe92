import pytest

from testing.cost_growth import assert_grows_linearly, repeat_to
from testing.each_row import each_row
from triage.find.files.file_filter import get_skip_reason
from triage.find.files.file_text import compress_text, open_text
from triage.safety.secrets.secret_file_names import may_hold_secrets

HELD = """
.env .env.local a/.env.production prod.env .envrc server.pem tls.key id_rsa deploy/id_ed25519 id_rsa.bak x.ppk
terraform.tfstate terraform.tfstate.backup prod.tfvars .npmrc .netrc _netrc .pypirc .pgpass .git-credentials .htpasswd
credentials credentials.json .aws/config home/.ssh/config .docker/config.json secrets.yml config/secrets.json
client_secret_123.json service-account.json x.p12 x.jks passwords.kdbx .vault_pass .bash_history ID_RSA .ENV
git-credentials-1f2e.config

.env~ .env-local .env_prod .env.example.local .env.sample~ .env.bom prod.env.bak serverless.env.yml cypress.env.json
.envrc.local .flaskenv.bak .dev.vars .dev.vars.staging .envs/.production/.django .envs/.local/.postgres a/.env/prod
netrc .netrc.bak .netrc~ .pgpass.bak credentials.json.bak .npmrc.old .pypirc.orig prod.tfvars.20240101 server.key.1
kubeconfig.yaml kubeconfig-prod prod.kubeconfig kubeconfig.prod.yml .secrets .secrets.local .secrets/token
id_rsa_prod2 id_rsa2 id_ed25519-work deploy_id_rsa.corp github_rsa deploy_ed25519 privkey private-key.txt
ssh_host_rsa_key ssh_host_ed25519_key.old ssh_host_key
application_default_credentials.json aws_credentials.csv my-firebase-adminsdk-1a2b.json
terraform.tfstate.d/prod/x group_vars/all/vault.yml host_vars/db/vault/main.yml vault_password
release.keystore keystore.properties x.bks wallet.dat .docker/config.json.bak prod.htpasswd etc/shadow etc/shadow-
.authinfo .authinfo.gpg s3cfg .s3cmd accessTokens.json azureProfile.json .oci/config gcp-key.json kaggle.json .cdsapirc
.sentryclirc .tugboat .gitlab-token kube.config ansible_vault.yml hudson.util.Secret tomcat-users.xml mgmt-users.properties
jenkins.plugins.publish_over_ssh.BapSshPublisherPlugin.xml config/credentials.yml.enc home.nmconnection a.mobileconfig
a.psafe3 a.kwallet login.keychain-db office.rdp a.rdg site.pubxml.user a.snk a.jwk a.pgpass a.age a.secret krb5cc_0 orapwORCL
passwd master.passwd etc/passwd davfs2.secrets wireguard.conf bitcoin.conf .odbc.ini .rediscli_auth .muttrc .offlineimaprc
.mbsyncrc .esmtprc .Xauthority sitemanager.xml recentservers.xml filezilla.xml WinSCP.ini ws_ftp.ini robomongo.json
credentials-config.json logins.json key4.db .gsutil/x .vnc/passwd .age/key.txt .davfs2/secrets .huggingface/token passwords.txt
db_passwords.csv api_keys.json access_tokens.yml mnemonic.txt private.asc key.json keyfile.json wallet.json .token token.txt
.m2/settings.xml .kamal/secrets-common local.settings.json sftp-config.json rclone.conf .psql_history aä_rsa
"""
READ = """
env.py .env.example .env.sample example.env .env.local.template terraform.tfvars.example credentials.py secrets.py
src/secret.rs id_rsa.pub id_generator.py keys.py key.go monkey.py environment.ts charts/a/templates/secrets.yaml
locale/en/credentials.json docs/secrets.md .envoy.yaml npmrc.ts tokens.json .github/workflows/secrets-scan.yml

.env.local.example .env-sample .env_template .envs/.production/.django.example .dev.vars.example .env.dist
sample.tfvars credentials.sample.json kubeconfig.template.yaml environment.yml env.yml app/env/models.py envs/base.py
id_rsa_prod2.pub ssh_host_rsa_key.pub id_rsa_parser.py kubeconfig.go kubeconfig_test.go docs/kubeconfig.md
triage/safety/secrets/redactor.py secrets/manager.go shadow.css box/shadow group_vars/all/main.yml vault/client.go
rsa.py crypto/rsa/rsa.go keystore.go store/wallet.ts htpasswd.py history.py private_key.rs privatekeys.md invalid_rsa_header.json
wp-config.php settings.py local_settings.py configuration.php config.inc.php LocalSettings.php config/database.yml
appsettings.json appsettings.Production.json web.config .yarnrc.yml pip.conf gradle.properties local.properties server.xml
context.xml google-services.json tnsnames.ora ipsec.conf odbc.h known_hosts authorized_keys a.crt a.cer a.csr jwks.json a.asc
locales/en/passwords.json knife.rb hosts.yml token.json docker/config.json auth.json proguard.map passwords.ts api_keys.md seed.txt knexfile.js
netrc.py test_netrc.py passwords.py settings.xml serverless.yml local.settings.ts .htaccess .dev.js
"""


@each_row("path", [*HELD.split(), ".env copy", "Copy of/.env (1)"])
def test_files_made_for_secrets_are_left_out(path: str):
    assert get_skip_reason(path, 10) == "may hold secrets"


@each_row("path", READ.split())
def test_sources_and_samples_are_read(path: str):
    assert get_skip_reason(path, 10) is None


def test_names_of_bytes_that_are_not_text_are_matched_too():
    assert may_hold_secrets("deploy/\udcff/\udcfe_rsa")
    assert not may_hold_secrets("deploy/\udcff/\udcfe.py")


@pytest.mark.parametrize("shape", [".1", "._-", ".env.example", "id_rsa_", "serviceaccount.json", "secrets.", "/.env"])
def test_hostile_names_take_linear_time(shape: str):
    assert_grows_linearly(repeat_to(shape), may_hold_secrets)


def test_a_path_with_a_secret_is_left_out():
    assert get_skip_reason("dumps/gh" + "p_" + "a1" * 18 + ".txt", 10) == "may hold secrets"


def test_rules_for_certain_files_match_their_paths():
    data = compress_text('password = "hunter2hunter"\n')
    assert open_text(data, "main.tf") == "password = [masked secret]\n"
    assert open_text(data, "main.py") == 'password = "hunter2hunter"\n'
