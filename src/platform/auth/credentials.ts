import { type IncomingHttpHeaders } from 'node:http';

/** Browsers cannot set headers on a WebSocket; OpenAI's way out is a subprotocol of this name (COMPAT "Realtime"). */
export const KEY_SUBPROTOCOL = 'openai-insecure-api-key.';

/** `Authorization: Bearer KEY` → KEY. */
export function bearerToken({ authorization }: IncomingHttpHeaders): string | undefined {
  return /^Bearer +(\S+)\s*$/i.exec(authorization ?? '')?.[1];
}

/**
 * `Authorization: Basic base64(anything:KEY)` → KEY: what a browser sends after asking for a password. Taken for pages
 * only, because a browser repeats it by itself, also when another site makes it send a form.
 */
export function basicToken({ authorization }: IncomingHttpHeaders): string | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=]+)\s*$/i.exec(authorization ?? '')?.[1];
  const [, password] = encoded ? splitOnce(Buffer.from(encoded, 'base64').toString('utf8'), ':') : [];
  return password === '' ? undefined : password;
}

/** The key among the offered WebSocket subprotocols. */
export function subprotocolToken(headers: IncomingHttpHeaders): string | undefined {
  const offered = headers['sec-websocket-protocol']?.split(',').map(protocol => protocol.trim()) ?? [];
  const carrier = offered.find(protocol => protocol.startsWith(KEY_SUBPROTOCOL));
  return carrier?.slice(KEY_SUBPROTOCOL.length) || undefined;
}

/** `io(url, { auth: { token } })`; headers serve those who can set them. */
export function handshakeToken(auth: unknown, headers: IncomingHttpHeaders): string | undefined {
  const { token } = (auth ?? {}) as { token?: unknown };
  return typeof token === 'string' && token !== '' ? token : bearerToken(headers);
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
