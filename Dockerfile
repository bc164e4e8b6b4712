# kohort as an image: `docker build --tag kohort .`, then `docker run --rm kohort list -b broker-1:9092`.
ARG PYTHON=3.13
# A release names the base by its digest: --build-arg BASE=python:3.13-slim@sha256:…
ARG BASE=python:${PYTHON}-slim

FROM ${BASE} AS build
# More extras than those of locks/image.txt; their packages have the versions of constraints.txt, and no hashes.
ARG EXTRAS=
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY . /src
# The venv has the dependencies of the wheel, without the build tools.
RUN sed -n '/^setuptools==/,/[^\\]$/p' /src/locks/dev.txt > /tmp/build.txt \
 && python -m pip install --require-hashes --no-deps --requirement /tmp/build.txt \
 && python -m pip wheel --no-deps --no-build-isolation --wheel-dir /tmp/wheel /src \
 && python -m venv /opt/kohort \
 && /opt/kohort/bin/pip install --require-hashes --no-deps --requirement /src/locks/image.txt \
 && /opt/kohort/bin/pip install --no-deps /tmp/wheel/*.whl \
 && if [ -n "${EXTRAS}" ]; then /opt/kohort/bin/pip install --constraint /src/constraints.txt "/src[${EXTRAS}]"; fi

FROM ${BASE}
COPY --from=build /opt/kohort /opt/kohort
ENV PATH=/opt/kohort/bin:$PATH \
    HOME=/tmp \
    KOHORT_IMAGE=1 \
    PYTHONUNBUFFERED=1
USER 65532:65532
WORKDIR /tmp
EXPOSE 9408
# Only `kohort exporter` has a health page. With TLS set HEALTH_URL to https://…; the certificate is not verified from inside.
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s CMD ["python", "-c", "\
import os, ssl, urllib.request as web; \
url = os.environ.get('HEALTH_URL', 'http://127.0.0.1:9408/-/healthy'); \
tls = ssl._create_unverified_context() if url.startswith('https') else None; \
web.urlopen(url, timeout=4, context=tls)"]
ENTRYPOINT ["kohort"]
CMD ["--help"]
