"""What a build that failed says, and what it gets of the environment."""

import json
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit
from testing.each_row import each_row
from tests.reproduce.runs import target
from tests.reproduce.small_shop import BAD, make_repository
from triage.reproduce.environments.environment import MUST_BE_BUILT, CannotInstall, find_reason, plan_node_build
from triage.reproduce.environments.source import Source
from triage.reproduce.environments.virtual import VirtualEnvironments, select_build_variables
from triage.reproduce.example.example import Example, Project

NODE = Project(language="node", package="shop", modules=["shop"])


@each_row(
    ("log", "reason"),
    [
        ("unknown flag: --progress\nSee 'docker build --help'.\n\nRun 'docker build --help' for more", "unknown flag: --progress"),
        ("#7 1.2 error: no such package\nERROR: process did not complete successfully: exit code: 2", "error: no such package"),
        ("UserWarning: Unknown option\ncopying shop/errors.py\n  File \"setup.py\"\nModuleNotFoundError: No module named 'x'\nerror: Failed", "ModuleNotFoundError: No module named 'x'"),
        ("error: No solution found\n  cause: Because there is no y\n\nhint: error", "error: No solution found: Because there is no y"),
        ("  × No solution found:\n  ╰─▶ Because there is no y", "Because there is no y"),
        ("first\nlast", "last"),
        ("for x86_64-unknown-linux-gnu\nConnectError: no name\n", "ConnectError: no name"),
        ("it failed\n  Caused by: is cargo there?\n  Caused by: no file (os error 2)", "it failed: is cargo there?: no file (os error 2)"),
        ("", "no output"),
    ],
)  # fmt: skip
def test_the_reason_is_what_the_tool_says_first(log, reason):
    assert find_reason(log) == reason


def test_a_build_gets_no_token_and_no_login():
    secrets = {"UV_PUBLISH_TOKEN": "x", "NPM_CONFIG__AUTH": "x", "PIP_PASSWORD": "x", "UV_INDEX_MINE_PASSWORD": "x"}
    places = {
        "UV_DEFAULT_INDEX": "https://me:secr@et@host/simple",
        "npm_config_registry": "https://host/@acme/",
        "HTTPS_PROXY": "me:secret@proxy:80",
    }
    assert select_build_variables(secrets | places) == {
        "UV_DEFAULT_INDEX": "https://host/simple", "npm_config_registry": "https://host/@acme/", "HTTPS_PROXY": "proxy:80",
    }  # fmt: skip


def open_here(root: Path, **environ: str) -> VirtualEnvironments:
    return VirtualEnvironments(Source(root), environ)


def test_a_python_that_this_machine_does_not_have_is_named(tmp_path):
    root = make_repository(tmp_path / "repo", {"1.0": BAD})
    head = Source(root).resolve("HEAD") or ""
    wanted = target("1.0", head).model_copy(update={"pythons": ["3.6", "3.7"]})
    variables = {"PATH": str(tmp_path), "UV_PYTHON_DOWNLOADS": "never", "HOME": str(tmp_path)}
    with open_here(root, **variables) as environments, pytest.raises(CannotInstall) as problem:
        environments.build(wanted, Project(language="python", package="shop", modules=["shop"]))
    assert str(problem.value) == "no Python 3.6 or 3.7 on this machine"
    assert problem.value.is_lasting


def test_a_package_of_node_that_must_be_built_says_so_before_npm_installs_it(tmp_path):
    head = commit(tmp_path, {"package.json": '{"name": "shop"}', "index.js": "", "binding.gyp": ""})
    wanted = target("main", head)
    with open_here(tmp_path) as environments, pytest.raises(CannotInstall) as problem:
        environments.build(wanted, NODE)
    assert (str(problem.value), problem.value.is_lasting) == (MUST_BE_BUILT, True)


def test_a_package_of_node_is_built_by_its_own_script_where_it_stands_under_the_name_that_it_has_today(tmp_path):
    manifest = {
        "name": "old",
        "main": "lib/index.js",
        "scripts": {"prepare": "exit 9", "build": "node make.js; exit 9"},
    }
    made = "const fs = require('fs'); fs.mkdirSync('lib'); fs.copyFileSync('../seven.js', 'lib/index.js')"
    files = {"js/package.json": json.dumps(manifest), "js/make.js": made, "seven.js": "module.exports = () => 7"}
    head = commit(tmp_path, files)
    environ = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path)}
    with open_here(tmp_path, **environ) as environments:
        built = environments.build(target("main", head).model_copy(update={"pythons": []}), NODE)
        run = built.run(Example(language="node", code="console.log(require('shop')())\n"), NODE, 20)
    assert (run.outcome, run.output) == ("passed", "7\n")


@each_row(
    ("number", "others", "made"),
    [
        (1, {"lib/index.js": ""}, ""),  # an old entry
        (2, {"index.js": ""}, ""),  # Node takes it without `main`'s
        (3, {"index.js": ""}, "touch index.js;"),
    ],
)
def test_a_build_that_fails_before_it_made_the_entry_is_none(tmp_path, number, others, made):
    root = tmp_path / str(number)
    manifest = {"name": "shop", "main": "lib/index.js", "exports": ["./lib/index.mjs", "./lib/index.js"]}
    scripts = {"build": f"{made} exit 9"}
    head = commit(root, {"package.json": json.dumps(manifest | {"scripts": scripts}), **others})
    environ = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path)}
    with open_here(root, **environ) as environments, pytest.raises(CannotInstall):
        environments.build(target("main", head).model_copy(update={"pythons": []}), NODE)


def test_a_package_manager_that_a_script_calls_is_installed_for_it():
    install, refusal, start, run = plan_node_build(target("main", "1" * 40), "build", "yarn").split("\n")
    assert (install.endswith(" --no-save yarn"), refusal) == (True, "export SKIP_YARN_COREPACK_CHECK=1")
    assert (start[:6], run.partition(" || ")[0]) == ("start=", "npm run build")
    assert plan_node_build(target("main", "1" * 40)) == ""


def test_no_folder_of_this_machine_is_in_what_an_example_says(tmp_path):
    files = {"package.json": '{"name": "shop"}', "index.js": 'require(__dirname + "/lost.js");\n'}
    head = commit(tmp_path, files)
    environ = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path)}
    with open_here(tmp_path, **environ) as environments:
        built = environments.build(target("main", head).model_copy(update={"pythons": []}), NODE)
        found = built.run(Example(language="node", code='require("shop");\n'), NODE, 20)
    assert str(environments.folder) not in found.model_dump_json()
    assert "Cannot find module 'env/node_modules/shop/lost.js'" in found.failures[0].message
