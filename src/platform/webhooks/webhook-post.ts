import { createHmac } from 'node:crypto';
import * as http from 'node:http';
import * as https from 'node:https';
import { ConfigError, readNamedFile } from '../config/yaml-file.js';
import { type HostExceptions } from '../http/host-exceptions.js';
import { fetchTarget, lookupIn } from '../http/safe-fetch.js';

const PREFIX = 'whsec_';

/**
 * @param path of a file with `whsec_` and base64, or with the secret as it is; empty:
 *   undefined. @throws ConfigError
 */
export function webhookSecret(path: string): Buffer | undefined {
  if (path === '') return undefined;
  const text = readNamedFile(path, 'batch.webhook_secret_file').toString().trim();
  const secret = text.startsWith(PREFIX)
    ? Buffer.from(text.slice(PREFIX.length), 'base64')
    : Buffer.from(text);
  if (secret.length >= 16) return secret;
  throw new ConfigError([{ origin: path, message: 'must hold at least 16 bytes of secret' }]);
}

/**
 * Signs as Standard Webhooks says: HMAC-SHA256 over `id.timestamp.body`, so that a
 * receiver knows sender, age and content.
 */
function headersOf(id: string, body: string, secret: Buffer | undefined) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const known = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (!secret) return known;
  const digest = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...known, 'webhook-signature': `v1,${digest}` };
}

/**
 * One POST to a URL that a user named: it reaches the public Internet only, at the
 * address that was checked, follows no redirect, and its answer is not read. @returns the
 * status. @throws DomainError for a refused URL; network errors; the
 *   signal's reason
 */
export async function postWebhook({
  url,
  id,
  body,
  secret,
  exceptions,
  signal,
}: {
  readonly url: string;
  /** By which a receiver recognises repeats. */
  readonly id: string;
  readonly body: string;
  /** Undefined: it is not signed. */
  readonly secret: Buffer | undefined;
  readonly exceptions: HostExceptions;
  readonly signal: AbortSignal;
}): Promise<number> {
  const headers = headersOf(id, body, secret);
  const target = await fetchTarget(new URL(url), exceptions);
  const send = target.url.protocol === 'https:' ? https.request : http.request;
  return new Promise((resolve, reject) => {
    const request = send(target.url, {
      method: 'POST',
      agent: false,
      signal,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        ...headers,
      },
      lookup: lookupIn(target.addresses.slice(0, 1)),
    });
    request.on('response', response => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    request.on('error', reject);
    request.end(body);
  });
}
