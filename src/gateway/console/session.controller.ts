import { Body, Controller, Delete, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { readObject } from '@switchyard/engine-api/field-problems.js';
import { filled, objectOf } from '@switchyard/engine-api/rules.js';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { Authenticator, bearerToken, type SignedIn } from '../../platform/auth/authenticator.js';
import { OriginGuard } from '../../platform/auth/host-and-origin-guard.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { type Principal } from '../../platform/auth/principal.js';
import {
  TOKEN_PREFIX,
  SESSION_LIFE_S,
  sessionCookie,
  sessionToken,
  ShortLivedTokens,
} from '../../platform/auth/short-lived-tokens.js';
import { Settings } from '../../platform/config/settings.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { DescribesSignIn, DescribesSignOut } from './console.openapi.js';
import { ConsoleSessionDto } from './dto/session.dto.js';

/** A token of the OIDC issuer is the longest. */
const SIGN_IN = objectOf({ key: filled(8192) });

/**
 * Who looks at the console. The cookie stands for the key that signed in: its tenant, its
 * scopes, its end.
 */
@Controller('console/session')
export class ConsoleSessionController {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly tokens: ShortLivedTokens,
    private readonly keys: KeyRing,
    private readonly origins: OriginGuard,
    private readonly settings: Settings,
  ) {}

  @Get()
  @Answers(ConsoleSessionDto)
  async find(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    this.origins.demandRequest(request.method, request.headers);
    void reply.header('cache-control', 'no-store');
    return this.#describe(await this.#current(request));
  }

  @Post()
  @Answers(ConsoleSessionDto)
  @DescribesSignIn()
  async signIn(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    this.#demandOwnPage(request);
    const { key } = readObject(SIGN_IN, body ?? {});
    const principal = await this.#principalOf(key, request);
    const scopes = [...principal.scopes];
    const { token } = this.tokens.mint({
      principal,
      scopes,
      ttlS: SESSION_LIFE_S,
    });
    void reply.headers({
      'set-cookie': sessionCookie(token, isSecure(request)),
      'cache-control': 'no-store',
    });
    return this.#describe(principal);
  }

  @Delete()
  @HttpCode(204)
  @DescribesSignOut()
  async signOut(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    this.#demandOwnPage(request);
    await this.authenticator.endSession(sessionToken(request.headers) ?? '');
    void reply.header('set-cookie', sessionCookie('', isSecure(request)));
  }

  /**
   * @throws DomainError `invalid_api_key`; also for a short-lived token, which would
   *   outlive itself as a cookie
   */
  #principalOf(key: string, { headers, ip }: FastifyRequest): SignedIn {
    const tried = { ...headers, authorization: `Bearer ${key}` };
    const token = key.startsWith(TOKEN_PREFIX) ? TOKEN_PREFIX : bearerToken(tried);
    return this.authenticator.authenticateRequest(token, { headers: tried, ip });
  }

  /** With keys or without: another site must not sign a user in or out. */
  #demandOwnPage({ method, headers }: FastifyRequest): void {
    this.origins.demandRequest(method, headers);
    this.origins.demandSession(method, headers);
  }

  async #current(request: FastifyRequest): Promise<Principal | undefined> {
    try {
      return await this.authenticator.authenticateRequest(sessionToken(request.headers), request);
    } catch {
      return undefined;
    }
  }

  #describe(principal: Principal | undefined) {
    const { traceUrl: trace, manualUrl: manual } = this.settings.console;
    return {
      keys_required: this.keys.enabled,
      signed_in: principal !== undefined,
      tenant: principal?.tenant ?? '',
      scopes: [...(principal?.scopes ?? [])],
      links: principal?.scopes.has('admin') ? { trace, manual } : undefined,
    };
  }
}

const isSecure = ({ protocol }: FastifyRequest): boolean => protocol === 'https';
