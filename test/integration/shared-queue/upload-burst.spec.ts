import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { HttpConnection, replyHeader } from '../../support/http-connection.js';
import { plainRequest, transcriptionRequest } from '../../support/http-request.js';
import { Product } from '../../support/product.js';
import { RedisServer } from '../../support/redis-server.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { syntheticModel } from '../../support/synthetic-model.js';

const UPLOADS = 2000;
const FILE_BYTES = 100_000;
const MODELS = ['one', 'two', 'three'];
const LIMIT_MS = 180_000;

describeWith(REDIS)(`${UPLOADS} uploads at once to a gateway with 6 workers that pull`, () => {
  let redis: RedisServer;
  let product: Product;

  beforeAll(async () => {
    redis = await RedisServer.start();
    const models = MODELS.map(id =>
      syntheticModel({ perItemMs: 1, maxBatch: 8 }, { id, replicas: 2 }),
    );
    product = await Product.start(models, {
      'queue.driver': 'redis',
      'redis.url': redis.url,
      // gRPC counts the time in which the gateway itself waits for the CPU.
      'workers.keepalive_timeout_ms': LIMIT_MS,
    });
  }, LIMIT_MS);
  afterAll(async () => {
    await product[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  }, LIMIT_MS);

  /** Written ahead: all leave in one turn of the loop. */
  const uploads = MODELS.map(model =>
    transcriptionRequest({ model, priority: 'batch', file: Buffer.alloc(FILE_BYTES) }),
  );

  /**
   * Open already: what is measured is uploads, not how many connections an operating
   * system accepts at once.
   */
  async function connections(): Promise<HttpConnection[]> {
    const open: HttpConnection[] = [];
    while (open.length < UPLOADS) {
      const next = Array.from({ length: 50 }, () => new HttpConnection(product.gateway.port));
      await Promise.all(
        next.map(connection => connection.exchange(plainRequest('GET', '/health/live'))),
      );
      open.push(...next);
    }
    return open;
  }

  it(
    'answers each with 200, or 429 and Retry-After; no healthy worker is called lost, and Redis is never called away',
    async () => {
      const open = await connections();
      const replies = await Promise.all(
        open.map((one, n) => one.exchange(uploads[n % MODELS.length]!)),
      );
      for (const connection of open) connection.destroy();
      const kinds = replies.map(reply => {
        if (reply.status === 200) return '200';
        const { error } = JSON.parse(reply.body.toString()) as {
          error: { code: string };
        };
        return `${reply.status} ${error.code}, Retry-After ${replyHeader(reply, 'retry-after')}`;
      });
      const log = await readFile(join(product.folder, 'gateway.log'), 'utf8');
      expect([log, [...new Set(kinds)].sort()]).toEqual([
        '',
        ['200', '429 queue_full, Retry-After 1'],
      ]);
      const scrape = await product.gateway.scrape();
      expect(scrape.sum('switchyard_limit_refusals_total', 'limit="intake"')).toBe(
        kinds.filter(kind => kind !== '200').length,
      );
    },
    LIMIT_MS,
  );
});
