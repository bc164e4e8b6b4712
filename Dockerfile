# kohort as an image: `docker build --tag kohort .`, then `docker run --rm kohort list -b broker-1:9092`.
ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
ARG EXTRAS=aws,azure,gcp,keystores
COPY . /src
# The venv has the dependencies of the wheel, without the build tools.
RUN python -m venv /opt/kohort \
 && /opt/kohort/bin/pip install --no-cache-dir --disable-pip-version-check --constraint /src/constraints.txt "/src[${EXTRAS}]"

FROM python:${PYTHON}-slim
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
