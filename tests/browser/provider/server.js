// A certified OpenID Connect provider, as an organisation might run it: node server.js PORT DASHBOARD TOKEN_SECONDS

import { generateKeyPairSync } from "node:crypto";
import Provider from "oidc-provider";

const [port, dashboard, seconds] = process.argv.slice(2);
const RESOURCE = "https://snapledger.example";
const DEVICE = "urn:ietf:params:oauth:grant-type:device_code";

const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" });

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "snapledger",
      token_endpoint_auth_method: "none",
      redirect_uris: [`${dashboard}/sign-on/callback`],
      post_logout_redirect_uris: [`${dashboard}/`],
      grant_types: ["authorization_code", "refresh_token", DEVICE],
    },
  ],
  jwks: { keys: [{ ...key, kid: "first", alg: "RS256", use: "sig" }] },
  claims: { openid: ["sub"], profile: ["preferred_username"] },
  cookies: { keys: ["only the tests' own"] },
  pkce: { required: () => true },
  features: {
    deviceFlow: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: "",
        audience: "snapledger",
        accessTokenFormat: "jwt",
        accessTokenTTL: Number(seconds),
        jwt: { sign: { alg: "RS256" } },
      }),
    },
  },
  issueRefreshToken: (_ctx, client) => client.grantTypeAllowed("refresh_token"),
  rotateRefreshToken: true,
  extraTokenClaims: (_ctx, token) => ({ preferred_username: token.accountId, roles: ["analysts"] }),
});

for (const name of ["server_error", "authorization.error", "grant.error", "grant.success", "revocation.error"])
  provider.on(name, (_ctx, error) => console.log(name, error?.error ?? "", error?.error_detail ?? error?.message ?? ""));
provider.listen(Number(port), "127.0.0.1", () => console.log("ready", RESOURCE));
