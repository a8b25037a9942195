"""Tells an ID token from an access token. Both can be for the same audience, and have the same claims of roles.

No claim says it at every provider, so these are the marks that they have: `typ` at Keycloak, `token_use` at Cognito,
`at_hash` and `c_hash` of OpenID Connect (an access token cannot have its own hash), and `nonce`, which Authentik and
Keycloak before version 25 put into access tokens too, but only beside a mark of an access token.
"""

from collections.abc import Container, Mapping
from typing import Any, Final

_ACCESS_TYPES: Final = {"at+jwt", "application/at+jwt"}
_HASHES: Final = {"at_hash", "c_hash"}
_OF_ACCESS: Final = {"azp", "client_id", "cid", "scope", "scp"}


def is_id_token(header: Mapping[str, Any], claims: Mapping[str, Any], clients: Container[str | None]) -> bool:
    """Whether a verified token is an ID token, as far as it shows.

    Args:
        header: the token's header.
        claims: the token's claims.
        clients: the service's own clients at the provider, for which ID tokens are. A token for nobody else must show
            that it is an access token.
    """
    if str(header.get("typ")).lower() in _ACCESS_TYPES:  # RFC 9068
        return False
    if claims.get("typ") == "ID" or claims.get("token_use") == "id" or not _HASHES.isdisjoint(claims):
        return True
    if not _OF_ACCESS.isdisjoint(claims) or claims.get("typ") == "Bearer":
        return False
    audience = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
    return "nonce" in claims or all(each in clients for each in audience)
