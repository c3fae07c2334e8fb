import { type IncomingMessage } from 'node:http';
import { type Duplex } from 'node:stream';
import { errorEnvelope, retryHeaders } from '../../contracts/openai/error-envelope.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { errorDefinition } from '../../contracts/errors/error-registry.js';
import { endConnection } from '../../platform/http/connections.js';
import { demandOneHost } from '../http/request-headers.js';

/** 16 bytes in base64 (RFC 6455, 4.1). */
const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = '13';
const TOKEN_LIST =
  /^\s*[!#$%&'*+.^_`|~0-9A-Za-z-]+(\s*,\s*[!#$%&'*+.^_`|~0-9A-Za-z-]+)*\s*$/;

/**
 * Checks what an upgrade must have before anything is counted or reserved for it.
 * @throws DomainError `invalid_value` naming the header, `method_not_allowed`
 */
export function demandHandshake(message: IncomingMessage): void {
  const { method, headers } = message;
  demandOneHost(message);
  if (method !== 'GET')
    throw new DomainError(
      'method_not_allowed',
      `A WebSocket is opened by GET, not ${method}.`,
    );
  demand(headers['sec-websocket-key'], KEY, 'Sec-WebSocket-Key', '16 bytes in base64');
  demand(headers['sec-websocket-version'], /^13$/, 'Sec-WebSocket-Version', VERSION);
  demand(
    headers['sec-websocket-protocol'] ?? 'none',
    TOKEN_LIST,
    'Sec-WebSocket-Protocol',
    'comma-separated names',
  );
}

function demand(
  value: string | undefined,
  pattern: RegExp,
  param: string,
  allowed: string,
): void {
  if (value !== undefined && pattern.test(value)) return;
  throw new DomainError(
    'invalid_value',
    `The header \`${param}\` of a WebSocket must be ${allowed}.`,
    { param },
  );
}

/** Answers an upgrade with an error envelope and closes the connection. */
export function refuseUpgrade(socket: Duplex, thrown: unknown): void {
  const error =
    thrown instanceof DomainError
      ? thrown
      : new DomainError('internal_error', 'Something went wrong.');
  const body = JSON.stringify(errorEnvelope(error));
  const headers = {
    ...retryHeaders(error),
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  endConnection(
    socket,
    `HTTP/1.1 ${errorDefinition(error).status} Refused\r\n${lines.join('\r\n')}\r\n\r\n${body}`,
  );
}
