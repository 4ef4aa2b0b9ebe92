"""Names of definitions as models write them: `Store.save()`, `def save(self, path)`, `function save`."""

import re

_KIND = re.compile(
    r"(?:(?:async|public|private|protected|static|export|default)\s+)*"
    r"(?:def|class|func(?:tion)?|fn|method|struct|interface|trait|enum|type|module|property|constant|variable)\s+(?=[\w$])",
    re.IGNORECASE,
)
_PARAMETERS = re.compile(r"(?<=[\w$])\s*\(.*", re.DOTALL)
_KIND_BEHIND = re.compile(
    r"(?<=\w)\s+(?:function|method|class|constructor|property|variable|constant)\Z", re.IGNORECASE
)


def clean_symbol(written: str) -> str:
    """Returns the name without marks around it, its kind, and its parameters."""
    name = written.strip().strip("`'\"*").strip()
    name = _KIND.sub("", name, count=1) if _KIND.match(name) else name
    name = _PARAMETERS.sub("", name, count=1)
    return _KIND_BEHIND.sub("", name.strip("`: "))
