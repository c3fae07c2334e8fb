import { randomBytes } from 'node:crypto';
import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { IGNORED_HEADER } from '../../contracts/openai/field-types.js';
import { type Dialect, sessionView } from '../../contracts/realtime/session-view.js';
import { type Principal } from '../../platform/auth/principal.js';
import { CallerPrincipal } from '../http/params.js';
import { ClientSecrets } from './client-secrets.js';
import { DescribesOlderSecret, DescribesSecret } from './client-secrets.openapi.js';

@Controller('v1/realtime')
export class ClientSecretsController {
  constructor(private readonly secrets: ClientSecrets) {}

  @Post('client_secrets')
  @HttpCode(200)
  @DescribesSecret()
  create(
    @CallerPrincipal() principal: Principal,
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Record<string, unknown> {
    const secret = this.secrets.create(body, principal);
    const { value, expiresAt } = secret;
    return { value, expires_at: expiresAt, session: shown(secret, 'ga', reply) };
  }

  @Post('transcription_sessions')
  @HttpCode(200)
  @DescribesOlderSecret()
  createOlder(
    @CallerPrincipal() principal: Principal,
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Record<string, unknown> {
    const secret = this.secrets.createOlder(body, principal);
    const { value, expiresAt } = secret;
    const session = shown(secret, 'older', reply);
    return { ...session, client_secret: { value, expires_at: expiresAt } };
  }
}

/** The session that begins with the token. */
function shown(
  { config, expiresAt, ignored }: ReturnType<ClientSecrets['create']>,
  dialect: Dialect,
  reply: FastifyReply,
): Record<string, unknown> {
  if (ignored.length > 0) reply.header(IGNORED_HEADER, ignored.join(', '));
  const id = `sess_${randomBytes(12).toString('hex')}`;
  return sessionView(config, { id, expiresAt }, dialect);
}
