# The images of docker-compose.yml, `controller` and `exporter`: what they install is in the lock files, by hash.
#
# The bases are pinned by tag and by the digest of what the tag meant for all platforms. `docker buildx imagetools
# inspect python:3.11.15-slim-bookworm` prints the digest of a tag today: replace both, here and nowhere else.

FROM python:3.11.15-bookworm@sha256:a8f8fbe1a0edc9e4dddafa64ba73f7e04be7be5ebc23f332362e779e0a2e4e52 AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src
COPY requirements*.lock ./
RUN python -m venv /build && python -m venv --without-pip /opt/kraftctl
RUN /build/bin/pip download --require-hashes --only-binary :all: -r requirements.lock -d /requirements
RUN /build/bin/pip --python /opt/kraftctl/bin/python install --no-index --find-links /requirements --require-hashes -r requirements-run.lock
COPY . .
# As `make build` does: in an environment that has the build requirements of the lock file, and nothing else.
RUN KRAFTCTL_PURE=0 /build/bin/pip wheel --no-deps --no-index --find-links /requirements -w /wheels .
RUN /build/bin/pip --python /opt/kraftctl/bin/python install --no-deps --no-index --find-links /wheels kraftctl

# pyspark is published as a source archive: it is built with the setuptools of the lock file.
FROM build AS build-exporter
RUN /build/bin/pip install --no-index --find-links /requirements --require-hashes -r requirements.lock
RUN /build/bin/pip wheel --require-hashes --no-deps --no-build-isolation -r requirements-export.lock -w /wheels
RUN /build/bin/pip --python /opt/kraftctl/bin/python install --no-index --find-links /wheels 'kraftctl[spark,export]'

FROM python:3.11.15-slim-bookworm@sha256:d29f48a31a8b408ed19272ca1e7b10ebae13b240a27e862d3d4217c528e2e0c3 AS base
ENV PATH=/opt/kraftctl/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
RUN useradd --uid 1000 --user-group --create-home kraftctl

FROM base AS exporter
# The archive of Debian keeps one version of each package: another one would fail, and not be older.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends openjdk-17-jre-headless procps && rm -rf /var/lib/apt/lists/*
COPY --from=build-exporter /opt/kraftctl /opt/kraftctl
RUN install -d -o 1000 -g 1000 /export
USER 1000:1000

FROM base AS controller
COPY --from=build /opt/kraftctl /opt/kraftctl
RUN install -d -m 700 -o 1000 -g 1000 /var/lib/kraftctl
USER 1000:1000
