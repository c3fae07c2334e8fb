import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { allowedMethods } from '../../contracts/endpoints.js';
import { errorDefinition } from '../../contracts/errors/error-registry.js';
import { messageError } from '../../contracts/messages/message-error.js';
import { errorEnvelope, retryHeaders } from '../../contracts/openai/error-envelope.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { endConnection } from '../../platform/http/connections.js';
import { toDomainError } from './http-error.js';
import { REQUEST_ID_HEADER, requestIdFor } from './request-headers.js';

/** The one place where errors become HTTP answers, also those of unknown routes. */
@Catch()
export class OpenAiExceptionFilter implements ExceptionFilter {
  readonly #logger = new Logger(OpenAiExceptionFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const error = toDomainError(thrown, request);
    this.#log(error);
    if (reply.raw.headersSent) {
      // The status was sent already: only a closed connection can still show that the
      // answer is incomplete.
      reply.raw.destroy();
      return;
    }
    sendError(error, request, reply);
  }

  /** Client errors are not logged. The logger adds the request id. */
  #log(error: DomainError): void {
    const { code, message, cause } = error;
    if (code === 'internal_error')
      this.#logger.error({ code, err: cause ?? error }, 'the request failed by a defect');
    else if (errorDefinition(error).status >= 500)
      this.#logger.warn({ code, reason: message }, 'the request failed');
  }
}

/**
 * Node's code for a request whose headers came too slowly; a stalled body gets
 * the same answer.
 */
const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';

/**
 * Answers bytes that are no HTTP request or came too slowly. There is no request object,
 * so the answer is written here.
 */
export function answerBrokenHttp(error: Pick<NodeJS.ErrnoException, 'code'>, socket: Socket): void {
  // The answer is being sent; further bytes are discarded.
  if (socket.writableEnded) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = brokenHttpStatus(error.code);
  const message = `The request is not valid HTTP: ${STATUS_CODES[status] ?? 'Bad Request'}.`;
  const body = writeJson({
    error: { message, type: 'invalid_request_error', param: null, code: null },
  });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    // A request that came too slowly has done nothing, also when it was this gateway
    // that stood still.
    `x-should-retry: ${status === 408}`,
    `x-request-id: ${requestIdFor({ headers: {} })}`,
    'connection: close',
  ];
  endConnection(socket, `${head.join('\r\n')}\r\n\r\n${body}`);
}

function brokenHttpStatus(code: string | undefined): number {
  if (code === REQUEST_TIMEOUT) return 408;
  return code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
}

/**
 * Ends the connection of a request that came too slowly: with 408, or at once when its
 * answer has begun.
 */
export function endSlowRequest(message: IncomingMessage, response: ServerResponse): void {
  if (response.headersSent) message.socket.destroy();
  else answerBrokenHttp({ code: REQUEST_TIMEOUT }, message.socket);
}

/**
 * How long, and how much of, a rejected upload is discarded before the
 * connection is closed.
 */
const LINGER_MS = 2000;
const LINGER_BYTES = 64 * 1_048_576;

/** True if a body was declared and not read to its end. */
export function hasUnreadBody(message: IncomingMessage): boolean {
  const announced =
    Number(message.headers['content-length'] ?? 0) > 0 || 'transfer-encoding' in message.headers;
  return announced && !message.readableEnded;
}

/**
 * `body` with a delayed end. A socket closed while the peer still sends is reset, and the
 * reset can overtake the answer: the client would see a broken pipe instead of its 413.
 * So the bytes are sent at once (Content-Length marks their end), and the connection ends
 * when the peer has stopped sending, or after 2 s or 64 MiB more.
 */
function lingeringBody(body: Buffer, message: IncomingMessage): Readable {
  let discarded = 0;
  const answer = new Readable({ read: () => undefined });
  const end = () => {
    clearTimeout(timer);
    message.off('end', end).off('close', end).off('data', count);
    if (!answer.destroyed && !answer.readableEnded) answer.push(null);
  };
  const count = (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > LINGER_BYTES) end();
  };
  const timer = setTimeout(end, LINGER_MS).unref();
  answer.push(body);
  message.unpipe();
  message.once('end', end).once('close', end).on('data', count).resume();
  if (message.destroyed || message.readableEnded) end();
  return answer;
}

const isOfMessages = (url: string): boolean => url.startsWith('/v1/messages');

/** In the words of the dialect that the route speaks. */
function envelopeOf(error: DomainError, { url, id }: FastifyRequest): object {
  if (isOfMessages(url)) return messageError(error, id);
  return url.startsWith('/api/') ? { error: error.message } : errorEnvelope(error);
}

/**
 * Sends `error` in its envelope. A body that is still being sent is not received:
 * the answer is sent at once, then the connection closes.
 */
export function sendError(error: DomainError, request: FastifyRequest, reply: FastifyReply): void {
  const body = Buffer.from(writeJson(envelopeOf(error, request)));
  void reply
    .code(errorDefinition(error).status)
    .headers({ ...retryHeaders(error), [REQUEST_ID_HEADER]: request.id })
    .type('application/json; charset=utf-8');
  if (isOfMessages(request.url)) void reply.header('request-id', request.id);
  // 499 is a status of nginx; Node has no name for it and would write "unknown".
  reply.raw.statusMessage = STATUS_CODES[reply.statusCode] ?? 'Client Closed Request';
  if (error.code === 'method_not_allowed') {
    void reply.header('allow', allowedMethods(request.url.split('?', 1)[0] ?? '').join(', '));
  }
  const unread = hasUnreadBody(request.raw);
  if (unread || error.code === 'shutting_down') void reply.header('connection', 'close');
  void (unread
    ? reply.header('content-length', body.length).send(lingeringBody(body, request.raw))
    : reply.send(body));
}
