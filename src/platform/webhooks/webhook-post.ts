import { createHmac } from 'node:crypto';
import * as http from 'node:http';
import * as https from 'node:https';
import { ConfigError, readNamedFile } from '../config/yaml-file.js';
import { lookupIn, fetchTarget, resolveBySystem } from '../http/safe-fetch.js';
import { type HostExceptions } from '../http/networks.js';

const PREFIX = 'whsec_';

/**
 * Signs as Standard Webhooks says: HMAC-SHA256 over `id.timestamp.body`, so that a
 * receiver knows sender, age and content.
 */
export class WebhookSignature {
  constructor(private readonly secret: Buffer) {}

  /**
   * @param path of a file with `whsec_` and base64, or with the secret as it is; empty:
   *   undefined. @throws ConfigError
   */
  static fromFile(path: string): WebhookSignature | undefined {
    if (path === '') return undefined;
    const text = readNamedFile(path, 'batch.webhook_secret_file').toString().trim();
    const secret = text.startsWith(PREFIX)
      ? Buffer.from(text.slice(PREFIX.length), 'base64')
      : Buffer.from(text);
    if (secret.length >= 16) return new WebhookSignature(secret);
    throw new ConfigError([
      { origin: path, message: 'must hold at least 16 bytes of secret' },
    ]);
  }

  /** @param timestamp Unix seconds */
  headers(id: string, timestamp: number, body: string): Record<string, string> {
    const digest = createHmac('sha256', this.secret)
      .update(`${id}.${timestamp}.${body}`)
      .digest('base64');
    return {
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${digest}`,
    };
  }
}

/**
 * One POST to a URL that a user named: it reaches the public Internet only, at the
 * address that was checked, follows no redirect, and its answer is not read. @returns the
 * status. @throws DomainError for a refused URL; network errors; the
 *   signal's reason
 */
export async function postWebhook({
  url,
  headers,
  body,
  exceptions,
  signal,
}: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly exceptions: HostExceptions;
  readonly signal: AbortSignal;
}): Promise<number> {
  const target = await fetchTarget(new URL(url), {
    exceptions,
    resolve: resolveBySystem,
  });
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
