# syntax=docker/dockerfile:1
# The guide that the service shows at /guide.
FROM python:3.11.16-slim-trixie@sha256:be1575ed968de893bd54f4c56315ff7c4736ce522c1bca08fd521731aafc0d76 AS guide
ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
RUN python -m venv /opt/guide
COPY requirements-build.lock requirements-docs.lock ./
RUN /opt/guide/bin/pip install --require-hashes --only-binary :all: -r requirements-build.lock \
    && /opt/guide/bin/pip install --require-hashes --only-binary :all: -r requirements-docs.lock
COPY pyproject.toml README.md LICENSE ./
COPY app ./app
COPY migrations ./migrations
COPY client ./client
COPY deploy ./deploy
COPY docs ./docs
RUN /opt/guide/bin/pip install --no-deps --no-build-isolation ./client . \
    && /opt/guide/bin/sphinx-build -q -n -W -b html -d /tmp/doctrees docs /guide

# Not the slim one, which has no strip.
FROM python:3.11.16-trixie@sha256:70e8e937c1da72df1688e883a2108b0feff03381187fa78eca6d9b10df411320 AS build
ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
RUN python -m venv /opt/tools \
    && python -m venv --without-pip /opt/snapledger
# Wheels alone: nothing of a dependency runs while it is installed, and no compiler is needed.
COPY requirements-build.lock requirements.lock ./
RUN /opt/tools/bin/pip install --require-hashes --only-binary :all: -r requirements-build.lock \
    && /opt/tools/bin/pip wheel --require-hashes --only-binary :all: --wheel-dir /wheels -r requirements.lock \
    && /opt/tools/bin/pip --python /opt/snapledger/bin/python install --no-compile --no-index --no-deps /wheels/*.whl
COPY pyproject.toml README.md LICENSE ./
COPY app ./app
COPY migrations ./migrations
COPY client ./client
COPY --from=guide /guide ./app/guide
RUN /opt/tools/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /built ./client . \
    && /opt/tools/bin/pip --python /opt/snapledger/bin/python install --no-compile --no-index --no-deps /built/*.whl
# No service reads tests, headers, sources, type stubs and debug symbols, and Arrow's clients of Flight and S3; some of
# its libraries are there three times (docs/decisions/0045-weight.md).
WORKDIR /opt/snapledger/lib/python3.11/site-packages
RUN rm -rf numpy/distutils numpy/f2py pyarrow/include pyarrow/includes pyarrow/src pyarrow/*flight* \
        pyarrow/_s3fs.* pyarrow/libarrow_s3.* pyarrow/libarrow_python*.so pyarrow/libarrow_python*.so.*.*.* \
    && find . -type d -name tests -prune -exec rm -rf {} + \
    && find . -type f -regex '.*\.\(a\|h\|pxd\|pxi\|pyi\|pyx\)' -delete \
    && find . -type f -regex '\./\(cryptography\|pyarrow\|pysqlite3\|sqlalchemy\|uvloop\)/.*\.so\(\.[0-9]*\)?' \
        -exec strip --strip-unneeded {} +
# A first run of everything writes the bytecode of the modules that a service imports, and shows that none is missing.
RUN /opt/snapledger/bin/snapledger demo > /dev/null \
    && /opt/snapledger/bin/python -c 'import psycopg, redis, sqlalchemy.dialects.postgresql.psycopg, python_calamine'

FROM python:3.11.16-slim-trixie@sha256:be1575ed968de893bd54f4c56315ff7c4736ce522c1bca08fd521731aafc0d76
# The interpreter's own pip is no use to a service, and of some to who breaks into one.
RUN rm -rf /usr/local/lib/python3.11/site-packages/* /usr/local/lib/python3.11/ensurepip /usr/local/bin/pip* \
    && groupadd --system --gid 10001 snapledger \
    && useradd --system --uid 10001 --gid 10001 --home-dir /var/lib/snapledger --no-create-home snapledger \
    && install -d -m 0700 -o 10001 -g 10001 /var/lib/snapledger
COPY --from=build /opt/snapledger /opt/snapledger
# Uploads wait in TMPDIR until they are checked: on the volume, since /tmp may be memory, and they are as secret as it is.
ENV PATH=/opt/snapledger/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    TMPDIR=/var/lib/snapledger \
    SNAPLEDGER_DATA_DIR=/var/lib/snapledger/data
USER 10001:10001
WORKDIR /var/lib/snapledger
VOLUME /var/lib/snapledger
EXPOSE 8000
# Whether the process answers; a database that is away is no reason to start it again (that is /readyz).
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
ENTRYPOINT ["snapledger"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
