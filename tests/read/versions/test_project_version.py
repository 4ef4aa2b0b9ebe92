"""The project's own version, in the ways in which reporters write it."""

from testing.each_row import each_row
from triage.domain.issue import Issue
from triage.read.read_issue import read_issue
from triage.read.versions.project_version import find_project_version


def version_in(body: str, project: str = "acme/shop") -> str | None:
    found = find_project_version(read_issue(Issue(title="Total is off", body=body)), project)
    return found.text if found else None


@each_row(
    ("project", "body", "version"),
    [
        ("acme/shop", "The cart is gone since [v5.3.0](https://shop.example/5), yet a text names it.", None),
        ("GoogleContainerTools/jib", "I use jib 3.4.0 with Maven 3.9.1", "3.4.0"),
        ("pydata/xarray", "```\npython: 3.8.3\nnumpy: 1.18.4\nxarray: 0.16.0\n```", "0.16.0"),
        ("psf/requests", "Installed: requests (2.4.3), urllib3 (1.9)", "2.4.3"),
        ("jqlang/jq", "jq-1.6-159-gcff5336 on Ubuntu 20.04", "1.6-159-gcff5336"),
        ("axios/axios", '```json\n"axios": "^1.6.0"\n```', "1.6.0"),
        ("gin-gonic/gin", "```\ngithub.com/gin-gonic/gin v1.9.1\n```", "v1.9.1"),
        ("jekyll/jekyll", "```\n    jekyll (4.2.0)\n      mercenary (~> 0.4.0)\n```", "4.2.0"),
        ("scikit-learn/scikit-learn", "sklearn 0.20.2, numpy 1.15.2", "0.20.2"),
        ("microsoft/vscode", "VS Code version: Code 1.82.2", "Code 1.82.2"),
        ("acme/shop", "### Shop version\n\n2.4.1", "2.4.1"),
        ("acme/shop", "### Version\n\ncurrent master", "current master"),
        ("acme/shop", "### Python version\n\n3.9.1\n\n### Shop Version\n\n3.4.3", "3.4.3"),
        ("acme/shop", "### Till version\n\n3.9.1\n\n### Plugin version\n\n3.4.3", "3.4.3"),
        ("acme/shop", "It happens in version 4.5.1.", "4.5.1"),
        ("acme/shop", "built from 3f2a9bc4d1", "3f2a9bc4d1"),
        ("acme/shop", "It fails in all versions `>=0.35.0`.", "0.35.0"),
        ("acme/shop", "I use the latest version `46e058d`.", "46e058d"),
        ("acme/shop", "Introduced by ebf576526542dbdb3a4df30b173b10dc08c131f0.", "ebf576526542dbdb3a4df30b173b10dc08c131f0"),
        ("acme/shop", "It runs on VS Code version 1.90.0.", None),
        ("acme/shop", "It fails with the 1.6.6 version.", "1.6.6"),
        ("acme/shop", "I have the 3.6 version of python.", None),
        ("acme/shop", "PythonWin 3.6.2 (v3.6.2:5fd33b5926, Jul 16 2017) on win32.", None),
        ("acme/shop", "The database schema version 1.2.3 is old.", None),
        ("acme/shop", "```yaml\nversion: \"3.8\"\nservices:\n  web: x\n```", None),
        ("acme/shop", "My app version 1.3.0 uses this library.", None),
        ("acme/shop", "Firmware version: 1.2.3\nVersion: 5.4.3", "5.4.3"),
        ("acme/shop", "Windows version 10, https://shop.example/total?version=2017-02-27", None),
        ("acme/shop", "- Shop Version:\n- OS Version:\n\nSteps to Reproduce:\n\n1. open it", None),
        ("acme/shop", "With main.js it works, in the main window it does not, on the main thread neither.", None),
        ("acme/shop", '```\n  File "a.py", line 133, in main\n```', None),
        ("acme/shop", "See section 3.2.1, from 10.0.0.1 on 12.10.2020.", None),
        ("acme/shop", "Python 3.11.2, Node 20.1, Ubuntu 22.04", None),
        ("acme/shop", "### Version\n\n_No response_", None),
        ("acme/shop.nvim", "### Neovim version (nvim -v)\n\nNVIM v0.9.1", None),
        ("Kotlin/shop", "- Kotlin version: 1.6.10\n- Library version: 1.3.2", "1.3.2"),
        ("acme/till-rest-shelf", "Till version: 4.2.1\nTRS version: 3.14.0", None),
        ("acme/till-shelf", "It fails with shelf version 2.2.0", None),
        ("acme/shop-android", "### Acme version\n\n28.0.5\n\n### Shop Android version\n\n4.2.1", "4.2.1"),
    ],
)  # fmt: skip
def test_the_version_is_found(project: str, body: str, version: str | None) -> None:
    assert version_in(body, project) == version


@each_row(
    ("title", "body", "version"),
    [
        ("It fails in 2.x", "Versions:\nv2.1.3: false", "v2.1.3"),
        ("It fails on Python 3.12", "", None),
        ("Total is off", "```python\nassert Version('1.0a1') == shop.Version('1a1')\n```", None),
    ],
)
def test_no_number_of_something_else_counts(title, body, version) -> None:
    found = find_project_version(read_issue(Issue(title=title, body=body)), "acme/shop")
    assert (found.text if found else None) == version


def test_the_version_that_works_is_not_that_of_the_report() -> None:
    parsed = read_issue(Issue(title="Total is off", body="It is off with shop 2.2, with shop 2.1 it was right."))
    found = find_project_version(parsed, "acme/shop", "2.2")
    assert found is not None
    assert found.text == "2.1"


def test_without_a_project_the_labels_still_tell() -> None:
    assert version_in("### Version\n\n2.4.1", "") == "2.4.1"
