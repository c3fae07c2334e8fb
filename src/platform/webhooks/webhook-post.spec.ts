import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { HostExceptions } from '../http/host-exceptions.js';
import { postWebhook, webhookSecret } from './webhook-post.js';

const SECRET = Buffer.from('sixteen bytes !!');

describe('the secret of webhooks', () => {
  const fileOf = (content: string): string => {
    const path = join(temporaryFolder(), 'secret');
    writeFileSync(path, content);
    return path;
  };

  it('is base64 behind whsec_, or the text as it is, without the end of its line', () => {
    expect(webhookSecret(fileOf(`whsec_${SECRET.toString('base64')}\n`))).toEqual(SECRET);
    expect(webhookSecret(fileOf(`${SECRET.toString()}\n`))).toEqual(SECRET);
    expect(webhookSecret('')).toBeUndefined();
  });

  it('of less than 16 bytes is refused', () =>
    expect(() => webhookSecret(fileOf(SECRET.toString().slice(1)))).toThrow('at least 16 bytes'));
});

describe('a webhook', () => {
  let server: Server;
  const posts: { readonly request: IncomingMessage; readonly body: string }[] = [];
  beforeEach(async () => {
    posts.length = 0;
    server = createServer((request, response) => {
      void text(request).then(body => {
        posts.push({ request, body });
        response.writeHead(302, { location: '/other' }).end('not read');
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(() => void server.close());

  const here = () => `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const post = (secret: Buffer | undefined, allowed = here(), signal?: AbortSignal) =>
    postWebhook({
      ...{ url: `http://${here()}/done?a=1`, secret },
      ...{ id: 'msg_1', body: '{"é":1}' },
      exceptions: new HostExceptions(allowed),
      signal: signal ?? new AbortController().signal,
    });

  it('is one POST of JSON, signed as Standard Webhooks says, and follows no redirect', async () => {
    expect(await post(SECRET)).toBe(302);
    const [{ request, body }] = posts as [(typeof posts)[number]];
    expect([posts.length, request.method, request.url, body]).toEqual([
      ...[1, 'POST', '/done?a=1', '{"é":1}'],
    ]);
    const { headers } = request;
    const seconds = String(headers['webhook-timestamp']);
    expect(Math.abs(Number(seconds) - Date.now() / 1000)).toBeLessThan(600);
    const signed = createHmac('sha256', SECRET).update(`msg_1.${seconds}.${body}`).digest('base64');
    expect(headers).toMatchObject({
      ...{ 'content-type': 'application/json', 'content-length': '8' },
      ...{ 'webhook-id': 'msg_1', 'webhook-signature': `v1,${signed}` },
    });
  });

  it('without a secret is not signed', async () => {
    await post(undefined);
    expect(posts[0]!.request.headers).not.toHaveProperty('webhook-signature');
  });

  it('reaches no address inside that is not allowed, and nothing when it was given up', async () => {
    await expect(post(SECRET, '')).rejects.toThrow();
    await expect(post(SECRET, undefined, AbortSignal.abort())).rejects.toThrow();
    expect(posts).toEqual([]);
  });
});
