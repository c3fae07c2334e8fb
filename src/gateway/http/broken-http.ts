import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { type Socket } from 'node:net';
import { endConnection } from '../../platform/http/connections.js';
import { requestIdFor } from './request-id.js';

/** Node's code for a request whose headers came too slowly; a body that stalls is answered alike. */
const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';

/** Bytes that are no HTTP request, or came too slowly. There is no request to answer through, so it is written by hand. */
export function answerBrokenHttp(error: Pick<NodeJS.ErrnoException, 'code'>, socket: Socket): void {
  // The answer is on its way; what comes behind it is discarded.
  if (socket.writableEnded) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = brokenHttpStatus(error.code);
  const message = `The request is not valid HTTP: ${STATUS_CODES[status] ?? 'Bad Request'}.`;
  const body = JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: null } });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'x-should-retry: false',
    `x-request-id: ${requestIdFor({ headers: {} })}`,
    'connection: close',
  ];
  endConnection(socket, `${head.join('\r\n')}\r\n\r\n${body}`);
}

function brokenHttpStatus(code: string | undefined): number {
  if (code === REQUEST_TIMEOUT) return 408;
  return code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
}

/** Ends the connection of a request that came too slowly: with 408, or at once when its answer has begun. */
export function endSlowRequest(message: IncomingMessage, response: ServerResponse): void {
  if (response.headersSent) message.socket.destroy();
  else answerBrokenHttp({ code: REQUEST_TIMEOUT }, message.socket);
}
