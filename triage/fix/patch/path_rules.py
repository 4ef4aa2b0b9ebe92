"""Which paths a patch may write, and which of them tools run or obey."""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

import regex  # type: ignore[import-untyped]
from pathspec import PathSpec

from triage.domain.proposal import BaseFile
from triage.fix.fix_ports import BaseFiles

MAX_PATH_CHARS = 200
_SHOWN_CHARS = 100
_OWNERS = re.compile(r"(?:^|/)codeowners$")
_SYSTEM_NAME = re.compile(r"^(?:con|prn|aux|nul|com\d|lpt\d|git~\d+)(?:\.|$)", re.IGNORECASE)
"""Devices of Windows, and the short name of `.git` there."""
_TEXT = r"(?:md|rst|txt|adoc|markdown)"
_CHANGELOG = re.compile(
    rf"(?:^|/)(?:change[-_]?log|changes|history|news|release[-_]?notes)(?:\.{_TEXT})?$", re.IGNORECASE
)
_ENTRY = re.compile(
    rf"(?:^|/)(?:change[-_]?logs?(?:\.d)?|news[-_]?fragments?|fragments)/"
    rf"(?:[\w+-]+(?:\.[\w-]+)*\.{_TEXT}|\+?\d+\.(?:feature|bug_?fix|fix|docs?|removal|deprecation|breaking|misc|other"
    r"|improvement|internal|trivial|false_positive|false_negative))$",
    re.IGNORECASE,
)
"""As towncrier and its kin collect them: `changelog.d/12.fix.md`, `newsfragments/12.bugfix`."""
_INVISIBLE = regex.compile(r"[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|[\p{Zs}--[ ]]", regex.V1)
_FORBIDDEN = re.compile(r'[\\<>:"|?*]')
"""Windows cannot check out such a name, or reads it as another one."""


def find_path_problem(
    path: str,
    files: BaseFiles,
    *,
    is_new: bool,
    module_paths: Sequence[str],
    test_paths: Sequence[str],
    protected: Sequence[str],
) -> str:
    """Return why a patch may not write a file, in one sentence; empty if it may.

    Args:
        path: Relative to the top folder. May be hostile.
        files: Those of the base commit.
        is_new: The patch adds the file.
        module_paths: What the patch is limited to, see `ModuleSummary.paths`.
        test_paths: Where tests of these modules may stand as well.
        protected: Gitignore patterns of the project.
    """
    if problem := find_spelling_problem(path):
        return problem
    if problem := _find_protection(path, protected):
        return problem
    is_allowed = is_inside(path, module_paths) or (is_inside(path, test_paths) and files.is_test(path))
    if not is_allowed and not is_changelog(path, files, is_new=is_new):
        allowed = ", ".join(module_paths) or "no module"
        return f"{path} is outside the modules that may change ({allowed}): leave it as it is."
    base = files.read(path)
    if problem := _find_base_problem(path, base, is_new=is_new):
        return problem
    if problem := _find_place_problem(path, files) if is_new else "":
        return problem
    reason = files.find_skip_reason(path, base.text if isinstance(base, BaseFile) else "")
    return f"{path} is not edited by hand ({reason}): leave it as it is." if reason else ""


def is_changelog(path: str, files: BaseFiles, *, is_new: bool) -> bool:
    """Whether it is a changelog that exists, or a new file in a folder of entries that exists."""
    folder = path.rpartition("/")[0] + "/"
    if is_new:
        return _ENTRY.search(path) is not None and bool(files.list_names(folder))
    return _CHANGELOG.search(path) is not None


def find_spelling_problem(path: str) -> str:
    """Return why a path cannot be checked out everywhere as it reads, in one sentence; empty if it can."""
    shown = show_path(path)
    if not path or len(path) > MAX_PATH_CHARS:
        return f"{shown or 'An empty path'} has not 1 to {MAX_PATH_CHARS} characters: use another path."
    if _INVISIBLE.search(path) or unicodedata.normalize("NFC", path) != path:
        return f"{shown} has characters that cannot be seen or are written in an unusual way: use plain letters."
    if _FORBIDDEN.search(path):
        return f'{shown} has one of the characters \\ < > : " | ? *: use plain letters and / between folders.'
    for part in path.split("/"):
        if part in ("", ".", ".."):
            return f"{shown} is not a path inside the repository: write it relative to the top folder, without `..`."
        if part != part.strip() or part.endswith(".") or _SYSTEM_NAME.search(part):
            return f"{shown} has a name that some systems read as another one ({part!r}): use another name."
    return ""


