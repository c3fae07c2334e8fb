import { type Server, type IncomingMessage } from 'node:http';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { IGNORED_HEADER } from '../../contracts/openai/field-types.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type Settings } from '../../platform/config/settings.js';
import { OpenConnections } from '../../platform/http/connections.js';
import { endSlowRequest, hasUnreadBody } from './error-reply.js';
import { type IntakeGate } from './intake-gate.js';
import { demandOneHost, REQUEST_ID_HEADER } from './request-headers.js';

const MOST_TICK_MS = 1000;

/** Bytes per second: a body that brings less has stalled; the slowest modems bring more. */
const MIN_RATE = 512;

/**
 * Ends request bodies that stall. A short time limit for the whole request would end large
 * uploads at a normal speed and still let a slow one hold its connection; so each window
 * is measured separately, and a long limit bounds the whole. A body that the gateway does
 * not read is not slow.
 */
export class BodyWatch {
  readonly #bodies = new Map<
    IncomingMessage,
    {
      readonly onSlow: () => void;
      readonly untilMs: number;
      sinceMs: number;
      bytes: number;
    }
  >();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly rate: {
      /** Milliseconds over which the rate is measured. */
      readonly windowMs: number;
      /** Milliseconds for a whole body, whatever its rate. */
      readonly mostMs: number;
    },
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** @param onSlow called once, when a window brought too little, or the body takes too long */
  watch(message: IncomingMessage, onSlow: () => void): void {
    const done = () => void this.#bodies.delete(message);
    message.once('end', done).once('close', done);
    const sinceMs = this.nowMs();
    this.#bodies.set(message, {
      onSlow,
      untilMs: sinceMs + this.rate.mostMs,
      sinceMs,
      bytes: message.socket.bytesRead,
    });
    this.#timer ??= setInterval(
      () => this.sweep(),
      Math.min(MOST_TICK_MS, this.rate.windowMs / 4, this.rate.mostMs / 4),
    ).unref();
  }

  /**
   * Measures every body whose window is over. Without any left, the timer ends here:
   * bodies come and go faster.
   */
  sweep(): void {
    if (this.#bodies.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    const nowMs = this.nowMs();
    for (const [message, progress] of this.#bodies) {
      const isLong = nowMs >= progress.untilMs;
      if (!isLong && nowMs - progress.sinceMs < this.rate.windowMs) continue;
      const { bytesRead } = message.socket;
      const isSlow = isLong || bytesRead - progress.bytes < this.#leastBytes;
      progress.sinceMs = nowMs;
      progress.bytes = bytesRead;
      if (!isSlow || isHeldHere(message)) continue;
      this.#bodies.delete(message);
      progress.onSlow();
    }
  }

  get #leastBytes(): number {
    return (MIN_RATE * this.rate.windowMs) / 1000;
  }
}

/**
 * Whether a body need not be waited for: it is complete, or its buffer is full and the
 * gateway is to read.
 */
const isHeldHere = (message: IncomingMessage): boolean =>
  message.complete || message.readableLength >= message.readableHighWaterMark;

/** Response headers that scripts in a browser may read. */
const EXPOSED_HEADERS = [
  'x-request-id',
  'openai-processing-ms',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'location',
  'preference-applied',
  'idempotent-replayed',
  ...['requests', 'tokens', 'audio-seconds'].flatMap(what =>
    ['limit', 'remaining', 'reset'].map(part => `x-ratelimit-${part}-${what}`),
  ),
  'server-timing',
  'x-switchyard-model',
  IGNORED_HEADER,
  'x-switchyard-queue-ms',
  'x-switchyard-batch-wait-ms',
  'x-switchyard-grpc-ms',
  'x-switchyard-prep-ms',
  'x-switchyard-ready-ms',
  'x-switchyard-device-ms',
  'x-switchyard-device-share-ms',
  'x-switchyard-ttft-ms',
  'x-switchyard-prompt-tokens',
  'x-switchyard-completion-tokens',
  'x-switchyard-batch-size',
  'x-switchyard-attempts',
].join(', ');

