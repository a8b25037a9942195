# syntax=docker/dockerfile:1
FROM python:3.11-slim-bookworm AS guide
WORKDIR /build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY requirements-docs.lock ./
RUN pip install --require-hashes -r requirements-docs.lock
COPY pyproject.toml README.md ./
COPY app ./app
COPY migrations ./migrations
COPY client/src ./client/src
COPY deploy ./deploy
COPY docs ./docs
RUN pip install --no-deps . && sphinx-build -q -n -W -b html -d /tmp/doctrees docs /guide

FROM python:3.11-slim-bookworm AS build
WORKDIR /build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/snapledger
COPY requirements.lock ./
RUN /opt/snapledger/bin/pip install --require-hashes -r requirements.lock
COPY pyproject.toml README.md ./
COPY app ./app
COPY migrations ./migrations
COPY client/src ./client/src
COPY --from=guide /guide ./app/guide
RUN /opt/snapledger/bin/pip install --no-deps .

FROM python:3.11-slim-bookworm
RUN useradd --system --uid 10001 --home-dir /var/lib/snapledger --create-home snapledger
COPY --from=build /opt/snapledger /opt/snapledger
ENV PATH=/opt/snapledger/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    SNAPLEDGER_DATABASE_URL=sqlite:////var/lib/snapledger/ledger.sqlite3 \
    SNAPLEDGER_DATA_DIR=/var/lib/snapledger/data
USER snapledger
WORKDIR /var/lib/snapledger
VOLUME /var/lib/snapledger
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]
CMD ["snapledger", "serve", "--host", "0.0.0.0", "--port", "8000"]
