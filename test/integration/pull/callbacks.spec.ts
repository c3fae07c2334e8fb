import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { PullQueue } from './pull-harness.js';

const SECRET = 'a secret of twenty bytes';

interface Told {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

describe('the callback of a job', () => {
  const told: Told[] = [];
  /** What the receiver answers next; then 204. */
  const answers: number[] = [];
  let receiver: Server;
  let secrets: string;
  let harness: PullQueue;
  let url: string;

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      void text(request).then(body => {
        told.push({ headers: request.headers, body });
        response.writeHead(answers.shift() ?? 204).end();
      });
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    url = `http://127.0.0.1:${port}/told`;
    secrets = temporaryFolder();
    await writeFile(join(secrets, 'hook'), SECRET);
    const pull = {
      callbackAllowHosts: `127.0.0.1:${port}`,
      callbackSecretsDir: secrets,
      callbackBackoffMs: 50,
    };
    harness = await PullQueue.start({ pull });
    await harness.worker();
  });
  afterAll(async () => {
    await harness[Symbol.asyncDispose]();
    receiver.closeAllConnections();
    receiver.close();
    await rm(secrets, { recursive: true });
  });

  const of = (id: string) =>
    told.filter(({ body }) => (JSON.parse(body) as { data: { id: string } }).data.id === id);

  it('is told the result, signed, with the id of the job, and again until it is taken', async () => {
    answers.push(500, 503);
    const callback = { url, secretName: 'hook' };
    const job = await harness.submit('told', { fields: { id: 'mine', callback } });
    await harness.until('it was taken at the third attempt', () => of('mine').length === 3);
    const [first] = of('mine');
    const {
      'webhook-id': id,
      'webhook-timestamp': at,
      'webhook-signature': signature,
    } = first!.headers;
    const digest = createHmac('sha256', SECRET)
      .update(`${String(id)}.${String(at)}.${first!.body}`)
      .digest('base64');
    expect(signature).toBe(`v1,${digest}`);
    expect(new Set(of('mine').map(({ headers }) => headers['webhook-id']))).toEqual(new Set([id]));
    expect(JSON.parse(first!.body)).toMatchObject({
      type: 'request.completed',
      data: { id: 'mine', job_id: job.id, value: { kind: 'transcript' } },
    });
  });

  it('survives the worker that had the job: another one sends it', async () => {
    answers.push(...Array<number>(4).fill(500));
    const job = await harness.submit('again', {
      fields: { id: 'orphan', callback: { url } },
    });
    await harness.result(job);
    const failed = `"event":"callback_failed","jobId":"${job.id}"`;
    const [first] = harness.workers;
    await harness.until('a first attempt failed', () => first!.log.includes(failed));
    await first!.kill();
    const before = of('orphan').length;
    answers.length = 0;
    await harness.worker();
    // Killed in the middle of an attempt, it is missed once its lock has run out.
    await harness.until('the next worker sends it', () => of('orphan').length > before);
  }, 120_000);

  it('that may not lead there is refused before any work is done', async () => {
    const job = await harness.submit('x', {
      fields: { callback: { url: 'file:///etc/passwd' } },
    });
    expect(await harness.result(job)).toMatchObject({
      outcome: 'failed',
      error: { code: 'webhook_refused' },
    });
  });
});
