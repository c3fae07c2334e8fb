import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { SttCaller } from './stt-caller.js';
import { hostedRecognizers } from './worker-process.js';

const SLOW = { marker: 'slow', action: 'slow', ms: 1500 };
const CANCELLED = { code: 'request_cancelled' };

/** A way to the worker that can be cut like a cable. */
async function throughProxy(to: string): Promise<{ address: string; cut(): void }> {
  const target = Number(to.split(':')[1]);
  const sockets: Socket[] = [];
  const proxy = createServer(socket => {
    const onward = connect(target, '127.0.0.1');
    for (const end of [socket, onward]) sockets.push(end.on('error', () => undefined));
    socket.pipe(onward).pipe(socket);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const cut = (): void => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  };
  return { address: `127.0.0.1:${(proxy.address() as AddressInfo).port}`, cut };
}

describe('cancelling in a real worker', () => {
  const start = hostedRecognizers();

  it('ends a request in preparation at once', async () => {
    const caller = await start({ prepareMs: 3_600_000 });
    const { outcome } = caller.send('a');
    await caller.inFlight(1);
    expect(await caller.cancel('a')).toBe(true);
    expect(await outcome).toMatchObject(CANCELLED);
  });

  it('ends a request that waits for a preparation place at once', async () => {
    const caller = await start({ prepareMs: 3_600_000 });
    const sent = ['a', 'b', 'c', 'd', 'e'].map(id => caller.send(id));
    await caller.inFlight(5);
    expect(await caller.cancel('e')).toBe(true);
    expect(await sent[4]!.outcome).toMatchObject(CANCELLED);
  });

  it('ends a READY request while the device is busy with another one', async () => {
    const caller = await start({ maxBatch: 1, faults: [{ marker: 'stuck', action: 'hang' }] });
    caller.send('stuck');
    await caller.inFlight(1);
    const { outcome } = caller.send('ready');
    await caller.inFlight(2);
    expect(await caller.cancel('ready')).toBe(true);
    expect(await outcome).toMatchObject(CANCELLED);
    await caller.inFlight(1);
  });

  it('ends a request on the device at its next checkpoint: an hour of work is not waited for', async () => {
    const caller = await start({ baseMs: 3_600_000, steps: 10_000 });
    const { outcome } = caller.send('a');
    await caller.inFlight(1);
    expect(await caller.cancel('a')).toBe(true);
    expect(await outcome).toMatchObject(CANCELLED);
    await caller.inFlight(0);
  });

  it('keeps a cancelled member until its engine call returns, and the neighbour gets its answer', async () => {
    const caller = await start({ faults: [SLOW] });
    const group = { id: 'group', size: 2 };
    const order: string[] = [];
    const slow = caller.send('slow', { group }).outcome.then(reply => (order.push('slow'), reply));
    const neighbour = caller
      .send('neighbour', { group })
      .outcome.then(reply => (order.push('neighbour'), reply));
    await caller.inFlight(2);
    expect(await caller.cancel('slow')).toBe(true);
    order.push('acknowledged');
    expect(await slow).toMatchObject(CANCELLED);
    expect(await neighbour).toMatchObject({ execution: { batchSize: 2 } });
    expect(order[0]).toBe('acknowledged');
  });

  it('acknowledges only what it knows, twice without harm', async () => {
    const caller = await start({ maxBatch: 1, faults: [SLOW] });
    const { outcome } = caller.send('slow');
    await caller.inFlight(1);
    expect([
      await caller.cancel('slow'),
      await caller.cancel('slow'),
      await caller.cancel('other'),
    ]).toEqual([true, true, false]);
    expect(await outcome).toMatchObject(CANCELLED);
    expect(await caller.cancel('slow')).toBe(false);
  });

  it('lets go of the work of a caller that left', async () => {
    const caller = await start({ prepareMs: 3_600_000 });
    const { call, outcome } = caller.send('a');
    await caller.inFlight(1);
    call.cancel();
    expect(await outcome).toMatchObject(CANCELLED);
    await caller.inFlight(0);
  });

  it('lets go of all work when the connection breaks', async () => {
    const caller = await start({ prepareMs: 3_600_000 });
    const wire = await throughProxy(caller.address);
    const other = new SttCaller(wire.address);
    for (const id of ['a', 'b']) other.send(id);
    await caller.inFlight(2);
    wire.cut();
    await caller.inFlight(0);
    other.close();
  });
});
