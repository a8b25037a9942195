"""An OpenID Connect provider of the tests' own: a key set behind a small server, and tokens of every kind."""

import base64
import hmac
import json
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

AUDIENCE = "snapledger"


def encoded(part: bytes) -> str:
    """As the parts of a token are."""
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


def rsa_key(bits: int = 2048) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, bits)


def public_pem(key: PrivateKeyTypes) -> bytes:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(serialization.Encoding.PEM, form)


def published(key: PrivateKeyTypes, **members: Any) -> dict[str, Any]:
    """A key as a member of a key set."""
    algorithm = RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else ECAlgorithm
    document: dict[str, Any] = json.loads(algorithm.to_jwk(key.public_key()))  # type: ignore[arg-type]
    document.pop("key_ops", None)
    return document | members


@dataclass(frozen=True)
class Asked:
    """A request to a provider."""

    method: str
    path: str
    form: dict[str, str]
    authorization: str | None


@dataclass(frozen=True)
class Answer:
    """What a provider answers."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def json(cls, document: Any, status: int = 200) -> "Answer":
        return cls(status, json.dumps(document).encode(), {"Content-Type": "application/json"})


class Provider:
    """Its keys, its tokens, and how often its key set was asked for."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.key: PrivateKeyTypes = rsa_key()
        self.kid = "first"
        self.keys = [published(self.key, kid=self.kid, use="sig", alg="RS256")]
        self.configuration: dict[str, Any] = {"issuer": url, "jwks_uri": f"{url}/keys"}
        self.asked = 0
        self.away = False

    def answer(self, asked: Asked) -> Answer:
        """Its documents; anything else is an empty one."""
        documents = {"/.well-known/openid-configuration": self.configuration, "/keys": {"keys": self.keys}}
        if asked.path == "/keys":
            self.asked += 1
        return Answer.json(documents.get(asked.path, {}))

    def rotate(self, kid: str) -> None:
        """Sign with a new key, and publish it alone."""
        self.key, self.kid = rsa_key(), kid
        self.keys = [published(self.key, kid=kid, use="sig", alg="RS256")]

    def claims(self, subject: str, roles: Any, **changed: Any) -> dict[str, Any]:
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": subject,
            "iat": now,
            "exp": now + 300,
            "preferred_username": subject,
            "roles": roles,
            **changed,
        }
        return {name: value for name, value in claims.items() if value is not ...}

    def token(
        self, subject: str, roles: Any = ("analysts",), *, key: Any = None, header: Any = None, **changed: Any
    ) -> str:
        """A token in force, but for what is changed in its claims or its header; `...` leaves a claim out."""
        headers = {"kid": self.kid, **(header or {})}
        claims = self.claims(subject, list(roles) if isinstance(roles, tuple) else roles, **changed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", jwt.warnings.InsecureKeyLengthWarning)  # a short key is meant to be tried
            return jwt.encode(claims, key or self.key, headers.get("alg", "RS256"), headers)  # type: ignore[arg-type]

    def signed(self, header: str, claims: str) -> str:
        """A token of these very texts, with a right signature."""
        head = f"{encoded(header.encode())}.{encoded(claims.encode())}"
        assert isinstance(self.key, rsa.RSAPrivateKey)
        signature = RSAAlgorithm(RSAAlgorithm.SHA256).sign(head.encode(), self.key)
        return f"{head}.{encoded(signature)}"

    def confused(self, subject: str) -> str:
        """HS256 with the public key as its secret."""
        header = json.dumps({"alg": "HS256", "kid": self.kid, "typ": "JWT"})
        head = f"{encoded(header.encode())}.{encoded(json.dumps(self.claims(subject, ['admins'])).encode())}"
        return f"{head}.{encoded(hmac.digest(public_pem(self.key), head.encode(), 'sha256'))}"


One = TypeVar("One", bound=Provider)


def elliptic() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@contextmanager
def provider(kind: type[One]) -> Iterator[One]:
    """A provider at an address of its own."""

    class Answers(BaseHTTPRequestHandler):
        def _answer(self, form: dict[str, str]) -> None:
            one, answer = answering[0], Answer(503)
            if not one.away:
                answer = one.answer(Asked(self.command, self.path, form, self.headers.get("Authorization")))
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self._answer(dict(parse_qsl(body.decode(), keep_blank_values=True)))

        def log_message(self, *_: Any) -> None:
            pass

    answering: list[One] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        answering.append(kind(f"http://127.0.0.1:{server.server_port}"))
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield answering[0]
        finally:
            server.shutdown()
            thread.join()
