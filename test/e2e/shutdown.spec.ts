import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { Product } from '../support/product.js';
import { syntheticModel } from '../support/synthetic-model.js';

describe('SIGTERM to the gateway', () => {
  let product: Product;
  afterEach(async () => product[Symbol.asyncDispose]());

  it('refuses new work, finishes what is queued and in flight, stops its workers and exits 0', async () => {
    product = await Product.start([syntheticModel({ baseMs: 1500, maxBatch: 2 })]);
    const { child } = product.gateway.process;
    const pids = (await product.workers()).map(({ pid }) => pid!);
    const idle = await openSocket(product.gateway.port);
    // Four on the worker (two groups of slots), two still in the queue.
    const accepted = ['a', 'b', 'c', 'd', 'e', 'f'].map(text => product.transcribe(text));
    await product.untilRunning(4);

    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const refusal = await refused(idle);

    expect(refusal).toMatch(/^HTTP\/1\.1 503 /);
    expect(refusal.toLowerCase()).toContain('connection: close');
    expect(refusal).toContain('"code":"shutting_down"');
    const answers = await Promise.all(accepted);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(await exited).toEqual([0, null]);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('settles what outlives the grace with 503 and leaves no process behind', async () => {
    product = await Product.start([syntheticModel({ baseMs: 60_000, maxBatch: 1 })], {
      'server.shutdown_grace_ms': 500,
    });
    const { child } = product.gateway.process;
    const pids = (await product.workers()).map(({ pid }) => pid!);
    const accepted = ['a', 'b', 'c'].map(text => product.transcribe(text));
    await product.untilRunning(2);

    const exited = once(child, 'exit');
    child.kill('SIGTERM');

    const codes = await Promise.all(
      accepted.map(
        async answer => ((await (await answer).json()) as { error: { code: string } }).error.code,
      ),
    );
    expect(codes).toEqual(['shutting_down', 'shutting_down', 'shutting_down']);
    await exited;
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

/**
 * A keep-alive connection that stands open before the drain begins: how a load balancer
 * meets a draining server.
 */
async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** Asks on that connection until it is refused. */
async function refused(socket: Socket): Promise<string> {
  for (;;) {
    socket.write(
      'POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\n' +
        'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
    );
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    const answer = chunk.toString();
    if (!answer.startsWith('HTTP/1.1 400')) return answer;
  }
}
