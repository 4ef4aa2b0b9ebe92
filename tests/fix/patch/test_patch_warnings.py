"""A reader learns first what is unusual about a patch."""

import pytest

from testing.each_row import each_row
from testing.fake_files import FakeFiles
from tests.fix.patch.drafts import make_draft
from triage.domain.proposal import AffectedModule, BaseFile, FileVersion
from triage.fix.patch.check_patch import list_warnings

FILES = FakeFiles({"shop/a.py": BaseFile(text="x = 1\n" * 150)})


def test_an_ordinary_patch_has_no_warning():
    assert list_warnings(make_draft([FileVersion(path="shop/a.py", text="y = 1\n" * 150)]), FILES) == []


def test_a_large_patch_is_said():
    files = [
        FileVersion(path="shop/a.py", text="y = 1\n" * 151),
        FileVersion(path="shop/b.py", text="", is_new_file=True),
    ]
    assert list_warnings(make_draft(files), FILES) == ["Large diff: about 301 lines in 2 files."]


def test_more_than_two_modules_are_said():
    modules = [AffectedModule(name=name, reason="") for name in ("a/", "b/", "c/")]
    draft = make_draft([FileVersion(path="shop/b.py", text="", is_new_file=True)], modules=modules)
    assert list_warnings(draft, FILES) == ["Multi-module change: a/, b/, c/."]


RUN = """
setup.py setup.cfg pyproject.toml tox.ini pytest.ini noxfile.py tests/conftest.py tasks.py fabfile.py dodo.py manage.py
sitecustomize.py a.pth requirements-dev.txt requirements/base.txt dev-requirements.txt constraints.txt constraints.in Pipfile
environment.yml meta.yaml MANIFEST.in conanfile.py versioneer.py docs/conf.py hatch_build.py gunicorn.conf.py buildout.cfg
package.json pnpm-workspace.yaml lerna.json nx.json turbo.json deno.json bower.json binding.gyp tsconfig.json bunfig.toml
tsconfig.build.json web/vite.config.ts release.config.js commitlint.config.cjs lint-staged.config.mjs tailwind.config.js
drizzle.config.ts eslint.config.mjs jest.setup.js karma.conf.js wdio.conf.ts protractor.conf.js webpack.prod.js rollup.config.js
gulpfile.babel.js Gruntfile.coffee ember-cli-build.js gatsby-node.js angular.json postinstall.js knexfile.js Jakefile
cypress.json cypress/support/e2e.ts serverless.yml jest-preset.js vitest.workspace.ts src/setupTests.ts metro.config.js
Makefile GNUmakefile rules.mk cmake/x.cmake CMakeLists.txt CMakePresets.json configure configure.ac autogen.sh aclocal.m4
Makefile.am Makefile.in meson.build meson_options.txt SConstruct wscript a.pro premake5.lua xmake.lua build.ninja vcpkg.json
justfile Taskfile.yml magefile.go Earthfile BUILD BUILD.bazel WORKSPACE MODULE.bazel a.bzl Tiltfile Snakefile build.sh
build.ps1 a.spec debian/rules debian/postinst PKGBUILD default.nix flake.nix Kconfig
go.mod go.work tools.go Cargo.toml a/build.rs rust-toolchain.toml clippy.toml Trunk.toml
pom.xml build.gradle build.gradle.kts settings.gradle.kts gradle.properties gradle/libs.versions.toml build.xml ivy.xml build.sbt
project/plugins.sbt project/Build.scala build.sc project.clj deps.edn shadow-cljs.edn META-INF/services/javax.x.Y checkstyle.xml
Gemfile gems.rb x.gemspec Rakefile lib/tasks/a.rake Capfile Guardfile Thorfile Brewfile Appraisals Vagrantfile Podfile
a.podspec fastlane/Fastfile spec/spec_helper.rb spec/rails_helper.rb test/test_helper.rb ext/extconf.rb config.ru config/boot.rb
composer.json phpunit.xml phpunit.xml.dist phpstan.neon psalm.xml rector.php ecs.php codeception.yml Makefile.PL cpanfile
a.csproj a.fsproj a.sln Directory.Build.props Directory.Packages.props a.targets NuGet.config packages.config global.json
build.cake paket.dependencies a.runsettings a.tt a.psm1 web.config
mix.exs rebar.config Package.swift Cartfile a.xcconfig a.pbxproj pubspec.yaml build.yaml a.cabal cabal.project stack.yaml
testem.js configure.py sbt bin/rails githooks/post-receive githooks/applypatch-msg githooks/pre-rebase
Setup.hs dune dune-project a.opam elm.json shard.yml a.nimble build.zig dub.json a.rockspec deps/build.jl Makevars DESCRIPTION
Dockerfile Dockerfile.dev app.dockerfile Containerfile compose.yaml docker-compose.override.yml docker-bake.hcl skaffold.yaml
Chart.yaml helmfile.yaml ansible.cfg playbook.yml main.tf a.pkr.hcl Procfile cdk.json
pre-commit scripts/pre-push.sh commit-msg biome.json mise.toml a.code-workspace a.vimrc Doxyfile mkdocs.yml book.toml tslint.json
"""


