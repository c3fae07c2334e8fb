import { afterEach, describe, expect, it } from '@jest/globals';
import { HttpConnection } from '../../support/http-connection.js';
import { transcriptionRequest } from '../../support/http-request.js';
import { Product } from '../../support/product.js';
import { RedisServer } from '../../support/redis-server.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { syntheticModel } from '../../support/synthetic-model.js';

const CALLERS = 16;
const EACH = 2;
const LIMIT_MS = 120_000;

/**
 * A file takes a twelfth of its limit alone. Eight in one call take two thirds of it, and
 * what is sent ahead waits behind such a call: by the time of its answer, all of it.
 */
const slow = () => syntheticModel({ perItemMs: 200, maxBatch: 8 }, { id: 'slow' });
const LIMITS = { 'inference.timeout_min_ms': 2400 } as const;

let disposed: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of disposed.toReversed()) await one[Symbol.asyncDispose]();
  disposed = [];
}, LIMIT_MS);

function keep<D extends AsyncDisposable>(one: D): D {
  disposed.push(one);
  return one;
}

async function statuses({ gateway }: Product): Promise<number[]> {
  const upload = transcriptionRequest({ model: 'slow', priority: 'batch', file: wav() });
  const callers = Array.from({ length: CALLERS }, async () => {
    const answers: number[] = [];
    const connection = new HttpConnection(gateway.port);
    while (answers.length < EACH) answers.push((await connection.exchange(upload)).status);
    return answers;
  });
  return (await Promise.all(callers)).flat();
}

/** Of the fraction of a second. */
const wav = (): Buffer => Buffer.alloc(9600);
const ALL = Array<number>(CALLERS * EACH).fill(200);
const title = `answers ${ALL.length} of ${ALL.length} files although groups take longer than the limit of one`;

describe('a slow recogniser, embedded queue', () => {
  it(
    title,
    async () => {
      expect(await statuses(keep(await Product.start([slow()], LIMITS)))).toEqual(ALL);
    },
    LIMIT_MS,
  );
});

describeWith(REDIS)('a slow recogniser, shared queue', () => {
  it(
    title,
    async () => {
      const redis = keep(await RedisServer.start());
      const shared = { 'queue.driver': 'redis', 'redis.url': redis.url } as const;
      const product = keep(await Product.start([slow()], { ...LIMITS, ...shared }));
      expect(await statuses(product)).toEqual(ALL);
    },
    LIMIT_MS,
  );
});
