import { randomUUID } from 'node:crypto';
import { type IncomingMessage } from 'node:http';
import { type OnGatewayConnection, type OnGatewayInit, WebSocketGateway } from '@nestjs/websockets';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type WebSocket } from 'ws';
import { IgnoredFields } from '../../contracts/openai/ignored-fields.js';
import { errorEvent, CLOSE } from '../../contracts/realtime/realtime-event.js';
import { defaultSession, type SessionConfig } from '../../contracts/realtime/session-config.js';
import { type Dialect } from '../../contracts/realtime/session-view.js';
import { DomainError, shownError } from '../../core/errors/domain-error.js';
import { Authenticator, bearerToken, subprotocolToken } from '../../platform/auth/authenticator.js';
import { demandScope } from '../../platform/auth/principal.js';
import { Settings } from '../../platform/config/settings.js';
import { RateLimiter, type Ticket } from '../limits/rate-limiter.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { ClientSocket } from '../websockets/client-socket.js';
import { type WebSocketGatewayOptions } from '../websockets/composite-websocket-adapter.js';
import { type AdmittedCaller, type WebSocketEndpoint } from '../websockets/websocket-endpoint.js';
import { ClientSecrets } from './client-secrets.js';
import { type RealtimeSession } from './realtime-session.js';
import { RealtimeSessions } from './realtime-sessions.js';
import { resolveSession } from './session/session-core.js';

interface SessionCaller extends AdmittedCaller {
  /** Its place in `limits.concurrent_requests`; released by the session. */
  readonly ticket: Ticket | undefined;
}

/** Live sessions: `GET /v1/realtime` as a WebSocket. */
@WebSocketGateway<WebSocketGatewayOptions>({
  protocol: 'ws',
  path: '/v1/realtime',
  perMessageDeflate: false,
  // The key that browsers pass as a subprotocol is never echoed.
  handleProtocols: offered => (offered.has('realtime') ? 'realtime' : false),
})
export class RealtimeGateway
  implements OnGatewayInit<WebSocketEndpoint>, OnGatewayConnection<WebSocket>
{
  constructor(
    private readonly authenticator: Authenticator,
    private readonly sessions: RealtimeSessions,
    private readonly secrets: ClientSecrets,
    private readonly catalog: ModelCatalog,
    private readonly limits: RateLimiter,
    private readonly settings: Settings,
  ) {}

  afterInit(endpoint: WebSocketEndpoint): void {
    endpoint.options.maxPayload = this.settings.realtime.maxMessageBytes;
    endpoint.admitBy(request => this.#admit(request));
  }

  async handleConnection(
    webSocket: WebSocket,
    request: IncomingMessage,
    caller: SessionCaller,
  ): Promise<void> {
    const socket = new ClientSocket(webSocket, this.settings.realtime);
    try {
      await this.#open(socket, request, caller);
    } catch (error) {
      caller.ticket?.leave();
      const known = shownError(error);
      socket.send(writeJson({ ...errorEvent(known), event_id: 'event_0' }));
      socket.close(
        known.code === 'internal_error' ? CLOSE.internalError : CLOSE.policyViolation,
        known.code,
      );
    }
  }

  /** What can be refused without a session is refused in HTTP. @throws DomainError */
  async #admit(request: IncomingMessage): Promise<SessionCaller> {
    const principal = await this.authenticator.authenticateUpgrade(request);
    demandScope(principal, 'realtime');
    const isNew = !queryOf(request).has('session_id');
    this.sessions.demandRoom(principal, isNew);
    // A new session counts as a request while it lives; a resumed one was counted already.
    const ticket = isNew
      ? await this.limits.enter(principal, `realtime-${randomUUID()}`)
      : undefined;
    return { principal, ticket, release: () => ticket?.leave() };
  }

  /**
   * Starts or resumes the session. @throws DomainError about the query; the socket has
   * no session then.
   */
  async #open(
    socket: ClientSocket,
    request: IncomingMessage,
    { principal, ticket }: SessionCaller,
  ): Promise<void> {
    const query = queryOf(request);
    const id = query.get('session_id');
    if (id !== null) {
      const session = await this.#found(socket, id, secretOf(query), principal);
      return session.resume(socket, query.get('last_event_id') ?? '', principal);
    }
    const dialect = dialectOf(request);
    const ignored = new IgnoredFields(this.settings.compat.strict);
    const catalog = this.catalog.usableBy(principal);
    const config = this.#config(query, request, { catalog, ignored });
    if (principal.terms?.models) catalog.getOfKind(config.model, 'stt');
    const created =
      dialect === 'older' && query.get('intent') === 'transcription'
        ? 'transcription_session'
        : 'session';
    this.sessions
      .create({ config, dialect, owner: principal, ticket })
      .begin(socket, `${created}.created`, ignored.paths);
  }

  /** The client is not read until the session is found. */
  async #found(
    socket: ClientSocket,
    ...wanted: Parameters<RealtimeSessions['findAnywhere']>
  ): Promise<RealtimeSession> {
    socket.pause();
    try {
      return await this.sessions.findAnywhere(...wanted);
    } finally {
      socket.resume();
    }
  }

  #config(
    query: URLSearchParams,
    { headers }: IncomingMessage,
    usable: { readonly catalog: ModelCatalog; readonly ignored: IgnoredFields },
  ): SessionConfig {
    const prepared = this.secrets.sessionOf(
      bearerToken(headers) ?? subprotocolToken(headers) ?? '',
    );
    const base = prepared ?? defaultSession(this.settings.realtime.transcriptionModel);
    rejectOthers(query);
    const model = query.get('model');
    if (model === null) return base;
    return resolveSession({ ...base, model }, { ...usable, path: 'query' });
  }
}

const queryOf = ({ url }: IncomingMessage): URLSearchParams =>
  new URL(url ?? '', 'http://localhost').searchParams;

function secretOf(query: URLSearchParams): string {
  const secret = query.get('session_secret');
  if (secret !== null) return secret;
  const param = 'session_secret';
  throw new DomainError(
    'missing_required_parameter',
    '`session_secret` is required: see `resume` in `session.created`.',
    { param },
  );
}

function rejectOthers(query: URLSearchParams): void {
  const intent = query.get('intent');
  if (intent !== null && intent !== 'transcription')
    throw invalidField('intent', '`intent` must be transcription.');
  if (query.has('call_id'))
    throw new DomainError(
      'unsupported_parameter',
      '`call_id` cannot be used: this server has no calls.',
      {
        param: 'call_id',
      },
    );
}

/** `OpenAI-Beta: realtime=v1`, or the subprotocol that browsers send instead. */
function dialectOf({ headers }: IncomingMessage): Dialect {
  const beta = String(headers['openai-beta'] ?? '');
  const protocols = headers['sec-websocket-protocol'] ?? '';
  return beta.includes('realtime=v1') || protocols.includes('openai-beta.realtime-v1')
    ? 'older'
    : 'ga';
}