def show_path(path: str) -> str:
    """Return a path for a message: in quotes and with escapes unless it is plain."""
    shown = path if len(path) <= _SHOWN_CHARS else f"{path[:_SHOWN_CHARS]}…"
    return shown if shown.isprintable() and not _INVISIBLE.search(shown) and "`" not in shown else ascii(shown)


def _find_protection(path: str, protected: Sequence[str]) -> str:
    folded = fold_path(path)
    hidden = next((part for part in folded.split("/") if part.startswith(".")), "")
    if hidden:
        return f"{path} is below a name that begins with a dot, such as workflows: leave it as it is."
    if _OWNERS.search(folded):
        return f"{path} says who owns the code: leave it as it is."
    if steers_automation(folded):
        return f"{path} steers automation: leave it as it is."
    if protected and any(
        _compile_gitignore(patterns).match_file(name)
        for patterns, name in ((tuple(protected), path), (tuple(one.lower() for one in protected), path.lower()))
    ):
        return f"{path} is one of the project's protected paths: leave it as it is."
    return ""


@lru_cache(maxsize=8)
def _compile_gitignore(patterns: tuple[str, ...]) -> "PathSpec[Any]":
    # The default backend backtracks: a hostile pattern would keep it busy for hours.
    return PathSpec.from_lines("gitignore", patterns, backend="re2")


def is_below(path: str, place: str) -> bool:
    """Whether a file is at a place, see `ModuleSummary.paths`. A folder may lack the slash at its end."""
    if place == "./" or place.endswith("/./"):
        folder = place.removesuffix("./")
        return path.startswith(folder) and "/" not in path[len(folder) :]
    return path == place or path.startswith(f"{place.removesuffix('/')}/")


def is_inside(path: str, places: Sequence[str]) -> bool:
    """Whether a file is at one of the places."""
    return any(is_below(path, place) for place in places)


def _find_base_problem(path: str, base: BaseFile | str | None, *, is_new: bool) -> str:
    if isinstance(base, str):
        return f"{path} cannot be changed: it is {base}."
    if is_new and base is not None:
        return f"{path} exists already: edit it instead of adding it."
    if not is_new and base is None:
        return f"{path} does not exist: say that it is a new file, or use the path of an existing one."
    return ""


def _find_place_problem(path: str, files: BaseFiles) -> str:
    folder = ""
    for part in path.split("/"):
        names = files.list_names(folder)
        if folder and not names:  # Git has no empty folders.
            return f"{path} is below {folder.removesuffix('/')}, which is no folder: use another path."
        if part not in names:
            return _find_new_name_problem(path, folder, names)
        folder += f"{part}/"
    return ""


def _find_new_name_problem(path: str, folder: str, names: Collection[str]) -> str:
    new = path.removeprefix(folder)
    if not new.isascii():
        return f"{path} has a new name that is not plain ASCII: use another name."
    part = new.partition("/")[0]
    alike = next((name for name in names if fold_path(name) == fold_path(part)), None)
    if alike is not None:
        return f"{path} differs from {folder}{alike} by upper and lower case only: use that name, or another one."
    return ""


def fold_path(path: str) -> str:
    """Return the same text for all paths that are one file on systems that ignore case."""
    return unicodedata.normalize("NFKC", path).casefold()


