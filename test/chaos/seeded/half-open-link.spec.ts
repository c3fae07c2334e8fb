import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freePort } from '../../support/free-port.js';
import { HalfOpenLink } from './half-open-link.js';

describe('a link that falls silent', () => {
  const server = createServer(socket => socket.on('error', () => undefined).pipe(socket));
  let link: HalfOpenLink;
  let port: number;
  const opened: Socket[] = [];

  beforeEach(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    link = new HalfOpenLink((server.address() as AddressInfo).port);
    port = await freePort();
    await link.listen(port);
  });
  afterEach(async () => {
    for (const socket of opened.splice(0)) socket.destroy();
    await link[Symbol.asyncDispose]();
    server.close();
  });

  function open(): Socket {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    opened.push(socket);
    return socket;
  }
  /** However it closes. */
  const closing = (socket: Socket): Promise<void> =>
    new Promise(resolve => socket.once('close', () => resolve()));
  const echoed = async (socket: Socket, text: string): Promise<string> => {
    socket.write(text);
    return String((await once(socket, 'data'))[0]);
  };

  it('passes on what is said, until it is cut, and for new connections afterwards', async () => {
    const before = open();
    expect(await echoed(before, 'a')).toBe('a');
    link.cut();
    const closed = closing(before);
    before.write('lost');
    await new Promise(resolve => setTimeout(resolve, 100)); // it arrives, and is lost
    link.heal();
    await closed;
    expect(before.bytesRead).toBe(1);
    expect(before.destroyed).toBe(true);
    expect(await echoed(open(), 'b')).toBe('b');
  });

  it('resets a connection of before when something is sent on it again', async () => {
    const before = open();
    await echoed(before, 'a');
    link.cut();
    link.heal();
    const closed = closing(before);
    before.write('again');
    await closed;
    expect(before.bytesRead).toBe(1);
  });
});
