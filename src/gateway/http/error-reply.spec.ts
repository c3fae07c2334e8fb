import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Socket } from 'node:net';
import { Duplex, PassThrough, type Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type ArgumentsHost, Logger } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { DomainError, type ErrorCode } from '../../core/errors/domain-error.js';
import {
  answerBrokenHttp,
  endSlowRequest,
  hasUnreadBody,
  OpenAiExceptionFilter,
  sendError,
} from './error-reply.js';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

/** A request whose body may still come. */
const message = (headers: object = {}) =>
  Object.assign(new PassThrough(), { headers }) as PassThrough & IncomingMessage;

/** Remembers what it is told to send. */
class Reply {
  statusCode = 200;
  readonly sent: { body: Buffer | Readable | undefined } = { body: undefined };
  readonly given: Record<string, unknown> = {};
  readonly raw = { headersSent: false, statusMessage: '', destroy: jest.fn() };

  code(status: number): this {
    this.statusCode = status;
    return this;
  }

  header(name: string, value: unknown): this {
    this.given[name] = value;
    return this;
  }

  headers(values: object): this {
    Object.assign(this.given, values);
    return this;
  }

  type(value: string): this {
    return this.header('content-type', value);
  }

  send(body: Buffer | Readable): void {
    this.sent.body = body;
  }

  get fastify(): FastifyReply {
    return this as unknown as FastifyReply;
  }
}

const requestOf = (url: string, raw = message()): FastifyRequest =>
  ({ url, id: 'req_1', raw }) as unknown as FastifyRequest;

function answered(code: ErrorCode, url = '/v1/models', raw = message()): Reply {
  const reply = new Reply();
  sendError(new DomainError(code, 'Why.'), requestOf(url, raw), reply.fastify);
  return reply;
}

describe('an error that is sent', () => {
  it.each([
    ['/v1/models', { error: { message: 'Why.', code: 'request_not_found' } }, undefined],
    ['/v1/messages', { type: 'error', request_id: 'req_1' }, 'req_1'],
    ['/api/chat', { error: 'Why.' }, undefined],
  ])('speaks the dialect of %s', (url, body, requestId) => {
    const { sent, given, raw } = answered('request_not_found', url);
    expect(JSON.parse((sent.body as Buffer).toString())).toMatchObject(body);
    expect(given).toMatchObject({ 'x-request-id': 'req_1', 'x-should-retry': 'false' });
    expect(given['request-id']).toBe(requestId);
    expect(Object.keys(given)).not.toContain('connection');
    expect(Object.keys(given)).not.toContain('allow');
    expect(raw.statusMessage).toBe('Not Found');
  });

  it('names the methods of a URL, whatever its query is', () => {
    expect(answered('method_not_allowed', '/v1/models?a=b').given.allow).toBe('GET, HEAD');
  });

  it('has a name for a status that Node does not know', () => {
    expect(answered('request_cancelled').raw.statusMessage).toBe('Client Closed Request');
  });

  it('closes the connection of a gateway that shuts down', () => {
    expect(answered('shutting_down').given.connection).toBe('close');
  });
});

describe('an error before a body was read', () => {
  const LIMIT = 64 * 1_048_576;

  function rejected(ending: (raw: PassThrough) => void = () => undefined) {
    const raw = message({ 'content-length': '9' });
    ending(raw);
    const { given, sent } = answered('file_too_large', '/v1/files', raw);
    const body = sent.body as Readable;
    let text = '';
    let isEnded = false;
    body.on('data', (chunk: Buffer) => (text += chunk.toString()));
    body.on('end', () => (isEnded = true));
    return { raw, given, body, text: () => text, isEnded: () => isEnded };
  }

  it('is sent at once, and the connection closes after it', async () => {
    const { given, text, isEnded } = rejected();
    await turn();
    expect(JSON.parse(text())).toMatchObject({ error: { code: 'file_too_large' } });
    expect(given).toMatchObject({ connection: 'close', 'content-length': text().length });
    expect(isEnded()).toBe(false);
  });

  it.each([
    ['has sent all', (raw: PassThrough) => raw.end()],
    ['has left', (raw: PassThrough) => raw.destroy()],
    ['has sent more than 64 MiB', (raw: PassThrough) => raw.emit('data', { length: 1 })],
    ['has had 2 s', () => jest.advanceTimersByTime(1)],
  ])('ends when the caller %s', async (_, act) => {
    const { raw, isEnded } = rejected();
    raw.emit('data', { length: LIMIT });
    jest.advanceTimersByTime(1999);
    await turn();
    expect(isEnded()).toBe(false);
    act(raw);
    await turn();
    await turn();
    expect(isEnded()).toBe(true);
    for (const event of ['data', 'end', 'close'])
      expect([
        event,
        raw.listeners(event).filter(({ name }) => /^(end|count)$/.test(name)),
      ]).toEqual([event, []]);
  });

  it('ends at once when the caller has left already', async () => {
    const { isEnded, text } = rejected(raw => raw.destroy());
    await turn();
    expect([isEnded(), text().length > 0]).toEqual([true, true]);
  });

  it('bears that its own connection was closed first', async () => {
    const { raw, body } = rejected();
    body.destroy();
    raw.end();
    await turn();
    await turn();
    expect(body.errored).toBeNull();
  });

  it('stops what read the body until then', () => {
    const reader = new PassThrough();
    const { raw } = rejected(own => own.pipe(reader));
    expect(raw.listeners('data').some(({ name }) => name === 'ondata')).toBe(false);
  });
});

