import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { SttCaller } from './stt-caller.js';
import { hostedRecognizers } from './worker-process.js';

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

  it('ends a request on the device at its next checkpoint: an hour of work is not waited for', async () => {
    const caller = await start({ baseMs: 3_600_000, steps: 10_000 });
    const { outcome } = caller.send('a');
    await caller.inFlight(1);
    expect(await caller.cancel('a')).toBe(true);
    expect(await outcome).toMatchObject(CANCELLED);
    await caller.inFlight(0);
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
