"""The tests' own provider, with people who sign on: PKCE, refresh tokens that are used once, and device codes."""

import secrets
from base64 import b64encode, urlsafe_b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from provider import AUDIENCE, Answer, Asked, Provider

CLIENT = "snapledger-people"
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


@dataclass
class Grant:
    """What somebody allowed, until it is revoked or one of its refresh tokens is used twice."""

    subject: str
    asked: dict[str, str]
    is_revoked: bool = False


@dataclass
class Device:
    """A device code: `waits` polls are answered by `authorization_pending`, then it is allowed or denied."""

    grant: Grant
    replies: list[str] = field(default_factory=list)


class SignOnProvider(Provider):
    """Whoever comes is `person` and allows everything at once, unless `denies`."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.configuration |= {
            "authorization_endpoint": f"{url}/authorize?tenant=tests",
            "token_endpoint": f"{url}/token",
            "revocation_endpoint": f"{url}/revoke",
            "end_session_endpoint": f"{url}/end",
            "device_authorization_endpoint": f"{url}/device",
            "authorization_response_iss_parameter_supported": True,
        }
        self.person, self.roles, self.denies = "ada", ("analysts",), False
        self.seconds: int | None = 300
        self.gives_refresh = True
        self.access_claims: dict[str, Any] = {}
        self.identity_claims: dict[str, Any] = {}
        self.device_replies: list[str] = []
        self.device_answer: dict[str, Any] = {"interval": 0, "expires_in": 60}
        self.secret: str | None = None
        self.codes: dict[str, Grant] = {}
        self.refreshes: dict[str, Grant] = {}
        self.used: set[str] = set()
        self.devices: dict[str, Device] = {}
        self.calls: list[tuple[str, dict[str, str]]] = []

    def count(self, path: str) -> int:
        return sum(called == path for called, _ in self.calls)

    def answer(self, asked: Asked) -> Answer:
        path = urlsplit(asked.path).path
        routes = {
            "/authorize": self._authorize,
            "/token": self._token,
            "/revoke": self._revoke,
            "/device": self._device,
            "/end": self._end,
        }
        if path not in routes:
            return super().answer(asked)
        given = asked.form or dict(parse_qsl(urlsplit(asked.path).query, keep_blank_values=True))
        if self.secret is not None and path in {"/token", "/revoke"}:
            basic = b64encode(f"{CLIENT}:{quote(self.secret, safe='')}".encode()).decode()
            if asked.authorization != f"Basic {basic}":
                return Answer.json({"error": "invalid_client"}, 401)
        self.calls.append((path, given))
        return routes[path](given)

    def _authorize(self, asked: dict[str, str]) -> Answer:
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        assert (asked["client_id"], asked["tenant"]) == (CLIENT, "tests")
        told = {"state": asked["state"], "iss": self.url}
        if self.denies:
            told |= {"error": "access_denied", "error_description": "<b>no</b>"}
        else:
            told["code"] = secrets.token_urlsafe()
            self.codes[told["code"]] = Grant(self.person, asked)
        return Answer(303, headers={"Location": f"{asked['redirect_uri']}?{urlencode(told)}"})

    def _token(self, asked: dict[str, str]) -> Answer:
        if self.secret is None and asked.get("client_id") != CLIENT:
            return Answer.json({"error": "invalid_client"}, 401)
        kinds = {"authorization_code": self._by_code, "refresh_token": self._by_refresh, DEVICE_GRANT: self._by_device}
        found = kinds[asked["grant_type"]](asked)
        if isinstance(found, str):
            return Answer.json({"error": found, "error_description": "<b>no</b>"}, 400)
        return Answer.json(self._tokens(found, asked["grant_type"]))

    def _by_code(self, asked: dict[str, str]) -> Grant | str:
        grant = self.codes.pop(asked["code"], None)
        challenge = urlsafe_b64encode(sha256(asked["code_verifier"].encode()).digest()).rstrip(b"=").decode()
        if grant is None or grant.asked["code_challenge"] != challenge:
            return "invalid_grant"
        return grant if grant.asked["redirect_uri"] == asked["redirect_uri"] else "invalid_grant"

    def _by_refresh(self, asked: dict[str, str]) -> Grant | str:
        grant = self.refreshes.get(asked["refresh_token"])
        if grant is None or grant.is_revoked:
            return "invalid_grant"
        if asked["refresh_token"] in self.used:
            grant.is_revoked = True  # somebody has a copy
            return "invalid_grant"
        self.used.add(asked["refresh_token"])
        return grant

    def _by_device(self, asked: dict[str, str]) -> Grant | str:
        device = self.devices[asked["device_code"]]
        return device.replies.pop(0) if device.replies else device.grant

    def _tokens(self, grant: Grant, grant_type: str) -> dict[str, Any]:
        expiry = {} if self.seconds is None else {"exp": self.claims("", [])["iat"] + self.seconds}
        access = self.token(grant.subject, self.roles, **({"jti": secrets.token_hex()} | expiry | self.access_claims))
        document: dict[str, Any] = {"access_token": access, "token_type": "bearer"}
        if self.seconds is not None:
            document["expires_in"] = self.seconds
        if self.gives_refresh:
            document["refresh_token"] = secrets.token_urlsafe()
            self.refreshes[document["refresh_token"]] = grant
        nonce = {"nonce": grant.asked["nonce"]} if grant_type == "authorization_code" else {}
        document["id_token"] = self.token(grant.subject, ..., **({"aud": CLIENT} | nonce | self.identity_claims))
        return document

    def _revoke(self, asked: dict[str, str]) -> Answer:
        if (grant := self.refreshes.get(asked["token"])) is not None:
            grant.is_revoked = True
        return Answer(200)

    def _end(self, asked: dict[str, str]) -> Answer:
        return Answer(303, headers={"Location": asked["post_logout_redirect_uri"]})

    def _device(self, asked: dict[str, str]) -> Answer:
        code = secrets.token_urlsafe()
        self.devices[code] = Device(Grant(self.person, asked), list(self.device_replies))
        shown = {"device_code": code, "user_code": "WDJB-MJHT", "verification_uri": f"{self.url}/activate"}
        return Answer.json(shown | self.device_answer)


def sign_on_settings(issuer: SignOnProvider, **changed: str) -> dict[str, str]:
    """The settings of a service where people sign on."""
    return {
        "OIDC_ISSUER": issuer.url,
        "OIDC_AUDIENCE": AUDIENCE,
        "OIDC_ROLE_MAP": "analysts=analyst",
        "OIDC_REFETCH_SECONDS": "1",
        "OIDC_CLIENT_ID": CLIENT,
        "OIDC_KEYS_SECONDS": "1",
        "PUBLIC_URL": "{url}",
        **changed,
    }
