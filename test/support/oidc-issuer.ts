import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import {
  type CryptoKey,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  SignJWT,
} from 'jose';

interface IssuerKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly jwk: JWK;
}

export interface TokenWish {
  readonly claims?: JWTPayload;
  /** Header fields besides `alg` and `kid`. */
  readonly alg?: string;
  readonly kid?: string;
  readonly signWith?: CryptoKey | Uint8Array;
  readonly expiresInS?: number;
}

/**
 * An OpenID Connect issuer on loopback: discovery, keys, and tokens of whatever kind a
 * test asks for.
 */
export class OidcIssuer implements AsyncDisposable {
  readonly requests: string[] = [];
  /** What discovery says of the issuer and of its keys, in place of the truth. */
  document: Readonly<Record<string, unknown>> = {};
  away = false;
  /** More public keys beside the one that signs. */
  otherKeys: readonly unknown[] = [];
  readonly #server: Server;
  #key!: IssuerKey;
  #served: readonly JWK[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      this.requests.push(request.url ?? '');
      const { issuer } = this;
      const documents: Record<string, object> = {
        '/.well-known/openid-configuration': {
          issuer,
          jwks_uri: `${issuer}/keys`,
          ...this.document,
        },
        '/keys': { keys: [...this.#served, ...this.otherKeys] },
      };
      const found = this.away ? undefined : documents[request.url ?? ''];
      response
        .writeHead(found ? 200 : 503, { 'content-type': 'application/json' })
        .end(JSON.stringify(found ?? {}));
    });
  }

  static async start(): Promise<OidcIssuer> {
    const issuer = new OidcIssuer();
    issuer.#server.listen(0, '127.0.0.1');
    await once(issuer.#server, 'listening');
    await issuer.rotate();
    return issuer;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The public key as text: what an attacker who signs with HS256 would use. */
  publicPem(): Promise<string> {
    return exportSPKI(this.#key.publicKey);
  }

  /** A new key takes the place of the one before. */
  async rotate(alg = 'RS256'): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const kid = `key-${this.requests.length}-${Math.random().toString(36).slice(2)}`;
    const jwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
    this.#key = { kid, alg, privateKey, publicKey, jwk };
    this.#served = [jwk];
  }

  token({ claims = {}, alg, kid, signWith, expiresInS = 300 }: TokenWish = {}): Promise<string> {
    const nowS = Math.floor(Date.now() / 1000);
    const payload = {
      iss: this.issuer,
      aud: 'switchyard',
      sub: 'alice',
      iat: nowS,
      exp: nowS + expiresInS,
      ...claims,
    };
    return new SignJWT(payload)
      .setProtectedHeader({ alg: alg ?? this.#key.alg, kid: kid ?? this.#key.kid })
      .sign(signWith ?? this.#key.privateKey);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }
}
