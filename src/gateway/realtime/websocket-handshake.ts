import { type IncomingMessage } from 'node:http';
import { DomainError } from '../../core/shared/domain-error.js';
import { demandOneHost } from '../http/request-headers.js';

/** 16 bytes in base64 (RFC 6455, 4.1). */
const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = '13';
const TOKEN_LIST = /^\s*[!#$%&'*+.^_`|~0-9A-Za-z-]+(\s*,\s*[!#$%&'*+.^_`|~0-9A-Za-z-]+)*\s*$/;

/**
 * What an upgrade must have before anything is counted or reserved for it.
 * @throws DomainError `invalid_value` naming the header, `method_not_allowed`
 */
export function demandHandshake(message: IncomingMessage): void {
  const { method, headers } = message;
  demandOneHost(message);
  if (method !== 'GET') throw new DomainError('method_not_allowed', `A WebSocket is opened by GET, not ${method}.`);
  demand(headers['sec-websocket-key'], KEY, 'Sec-WebSocket-Key', '16 bytes in base64');
  demand(headers['sec-websocket-version'], /^13$/, 'Sec-WebSocket-Version', VERSION);
  demand(headers['sec-websocket-protocol'] ?? 'none', TOKEN_LIST, 'Sec-WebSocket-Protocol', 'comma-separated names');
}

function demand(value: string | undefined, pattern: RegExp, param: string, allowed: string): void {
  if (value !== undefined && pattern.test(value)) return;
  throw new DomainError('invalid_value', `The header \`${param}\` of a WebSocket must be ${allowed}.`, { param });
}
