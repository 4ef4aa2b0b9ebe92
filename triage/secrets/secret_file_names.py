"""Recognises files that may contain secrets by their name. Their text is never read."""

import re

from triage.secrets.likely_secrets import redact_likely_secrets

_SAMPLE = re.compile(r"(?:^|[._-])(?:examples?|samples?|templates?|tmpl|tpl|dist|defaults?|schema|stub)(?=[._-]|$)")
"""A sample of a secret file, made to be read. Likely secrets in it are redacted as in any file."""
_SECRET_NAME = re.compile(
    r"(?:\.env(?:[._-][\w.-]+)?|[\w.-]+\.env|\.envrc|\.flaskenv"
    r"|[\w.-]*\.(?:pem|key|ppk|p8|p12|pfx|pkcs8|pkcs12|jks|jceks|keystore|kdbx?|gpg|pgp|ovpn|agekey|keytab)"
    r"|[\w.-]*\.(?:tfstate|tfstate\.[\w.-]+|tfvars|tfvars\.json)"
    r"|[\w.-]*id_(?:rsa|dsa|ecdsa|ed25519|ecdsa_sk|ed25519_sk|xmss)(?:[._-](?:old|bak|backup|priv|private|key|prod|dev))?"
    r"|\.(?:npmrc|yarnrc|netrc|pypirc|pgpass|my\.cnf|mylogin\.cnf|dockercfg|dockerconfigjson|htpasswd|htdigest|s3cfg|boto"
    r"|git-credentials|gitcookies|terraformrc|vault[-_]?(?:token|pass(?:word)?)[\w.-]*|databrickscfg|remote-sync\.json"
    r"|(?:bash|zsh|sh|psql|mysql|sqlite|python|node_repl|irb)_history)|_netrc|pgpass\.conf|kubeconfig|htpasswd"
    r"|git-credentials-[\w.-]+\.config|vault[-_]pass(?:word)?(?:\.txt)?|credentials(?:\.(?:json|ya?ml|toml|ini|csv|xml|db|enc))?"
    r"|(?:client|oauth|app)[-_]secrets?[\w.-]*\.json|service[-_]?account[\w.-]*\.json|gcloud[\w.-]*\.json"
    r"|[\w.-]*(?:[._-]|^)secrets?\.(?:json|ya?ml|toml|ini|properties|env|txt|enc)|terraform\.rc)"
)
"""The whole name, in lower case. Source code does not match: `env.py` and `credentials.py` are read."""
_SECRET_FOLDER = re.compile(
    r"(?:^|/)\.(?:ssh|gnupg|aws|azure|gcloud|kube|password-store)/|(?:^|/)\.(?:docker/config\.json|cargo/credentials"
    r"|gem/credentials|composer/auth\.json|git/config)"
)
_DESCRIPTION_FOLDER = re.compile(r"(?:^|/)(?:templates?|schemas?|locales?|lang|langs|i18n|translations|messages)/")
"""Folders of files that describe secrets and contain none, such as `templates/secrets.yaml` of a Helm chart."""
_DESCRIBABLE_NAME = re.compile(r"secrets?\.|credentials\.")


def may_hold_secrets(path: str) -> bool:
    """Whether a file may contain secrets by its name, or its path contains one.

    The names come from gitleaks, from GitHub's ignore templates and from the tools that write such files.
    """
    lower = path.lower()
    name = lower.rpartition("/")[2]
    if _SECRET_FOLDER.search(lower):
        return True
    if _SECRET_NAME.fullmatch(name) and not _SAMPLE.search(name):
        return not (_DESCRIBABLE_NAME.search(name) and _DESCRIPTION_FOLDER.search(lower))
    return redact_likely_secrets(path) != path