@each_row("path", RUN.split())
def test_files_that_tools_run_are_said(path: str):
    draft = make_draft([FileVersion(path=path, text="", is_new_file=True)])
    assert list_warnings(draft, FILES) == [f"Runs when the project is installed, built or tested: {path}."]


@each_row(
    "path",
    [
        "shop/setups.py",
        "shop/makefile_parser.py",
        "shop/jester.js",
        "shop/buildings.py",
        "shop/makefile.py",
        "lang/dockerfile.go",
        "tuple.py",
        "src/hooks/useCart.js",
        "src/config.ts",
        "app/conf.py",
        "builder/index.js",
        "docs/build.md",
        "packages/package.py",
        "requirements.md",
        "src/tasks/list.py",
        "types/constraint.txt",
        "x/compose.py",
        "a/profile.js",
        "shop/pipeline.py",
        "gems.py",
        "gradle.md",
    ],
)
def test_other_files_are_not(path: str):
    assert list_warnings(make_draft([FileVersion(path=path, text="", is_new_file=True)]), FILES) == []


def test_long_new_lines_are_said():
    long = FileVersion(path="shop/a.py", text=f"x = '{'y' * 200}'\n")
    assert list_warnings(make_draft([long]), FILES) == ["Lines of more than 200 characters: shop/a.py."]
    tabs = FileVersion(path="shop/a.py", text="\t" * 30 + "x\n")
    assert list_warnings(make_draft([tabs]), FILES) == ["Lines of more than 200 characters: shop/a.py."]
    known = FakeFiles({"shop/a.py": BaseFile(text=long.text)})
    more = long.model_copy(update={"text": long.text + "z = 1\n"})
    assert list_warnings(make_draft([more]), known) == []


def test_lines_that_are_longer_than_any_of_the_file_are_said():
    line = f"init();{'        ;' * 13}evil()\n"
    many = FileVersion(path="shop/a.py", text=line)
    assert list_warnings(make_draft([many]), FILES) == ["Lines of more than 120 characters: shop/a.py."]
    known = FakeFiles({"shop/a.py": BaseFile(text=f"{line[:-1]}\n")})
    more = many.model_copy(update={"text": line.replace("evil", "good")})
    assert list_warnings(make_draft([more]), known) == []


MASKED = 'DB_PASSWORD = "[masked secret 1]"\nlog("metrics", token="none")\nkey: |\n  [masked secret 2]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (MASKED.partition("\n")[0] + "\n", []),
        (MASKED.replace("DB_PASSWORD", "    DB_PASSWORD") + "# more\n", []),
        ('log("metrics", token="[masked secret 1]")\n', ["[masked secret 1]"]),
        (MASKED.replace("key: |", "sent: |"), ["[masked secret 2]"]),
    ],
)
def test_a_value_that_another_name_gets_is_said(text: str, words: list[str]):
    files = FakeFiles({"shop/a.py": BaseFile(text=MASKED)})
    said = list_warnings(make_draft([FileVersion(path="shop/a.py", text=text)]), files)
    assert len(said) == len(words)
    assert all(f"The value of {mask} in shop/a.py stands after other words now" in said[0] for mask in words)