describe('hasUnreadBody', () => {
  it.each([
    [{}, false],
    [{ 'content-length': '0' }, false],
    [{ 'content-length': '1' }, true],
    [{ 'transfer-encoding': 'chunked' }, true],
  ])('of a request with %j: %p; never once all was read', (headers, isUnread) => {
    expect(hasUnreadBody(message(headers))).toBe(isUnread);
    expect(hasUnreadBody({ headers, readableEnded: true } as IncomingMessage)).toBe(false);
  });
});

/** What is written to a connection of broken HTTP. */
function connection() {
  let text = '';
  const socket = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _, done) => {
      text += chunk.toString();
      done();
    },
  });
  return { socket: socket as Socket, text: () => text };
}

describe('bytes that are no HTTP request', () => {
  it.each([
    ['HPE_INVALID_METHOD', '400 Bad Request', false],
    ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large', false],
    ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout', true],
  ])('%s: %s, retry: %p', (code, status, isRetried) => {
    const { socket, text } = connection();
    answerBrokenHttp({ code }, socket);
    expect(text()).toContain(`HTTP/1.1 ${status}\r\n`);
    expect(text()).toContain(`x-should-retry: ${isRetried}\r\n`);
    expect(socket.writableEnded).toBe(true);
    answerBrokenHttp({ code }, socket);
    expect(text().match(/HTTP\/1.1/g)).toHaveLength(1);
    expect(socket.destroyed).toBe(false);
  });

  it.each([
    ['a reset connection', 'ECONNRESET', {}],
    ['one that cannot be written', 'HPE_INVALID_METHOD', { writable: false }],
  ])('%s is closed without an answer', (_, code, state) => {
    const { socket, text } = connection();
    for (const [name, value] of Object.entries(state))
      Object.defineProperty(socket, name, { value });
    answerBrokenHttp({ code }, socket);
    expect([socket.destroyed, text()]).toEqual([true, '']);
  });

  it.each([
    [true, ''],
    [false, 'HTTP/1.1 408 Request Timeout'],
  ])('a slow request whose answer has begun (%p) receives %j', (headersSent, head) => {
    const { socket, text } = connection();
    endSlowRequest({ socket } as IncomingMessage, { headersSent } as ServerResponse);
    expect(text().slice(0, head.length)).toBe(head);
    expect([text() === '', socket.destroyed]).toEqual([headersSent, headersSent]);
  });
});

describe('OpenAiExceptionFilter', () => {
  const caught = (thrown: unknown, headersSent = false): Reply => {
    const reply = new Reply();
    reply.raw.headersSent = headersSent;
    const http = { getRequest: () => requestOf('/v1/models'), getResponse: () => reply };
    new OpenAiExceptionFilter().catch(thrown, {
      switchToHttp: () => http,
    } as unknown as ArgumentsHost);
    return reply;
  };

  it.each([
    ['a defect', new Error('secret'), 500, ['error']],
    ['an overload', new DomainError('queue_unavailable', 'Away.'), 503, ['warn']],
    ['an engine that failed', new DomainError('engine_failed', 'No.'), 500, ['warn']],
    ['a mistake of the caller', new DomainError('invalid_value', 'No.'), 400, []],
  ])('answers %s, and logs it if it is no fault of the caller', (_, thrown, status, lines) => {
    const logged: string[] = [];
    for (const level of ['error', 'warn'] as const)
      jest.spyOn(Logger.prototype, level).mockImplementation(() => void logged.push(level));
    const { statusCode, sent, raw } = caught(thrown);
    expect([statusCode, logged]).toEqual([status, lines]);
    expect(sent.body).toBeDefined();
    expect(raw.destroy).not.toHaveBeenCalled();
  });

  it('closes the connection where an answer has begun', () => {
    const { sent, raw } = caught(new DomainError('invalid_value', 'No.'), true);
    expect(raw.destroy).toHaveBeenCalled();
    expect(sent.body).toBeUndefined();
  });
});
