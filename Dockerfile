# What a runner builds or pulls for an issue: nothing but what a run needs, and compiled, so that it starts at once.
# The digest is that of the index of all platforms; Dependabot moves it together with the tag.
FROM python:3.13.16-slim@sha256:70729b46c69b4f1e97c4822c1af3df53a1476cf5ddc6c087c0c10bc3a5678c2f AS base

FROM base AS build
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends binutils git
# Scanners find git by this: only its binary goes into the image, without Perl and the commands that need it.
RUN mkdir /packages && dpkg-query --status git >/packages/git
COPY requirements.txt /
RUN python -m venv --without-pip /opt/venv \
    && pip --python /opt/venv/bin/python install --no-cache-dir --no-compile --no-deps --only-binary :all: \
       --require-hashes --requirement /requirements.txt
# A fifth of the packages' size is symbols that only a debugger reads (NumPy's libraries have none), tests and headers.
RUN find /opt/venv -name '*.so*' -type f -not -path '*/numpy*' -exec strip --strip-unneeded {} + \
    && find /opt/venv -type d \( -name tests -o -name test \) -prune -exec rm -r {} + \
    && find /opt/venv -type f \( -name '*.pyi' -o -name '*.[ch]' -o -name '*.hpp' -o -name '*.pxd' -o -name '*.pyx' \) -delete
# A repository to try the finished image on.
COPY triage/__init__.py triage/base/errors.py /sample/
RUN printf '# Crash\n\nTraceback (most recent call last):\n  File "errors.py", line 46, in __init__\nKeyError: 1\n' >/sample/issue.md \
    && git -C /sample init --quiet && git -C /sample add . \
    && git -C /sample -c user.name=build -c user.email=build@localhost commit --quiet --message sample

# The base without what installs, builds or documents: no run needs it, and scanners find most of their alarms in it. dpkg
# removes Debian's part, so that its list stays true. Removed in a layer on top, all this would still be downloaded.
FROM base AS system
RUN dpkg --purge --force-depends --force-remove-essential \
      apt $(dpkg-query --show --showformat '${Package} ' 'libapt-pkg*') debconf perl-base \
    && rm -rf /usr/local/bin/pip* /usr/local/include /usr/local/lib/python3*/site-packages/pip* \
       /usr/local/lib/python3*/ensurepip /usr/local/lib/python3*/idlelib /usr/local/lib/python3*/pydoc_data \
       /usr/local/lib/python3*/tkinter /usr/local/lib/python3*/turtledemo /var/lib/apt /var/cache/debconf

FROM scratch
COPY --from=system / /
LABEL org.opencontainers.image.title="Bug Triage" \
      org.opencontainers.image.description="Up to five agents read a new issue and the code, and write one checked report." \
      org.opencontainers.image.licenses="MIT"
# No library sends usage data or traces.
ENV PATH=/usr/local/bin:/usr/bin:/bin \
    ANONYMIZED_TELEMETRY=False \
    LANGCHAIN_TRACING_V2=false \
    LANGSMITH_TRACING=false
COPY --from=build /packages/git /var/lib/dpkg/status.d/git
COPY --from=build /usr/bin/git /usr/bin/git
COPY --from=build /opt/venv /opt/venv
COPY entrypoint.py /app/
COPY triage /app/triage
# One run by rules shows that everything is there, git's libraries too, and leaves bytecode of each module that a run
# loads, the standard library's included, which the base image leaves out.
RUN --mount=type=bind,from=build,source=/sample,target=/sample \
    export PYTHONPATH=/app \
    && /opt/venv/bin/python -m triage run --repo /sample --issue /sample/issue.md --engine rules >/dev/null \
    && /opt/venv/bin/python -c 'import triage.action, triage.run.triage_issue, triage.outside.github.issue_tracker, triage.outside.model.chat_model, triage.outside.output.telemetry, triage.outside.web.web_search_tool, openai.resources.chat' \
    && /opt/venv/bin/python -m compileall -q /app/triage
# No USER: the runner's files and the workspace can be written by root only (GitHub's rule for Docker actions).
# A signal that comes while Python starts waits (env): the first process of a container would not even get it.
# Isolated (-I): neither the working directory, nor PYTHON* variables, nor a user's site-packages are looked at.
ENTRYPOINT ["/usr/bin/env", "--block-signal=INT,TERM", "/opt/venv/bin/python", "-I", "-u", "/app/entrypoint.py"]
