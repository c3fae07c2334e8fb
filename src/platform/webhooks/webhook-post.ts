import * as http from 'node:http';
import * as https from 'node:https';
import { fetchTarget, resolveBySystem } from '../storage/fetch-target.js';
import { type HostExceptions } from '../storage/host-exceptions.js';

export interface WebhookPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly exceptions: HostExceptions;
  readonly signal: AbortSignal;
}

/**
 * One POST to a URL that a user named: it reaches the public Internet only, at the address that was checked, follows no
 * redirect, and its answer is not read. @returns the status. @throws DomainError for a refused URL; network errors; the
 *   signal's reason
 */
export async function postWebhook({ url, headers, body, exceptions, signal }: WebhookPost): Promise<number> {
  const target = await fetchTarget(new URL(url), { exceptions, resolve: resolveBySystem });
  const { address, family } = target.addresses[0]!;
  const send = target.url.protocol === 'https:' ? https.request : http.request;
  return new Promise((resolve, reject) => {
    const request = send(target.url, {
      method: 'POST',
      agent: false,
      signal,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
      lookup: (_hostname, { all }, callback) =>
        all ? callback(null, [{ address, family }]) : callback(null, address, family),
    });
    request.on('response', response => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    request.on('error', reject);
    request.end(body);
  });
}