RUN_BY_TOOLS: Mapping[str, str] = {
    "Python": """
        setup.py setup.cfg pyproject.toml tox.ini pytest.ini pytest.toml noxfile.py conftest.py tasks.py dodo.py
        fabfile.py pavement.py manage.py sitecustomize.py usercustomize.py *.pth *requirements*.txt *requirements*.in
        *constraints*.txt *constraints*.in requirements/*.txt requirements/*.in pipfile environment.y*ml conda*.y*ml
        meta.yaml recipe.yaml pdm.toml uv.toml poetry.toml hatch.toml hatch_build.py build.py pdm_build.py mypy.ini
        ruff.toml pylintrc bandit.y*ml pyrightconfig.json versioneer.py ez_setup.py buildout.cfg bootstrap.py
        configure.py
        pip.conf pip.ini manifest.in conanfile.py conanfile.txt gunicorn*.py asv.conf.json sphinx*/conf.py docs/conf.py
        doc/conf.py docs/source/conf.py doc/source/conf.py""",
    "JavaScript": """
        package.json package.json5 package.yaml pnpm-workspace.yaml pnpmfile.*js lerna.json nx.json project.json
        turbo.json rush.json workspace.json deno.json deno.jsonc bunfig.toml jsr.json bower.json binding.gyp *.gypi
        tsconfig*.json jsconfig*.json *.config.*js *.config.*ts *.config.js *.config.ts *.config.json *.conf.*js
        *.conf.js *.conf.ts *.setup.*js *.setup.js *.setup.ts *setuptests.js *setuptests.ts jest.*.js jest.*.ts
        jest-*.js jest-*.ts vitest.*.ts vitest.*.*js vitest.workspace.* karma.*.js wdio.*.js wdio.*.ts protractor*.js
        nightwatch*.js testcafe*.js* codecept*.js cypress.json cypress/plugins/*.js cypress/support/*.js
        cypress/support/*.ts gulpfile.* gulpfile*/*.js gruntfile.* brunch-config.* ember-cli-build.js angular.json
        vue.config.* quasar.conf* gatsby-*.js gatsby-*.ts next.config.* nuxt.config.* svelte.config.* astro.config.*
        remix.config.* craco.config.* rspack.config.* rollup*.js rollup*.mjs webpack*.js webpack*.ts webpack*.mjs
        metro.config.* babel.config.* serverless.y*ml serverless.js serverless.ts sst.config.ts prebuild.js
        preinstall.* postinstall.* install.js jakefile.js jakefile cakefile plopfile.* app.json eas.json
        ionic.config.json capacitor.config.* lint-staged.* commitlint.* stylelint.* eslint.* prettier.* knexfile.*
        ormconfig.* hardhat.config.* truffle*.js truffle*.ts forge.config.* electron-builder.* pm2.json ecosystem.*.js
        testem.js process.json typedoc.js* xo.config.* api-extractor.json""",
    "C, C++ and others that make": """
        makefile makefile.* gnumakefile gnumakefile.* bsdmakefile *.mk *.mak *.make cmakelists.txt *.cmake
        cmakepresets.json cmakeuserpresets.json configure configure.ac configure.in config.guess config.sub autogen.sh
        bootstrap bootstrap.sh buildconf *.m4 makefile.am makefile.in *.am meson.build meson.options meson_options.txt
        sconstruct sconscript wscript *.pro *.pri *.qbs premake*.lua xmake.lua ninja.build *.ninja vcpkg.json
        vcpkg-configuration.json justfile *.just taskfile.y*ml taskfile.*.y*ml magefile.go mage.go tupfile tupfile.*
        tuprules.* earthfile dagger.json pants.toml pants.ini buck.toml buck build build.bazel workspace
        workspace.bazel workspace.bzlmod module.bazel *.bzl *.bazel tiltfile please.toml snakefile *.smk
        nextflow.config run.sh build.sh install.sh install.ps1 build.ps1 build.cmd build.bat make.bat make.cmd
        make.ps1 setup.sh test.sh entrypoint.sh docker-entrypoint.sh premake.lua kbuild kconfig* *.kconfig
        bitbake.conf *.bb *.bbappend *.bbclass *.spec *.ebuild pkgbuild *.install apkbuild debian/rules debian/*inst
        debian/*rm debian/control snapcraft.y*ml portfile.cmake default.nix shell.nix flake.nix *.nix guix.scm
        manifest.scm""",
    "Go and Rust": """
        go.mod go.work tools.go generate.go *_generate.go cargo.toml build.rs clippy.toml rustfmt.toml rust-toolchain
        rust-toolchain.toml rustup-toolchain cross.toml trunk.toml dioxus.toml deny.toml makefile.toml diesel.toml
        golangci.y*ml goreleaser.y*ml""",
    "Java and its kin": """
        pom.xml *.pom build.gradle settings.gradle *.gradle *.gradle.kts gradle.properties gradle-wrapper.properties
        libs.versions.toml build.xml ivy.xml ivysettings.xml build.sbt *.sbt build.properties build.sc build.mill
        project/*.scala project.clj deps.edn build.clj shadow-cljs.edn bb.edn build.boot profiles.clj maven.config
        jvm.config extensions.xml buildsrc/* jitpack.y*ml checkstyle*.xml pmd*.xml spotbugs*.xml detekt.y*ml
        lombok.config junit-platform.properties testng.xml proguard*.pro proguard*.txt androidmanifest.xml
        jreleaser.y*ml sbt org.junit.jupiter.api.extension.extension meta-inf/services/*""",
    "Ruby, PHP and Perl": """
        gemfile gemfile.* *.gemfile gems.rb *.gemspec rakefile rakefile.rb *.rake capfile guardfile thorfile *.thor
        brewfile appraisals puppetfile berksfile vagrantfile podfile *.podspec *.podspec.json fastfile appfile
        matchfile gymfile deliverfile snapfile scanfile pluginfile spec_helper.rb rails_helper.rb test_helper.rb
        extconf.rb config.ru puma.rb unicorn.rb cucumber.y*ml features/support/*.rb boot.rb standard.y*ml rubocop.y*ml
        composer.json phpunit.xml phpunit.*xml phpunit.xml.dist phpunit.dist.xml phpstan.neon phpstan*.neon* psalm.xml
        psalm*.xml* phpcs.xml* rector.php ecs.php scoper.inc.php php-cs-fixer.php codeception.y*ml behat.y*ml pest.php
        bin/rails
        bootstrap.php robo*.php robofile.php deploy.php phinx.php artisan server.php php.ini makefile.pl build.pl
        cpanfile dist.ini alienfile""",
    ".NET": """
        *.csproj *.fsproj *.vbproj *.vcxproj *.vcproj *.sqlproj *.wixproj *.esproj *.proj *.shproj *.projitems *.props
        *.targets *.tasks *.rsp *.sln *.slnx *.slnf *.ruleset *.runsettings *.testsettings *.nuspec *.cake build.fsx
        build.csx *.tt nuget.config packages.config paket.dependencies paket.references global.json directory.build.*
        dotnet-tools.json *.psd1 *.psm1 psakefile.ps1 *.build.ps1 init.ps1 web.config app.config launchsettings.json""",
    "Other languages": """
        mix.exs rebar.config rebar.config.script erlang.mk relx.config rebar3.config elvis.config package.swift
        cartfile *.xcconfig *.pbxproj *.xcscheme *.xctestplan project.y*ml mintfile pubspec.y*ml build.y*ml
        analysis_options.y*ml dart_test.y*ml melos.y*ml *.cabal cabal.project cabal.project.* stack.y*ml package.yaml
        setup.hs setup.lhs shakefile.hs dune dune-project dune-workspace *.opam esy.json bsconfig.json rescript.json
        elm.json spago.* gleam.toml shard.yml *.nimble config.nims nim.cfg build.zig build.zig.zon dub.json dub.sdl
        v.mod *.rockspec luacheckrc conky.conf project.toml deps/build.jl *.jl.toml description namespace makevars*
        configure.win cleanup foundry.toml brownie-config.y*ml anchor.toml truffle-config.js remappings.txt alire.toml
        *.gpr fpm.toml""",
    "containers and machines": """
        dockerfile dockerfile.* *.dockerfile containerfile containerfile.* compose*.y*ml docker-compose*.y*ml
        docker-bake.hcl docker-bake.json devcontainer.json skaffold.y*ml kustomization.y*ml helmfile.y*ml chart.y*ml
        values*.y*ml ansible.cfg playbook*.y*ml site.yml *.pkr.hcl packer.json *.tf *.tofu terragrunt.hcl *.nomad
        app.y*ml pulumi*.y*ml cdk.json samconfig.toml template.y*ml cloud-init* user-data *.service *.socket *.timer
        crontab supervisord.conf procfile procfile.* nginx.conf makisu.y*ml nixpacks.toml""",
    "linters, hooks and editors": """
        pre-commit* post-commit* commit-msg* pre-push* post-checkout* post-merge* pre-receive* prepare-commit-msg*
        post-receive post-update post-rewrite pre-rebase pre-merge-commit pre-auto-gc applypatch-msg pre-applypatch
        post-applypatch push-to-checkout reference-transaction proc-receive sendemail-validate fsmonitor-watchman
        overcommit.y*ml hk.pkl mise.toml mise.*.toml tool-versions *.code-workspace *.sublime-project *.iml *.vimrc
        exrc dir-locals.el biome.json biome.jsonc rome.json dprint.json tslint.json oxlintrc.json
        sonar-project.properties codecov.y*ml coveragerc semgrep.y*ml trunk.y*ml megalinter.y*ml cspell.* buf.gen.y*ml
        buf.y*ml sqlfluff* proselintrc vale.ini doxyfile mkdocs.y*ml readthedocs.y*ml book.toml antora*.y*ml""",
}
"""Files that tools run as code, or obey, by their names: a patch of one does something before anybody calls the code.

By whoever runs them: when a project is installed, built, tested, checked, started or opened. `*` stands for any
characters of a name; case does not count. A pattern with a slash is for the end of a path.
"""

