import { describe, expect, it } from '@jest/globals';
import { embeddedProduct, SLOWLY } from './products.js';

describe('kill -9 of a worker', () => {
  it('costs each request that it runs one retry, and no caller notices', async () => {
    const product = await embeddedProduct();
    const worker = async () =>
      (await product.workers()).find(({ model }) => model === 'synthetic')!;
    const answers = [1, 2, 3].map(n => product.transcribe(`${SLOWLY} ${n}`));
    await product.untilRunning(3);
    const { pid, restarts } = await worker();
    process.kill(pid!, 'SIGKILL');
    const settled = await Promise.all(answers);
    expect(
      settled.map(({ status, headers }) => [status, headers.get('x-switchyard-attempts')]),
    ).toEqual(Array(3).fill([200, '2']));
    expect(await worker()).toMatchObject({ state: 'ready', restarts: restarts + 1 });
  });
});
