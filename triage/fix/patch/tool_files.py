"""Files that tools run as code, or obey, by their names: a patch of one does something before anybody calls the code.

`*` stands for any characters of a name; case does not count. A pattern with a slash is for the end of a path.
What a service or an agent runs (`AUTOMATION`) no patch may change; for the rest the reader is warned.
"""

import re
from collections.abc import Mapping

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
"""By whoever runs them: when a project is installed, built, tested, checked, started or opened."""

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
"""Beside everything whose name begins with a dot."""


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
