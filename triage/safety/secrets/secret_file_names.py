"""Recognises files that may contain secrets by their name. Their text is never read."""

from functools import lru_cache

import re2  # type: ignore[import-untyped]

from triage.safety.secrets.likely_secrets import redact_likely_secrets

_SAMPLE_WORD = r"(?:examples?|samples?|templates?|tmpl|tpl|dist|defaults?|schema|stub)"
_DATA = r"(?:json|ya?ml|toml|ini|properties|conf|config|cfg|csv|xml|txt|db|enc|env|tfvars)"
_SAMPLE = re2.compile(rf"^{_SAMPLE_WORD}[._-]|[._-]{_SAMPLE_WORD}(?:\.{_DATA})?$")
"""A sample of a secret file, made to be read. Likely secrets in it are redacted as in any file."""
_DOTTED_NAME = r"\.(?:env(?:rc)?|flaskenv|dev\.vars)(?:[ ._~-].*)?"
"""Variables of the environment, of one stage or another. `.envoy.yaml` contains none."""
_DOTTED = re2.compile(f"(?s){_DOTTED_NAME}")
_DOTTED_SAMPLE = re2.compile(rf"[._-]{_SAMPLE_WORD}$")
"""Of these names only the last part counts: `.env.example.local` is a sample that somebody filled in."""
_COPY = re2.compile(r"(?:~|[._-](?:bak|backup|old|orig|save|copy|tmp|sw[a-p]|[0-9]{1,8}))+$")
"""What editors and people append to the name of a copy."""
_KEY_NAMES = (
    r"(?:.*[^a-z])?id_(?:rsa|dsa|ecdsa|ed25519|xmss).*|ssh_host_(?:\w+_)?key.*|(?:.*[._-])?kubeconfig(?:[._-].*)?"
)
_KEY_NAME = re2.compile(f"(?s){_KEY_NAMES}")
_SECRET_NAMES = (
    _DOTTED_NAME,
    _KEY_NAMES,
    # Private keys, and what stores them.
    r".*\.(?:pem|key|ppk|p8|p12|pfx|pkcs8|pkcs12|jks|jceks|bks|bcfks|keystore|kdbx?|gpg|pgp|ovpn|agekey|keytab)",
    r".*_(?:rsa|dsa|ecdsa|ed25519)(?:[_-]sk)?|google_compute_engine|encrypted_data_bag_secret|wg\d+\.conf",
    r"(?:.*[._-])?priv(?:ate)?[._-]?key(?:\.(?:txt|json|xml|asc|der|b64|base64|jwk))?",
    r"(?:key|(?:.*[._-])?keystore|(?:.*[._-])?signing)\.properties",
    r"wallet\.dat|.*\.wallet|cwallet\.sso|utc--.*--[0-9a-fx]{40,42}(?:\.json)?",
    # Of clouds, and of the tools that set them up.
    r".*\.(?:tfstate(?:\..*)?|tfvars(?:\.json)?|publishsettings)|\.terraformrc|terraform\.rc",
    r"\.vault[-_]?(?:token|pass(?:word)?).*|.*vault[-_]?pass(?:word|wd)?(?:[-_]file)?(?:\.txt)?",
    r".*\.env(?:\.(?:local|json|ya?ml|toml))?|local\.settings\.json|azureauth\.json|.*firebase-adminsdk.*\.json",
    r".*service[-_]?account.*\.json|gcloud.*\.json|(?:.*[._-])?(?:accesskeys|rootkey)\.csv",
    r"(?:access_?tokens|azureprofile|(?:gcp|gcloud|google)[-_]?(?:keys?|creds?)|kaggle)\.json|\.(?:cdsapirc|sentryclirc)",
    r"\.(?:tugboat|linode-cli|gitlab-token)|kube\.config|(?:.*[._-])?vault\.ya?ml|hudson\.util\.secret",
    r"jenkins\.plugins\..*publisherplugin\.xml|(?:mgmt|tomcat)-users\.(?:properties|xml)|credentials\.ya?ml\.enc",
    # Of programs that remember a password.
    r".*\.(?:nmconnection|mobileconfig|psafe3|kwallet|agilekeychain|opvault|keychain(?:-db)?|rdp|rdg|pubxml\.user|snk)",
    r".*\.(?:jwk|pgpass|age|secrets?)|krb5cc(?:_.*)?|orapw.*|(?:master\.)?passwd|davfs2\.secrets|wireguard.*\.conf|bitcoin\.conf",
    r"\.?(?:authinfo|s3cfg|s3cmd|odbc\.ini|rediscli_auth|(?:e?s?mtp|mutt|offlineimap|mbsync|getmail)rc|xauthority)",
    r"(?:sitemanager|recentservers|filezilla)\.xml|(?:winscp|ws_ftp)\.ini|(?:robomongo|credentials-config|logins|ftp)\.json",
    r"key[34]\.db|signons\.sqlite",
    r"\.(?:npmrc|yarnrc|pypirc|my\.cnf|mylogin\.cnf|dockercfg|dockerconfigjson|s3cfg|boto|git-credentials|gitcookies)",
    r"\.(?:databrickscfg|remote-sync\.json|ftpconfig|msmtprc|fetchmailrc|smbcredentials)",
    r"\.(?:passwd-s3fs|curlrc|wgetrc|[\w-]+_history)",
    r"[._]?netrc|\.?pgpass(?:\.conf)?|\.?rclone\.conf|sftp(?:-config)?\.json|git-credentials-.*\.config|sasl_passwd",
    r".*\.ht(?:passwd|digest)|htpasswd(?:\.txt)?|wpa_supplicant\.conf|(?:chap|pap)-secrets|ipsec\.secrets",
    # Named for what they contain.
    r"(?:.*[._-])?(?:passwords?|api[_-]?keys?|access[_-]?tokens?)\.(?:txt|csv|json|ya?ml)|(?:mnemonic|seed[_-]?phrase)\.txt",
    r"(?:.*[._-])?(?:private|secret|secring).*\.asc|key(?:file)?\.(?:json|txt)|wallet\.json|\.token|token\.txt",
    r"\.?credentials?|(?:.*[._-])?credentials?\.(?:json|ya?ml|toml|ini|csv|xml|db|enc)",
    rf"(?:client|oauth|app)[-_]secrets?.*\.json|\.secrets?(?:[._-].*)?|(?:.*[._-])?secrets?\.{_DATA}",
)
_SECRET_NAME = re2.compile("(?s)" + "|".join(_SECRET_NAMES))
"""The whole name, in lower case.

Source code does not match: `env.py`, `settings.py` and `wp-config.php` are read, as they are mostly program. So are
settings that most projects have without a secret: `database.yml`, `appsettings.json`, `web.config`, `.yarnrc.yml`,
`pip.conf`, `gradle.properties`, `server.xml`, `google-services.json`. In these, values are masked by their form.
Certificates, public keys, `known_hosts` and sets of design tokens (`tokens.json`) hold nothing secret.
"""
_PUBLIC_ENDING = re2.compile(
    r"\.(?:pub|md|rst|adoc|html?|py|rb|go|rs|java|kts?|scala|cs|c|cc|cpp|h|hpp|[cm]?[jt]sx?|vue|php|pl|exs?|swift|sh|ps1)$"
)
"""Public keys, pages and programs that are named like keys, such as `id_rsa.pub` and `kubeconfig.go`."""
_SECRET_FOLDER = re2.compile(
    r"(?:^|/)(?:\.(?:ssh|gnupg|aws|azure|gcloud|kube|oci|gsutil|vnc|age|password-store|secrets|putty|davfs2|getmail"
    r"|kaggle|huggingface|electrum|bitcoin|snowsql|doctl|netlify)|terraform\.tfstate\.d)/"
    r"|(?:^|/)\.(?:docker/config\.json|cargo/credentials|gem/credentials|composer/auth\.json|git/config|bundle/config"
    r"|m2/settings|kamal/secrets|config/(?:gh/hosts|gcloud/|containers/auth\.json))"
    r"|(?:^|/)etc/g?shadow(?:-|$)|(?:^|/)(?:group|host)_vars/(?:.*/)?[\w-]*vault"
)
_ENVIRONMENT_FOLDER = re2.compile(r"(?:^|/)\.envs?/")
_DESCRIPTION_FOLDER = re2.compile(r"(?:^|/)(?:templates?|schemas?|locales?|lang|langs|i18n|translations|messages)/")
"""Folders of files that describe secrets and contain none, such as `templates/secrets.yaml` of a Helm chart."""
_DESCRIBABLE_NAME = re2.compile(r"secrets?\.|credentials\.|passwords?\.|keys?\.")


def may_hold_secrets(path: str) -> bool:
    """Return whether a file may contain secrets by its name, or its path contains one. Samples and templates do not.

    The names come from gitleaks, from GitHub's ignore templates and from the tools that write such files.
    """
    folder, slash, name = path.lower().encode("utf-8", "surrogatepass").rpartition(b"/")
    folder += slash
    if _SECRET_FOLDER.search(folder + name):
        return True
    if _is_secret_name(name) or _is_environment_folder(folder):
        sample = _DOTTED_SAMPLE if _DOTTED.fullmatch(name) else _SAMPLE
        return not (sample.search(name) or (_DESCRIBABLE_NAME.search(name) and _DESCRIPTION_FOLDER.search(folder)))
    return redact_likely_secrets(path) != path


@lru_cache(maxsize=4_096)  # files come sorted by folder
def _is_environment_folder(folder: bytes) -> bool:
    return _ENVIRONMENT_FOLDER.search(folder) is not None


@lru_cache(maxsize=16_384)
def _is_secret_name(name: bytes) -> bool:
    original = _COPY.sub(b"", name)
    if not _SECRET_NAME.fullmatch(original):
        return False
    return not (_KEY_NAME.fullmatch(original) and _PUBLIC_ENDING.search(original))