AUTOMATION: Mapping[str, str] = {
    "services": """
        jenkinsfile* *.jenkinsfile azure-pipelines* azure_pipelines* bitbucket-pipelines* bitbucket_pipelines*
        vsts-ci* appveyor*.y*ml circle.y*ml codeship-*.y*ml shippable.y*ml wercker.y*ml codefresh*.y*ml codemagic.y*ml
        bitrise.y*ml screwdriver.y*ml cloudbuild* buildspec* buildkite.y*ml concourse.y*ml drone.y*ml semaphore.y*ml
        travis.y*ml gitlab-ci*.y*ml cirrus.y*ml cirrus.star teamcity-pipelines.y*ml taskcluster.y*ml zuul.y*ml
        zuul.d/* now.json vercel.json netlify.toml fly.toml render.y*ml railway.json railway.toml heroku.yml
        apprunner.y*ml appspec.y*ml amplify.y*ml firebase.json wrangler.toml wrangler.json* action.y*ml""",
    "bots": """
        dangerfile* renovate.json* renovate-config* dependabot.y*ml mergify.y*ml release-please-config.json lefthook*
        goreleaser-ci.y*ml probot*.y*ml greenkeeper.json tekton/* bors.toml rust-bors.toml homu.toml kodiak.toml
        policy-bot.y*ml triagebot.toml presubmit.py owners owners_aliases""",
    "agents": """
        agents.md agent.md claude.md claude.local.md gemini.md codex.md copilot-instructions.md warp.md qwen.md
        agents.override.md crush.md opencode.json opencode.jsonc crush.json gemini-extension.json
        *.prompt.md *.instructions.md *.chatmode.md *.agent.md *.mdc mcp.json skill.md""",
}
"""What services, bots and agents run or obey, beside all whose name begins with a dot: no patch may change it."""


def _compile(groups: Mapping[str, str]) -> re.Pattern[str]:
    words = dict.fromkeys(word for words in groups.values() for word in words.split())
    patterns = (re.escape(word).replace(r"\*", "[^/]*") for word in words)
    return re.compile(rf"(?:^|/)(?:{'|'.join(patterns)})$", re.IGNORECASE)


_RUN_BY_TOOLS, _AUTOMATION = _compile(RUN_BY_TOOLS), _compile(AUTOMATION)
_ONLY_NAMED_ALIKE = re.compile(
    r"(?:^|/)(?:makefile|dockerfile|procfile|tupfile|gemfile)\.(?:py|[jt]sx?|go|rs|rb|md)$", re.IGNORECASE
)
"""Such as a parser of such files."""


def is_run_by_tools(path: str) -> bool:
    """Whether a package manager, a build tool, a test runner, a linter, an editor or git runs or obeys the file."""
    return _RUN_BY_TOOLS.search(path) is not None and _ONLY_NAMED_ALIKE.search(path) is None


def steers_automation(path: str) -> bool:
    """Whether a service, a bot or an agent runs or obeys the file."""
    return _AUTOMATION.search(path) is not None
