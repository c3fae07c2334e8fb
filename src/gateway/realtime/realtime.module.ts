import {
  Module,
  Body,
  Controller,
  HttpCode,
  Post,
  Res,
  Get,
  Param,
} from '@nestjs/common';
import { RedisModule } from '../../platform/redis/redis.module.js';
import { InferenceModule } from '../inference/inference.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { ModelsModule } from '../models/models.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { WorkerPoolModule } from '../worker-pool/worker-pool.module.js';
import { ClientSecrets, type ClientSecret } from './client-secrets.js';
import { SessionJournals } from './journal/session-journals.js';
import { SessionActivity } from './session/session-activity.js';
import { RealtimeSessions } from './realtime-sessions.js';
import { RealtimeGateway } from './realtime.gateway.js';
import { realtimeMetricProviders } from './realtime.metrics.js';
import { SessionServices } from './session/session-services.js';
import { randomBytes } from 'node:crypto';
import { ApiBody, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { type FastifyReply } from 'fastify';
import { IGNORED_HEADER } from '../../contracts/openai/field-types.js';
import { type Dialect, sessionView } from '../../contracts/realtime/session-view.js';
import { CallerPrincipal } from '../http/params.js';
import { type Principal } from '../../platform/auth/principal.js';
import { Answers } from '../http/openapi/route.decorator.js';
import {
  choiceField,
  flagField,
  listField,
  numberField,
  textField,
  view,
  type ViewOf,
} from '../http/openapi/view.js';
import { CLOSE } from '../../contracts/realtime/realtime-event.js';
import { type RealtimeSession } from './realtime-session.js';
import { WrittenFormModule } from '../written-form/written-form.js';

/** For the last words of a session that an operator ends. */
const FLUSH_MS = 2000;

const LiveSessionDto = view('LiveSessionDto', {
  id: textField({ example: 'sess_0a1b2c3d4e5f60718293a4b5' }),
  tenant: String,
  model: textField('As the client named it.'),
  state: choiceField(
    ['attached', 'detached'],
    'detached: its connection was lost; it can be resumed.',
  ),
  streaming: flagField('True while it holds a streaming slot.'),
  started_at: numberField('Unix seconds.'),
  audio_seconds: numberField('Audio received so far.'),
});

const LiveSessionListDto = view('LiveSessionListDto', {
  data: listField(LiveSessionDto),
});

const EndedSessionDto = view('EndedSessionDto', {
  session_id: String,
  ended: flagField('False: there is no such session on this gateway.'),
});

/** The live sessions of this gateway. */
@Controller('admin/v1/sessions')
class AdminSessionsController {
  constructor(private readonly sessions: RealtimeSessions) {}

  @Get()
  @Answers(LiveSessionListDto)
  list() {
    return { data: this.sessions.all().map(liveSessionDto) };
  }

  @Post(':id/end')
  @ApiOperation({ description: 'Its last words are finished; it closes with 1008.' })
  @Answers(EndedSessionDto)
  async end(@Param('id') id: string) {
    const session = this.sessions.all().find(one => one.id === id);
    await session?.leave(CLOSE.policyViolation, 'ended by an operator', FLUSH_MS);
    return { session_id: id, ended: session !== undefined };
  }
}

const liveSessionDto = (session: RealtimeSession): ViewOf<typeof LiveSessionDto> => ({
  id: session.id,
  tenant: session.owner.tenant,
  model: session.config.model,
  state: session.detachedAtMs === undefined ? 'attached' : 'detached',
  streaming: session.live,
  started_at: session.startedAt,
  audio_seconds: session.receivedMs / 1000,
});

const GA_EXAMPLE = {
  expires_after: { anchor: 'created_at', seconds: 600 },
  session: {
    type: 'transcription',
    audio: { input: { transcription: { model: 'whisper-1', language: 'en' } } },
  },
};
const OLDER_EXAMPLE = {
  input_audio_format: 'pcm16',
  input_audio_transcription: { model: 'whisper-1' },
};

@Controller('v1/realtime')
class ClientSecretsController {
  constructor(private readonly secrets: ClientSecrets) {}

  @Post('client_secrets')
  @HttpCode(200)
  @ApiBody({ schema: { type: 'object', example: GA_EXAMPLE } })
  @ApiOkResponse({
    description: '`value` is the token, `session` what its sessions begin with.',
  })
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
  @ApiBody({ schema: { type: 'object', example: OLDER_EXAMPLE } })
  @ApiOkResponse({ description: '`client_secret.value` is the token.' })
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
  { config, expiresAt, ignored }: ClientSecret,
  dialect: Dialect,
  reply: FastifyReply,
): Record<string, unknown> {
  if (ignored.length > 0) reply.header(IGNORED_HEADER, ignored.join(', '));
  const id = `sess_${randomBytes(12).toString('hex')}`;
  return sessionView(config, { id, expiresAt }, dialect);
}

/**
 * Live speech in, live speech out: `/v1/realtime`. Streams never queue; spoken answers go
 * through the scheduler.
 */
@Module({
  imports: [
    InferenceModule,
    LimitsModule,
    ModelsModule,
    RedisModule,
    SchedulerModule,
    WrittenFormModule,
    WorkerPoolModule,
  ],
  controllers: [ClientSecretsController, AdminSessionsController],
  providers: [
    RealtimeGateway,
    RealtimeSessions,
    SessionServices,
    SessionJournals,
    SessionActivity,
    ClientSecrets,
    ...realtimeMetricProviders,
  ],
  exports: [SessionActivity],
})
export class RealtimeModule {}