/** These requests cannot be cancelled or retried by id, so an unusable id is replaced. */
const READING = ['GET', 'HEAD', 'OPTIONS'];

/**
 * The first look at a request: headers of every answer, and what any request must have,
 * also one without a route.
 * @returns the look; it throws a DomainError
 */
export function reception(gate: IntakeGate, { server }: Settings) {
  const { bodyTimeoutMs: windowMs, bodyLimitMs: mostMs } = server;
  const bodies = new BodyWatch({ windowMs, mostMs });
  return ({ raw, id, method, headers, url }: FastifyRequest, reply: FastifyReply): void => {
    if (hasUnreadBody(raw)) bodies.watch(raw, () => endSlowRequest(raw, reply.raw));
    // OpenAI's Python SDK sends `application/json` with a POST without a body, such as a
    // cancel; the parser would reject it.
    else delete headers['content-type'];
    void reply.headers({
      [REQUEST_ID_HEADER]: id,
      'access-control-expose-headers': EXPOSED_HEADERS,
    });
    demandPlainMessage(raw);
    if (!READING.includes(method)) demandUsableId(headers, id);
    if (gate.draining) gate.pass(url);
  };
}

/**
 * An unusable `X-Request-Id` is rejected, not replaced: its sender could never cancel or
 * find the request by it.
 * @param id of the request: what was given if that is usable, else a generated one
 * @throws DomainError `invalid_value`; the answer carries the generated id.
 */
function demandUsableId(headers: IncomingMessage['headers'], id: string): void {
  const given = headers[REQUEST_ID_HEADER];
  if (given === undefined || given === id) return;
  throw invalidField(
    'X-Request-Id',
    '`X-Request-Id` must be 1 to 128 characters of letters, digits and . _ : - (or absent).',
  );
}

/**
 * Checks the headers that define the message framing. Unsupported values are rejected:
 * ignoring them would read another message than was sent (RFC 9110, RFC 9112).
 * @throws DomainError `invalid_value`, `expectation_failed`,
 *   `transfer_coding_unsupported`, `unsupported_media_type`
 */
function demandPlainMessage(message: IncomingMessage): void {
  demandOneHost(message);
  const { expect, 'transfer-encoding': transfer, 'content-encoding': encoding } = message.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    throw refusal('expectation_failed', 'Expect', expect, '100-continue');
  if (transfer !== undefined && transfer.toLowerCase() !== 'chunked')
    throw refusal('transfer_coding_unsupported', 'Transfer-Encoding', transfer, 'chunked');
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw refusal('unsupported_media_type', 'Content-Encoding', encoding, 'identity');
}

const refusal = (
  code: 'expectation_failed' | 'transfer_coding_unsupported' | 'unsupported_media_type',
  param: string,
  value: string,
  allowed: string,
): DomainError =>
  new DomainError(
    code,
    `The header \`${param}\` must be ${allowed} or absent; got ${value.slice(0, 80)}.`,
    { param },
  );

/** How connections begin and end. */
export function tendConnections(fastify: FastifyInstance): void {
  const connections = new OpenConnections(fastify.server);
  // Node would answer 417 without a body.
  fastify.server.on('checkExpectation', (message, response) =>
    fastify.server.emit('request', message, response),
  );
  fastify.addHook('preClose', done => {
    cutAfter(fastify.server, connections);
    done();
  });
}

/**
 * All requests are settled by now: time for the last answers; then unread
 * uploads are closed.
 */
const LAST_ANSWERS_MS = 500;

/** WebSockets have this long for their close handshake. */
const LAST_SOCKETS_MS = 2500;

/**
 * Without it, a client that sends slowly or never closes its side would delay the end
 * of the process.
 */
function cutAfter(server: Server, connections: OpenConnections): void {
  const requests = setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS);
  const sockets = setTimeout(() => connections.destroyAll(), LAST_SOCKETS_MS);
  server.once('close', () => {
    clearTimeout(requests);
    clearTimeout(sockets);
  });
}
