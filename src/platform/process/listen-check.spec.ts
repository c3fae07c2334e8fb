import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { explainListenProblem, freePort, listenProblem, portHolder } from './listen-check.js';

const another = (port: number) => `take ${port}`;

describe('a port that is taken', () => {
  let server: Server;
  let port: number;

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterEach(() => void server.close());

  it('is reported with its holder, how to stop it, and how to choose another', async () => {
    const told = await explainListenProblem({ host: '127.0.0.1', port }, another);
    expect(told).toContain(`Port ${port} on 127.0.0.1 is in use by process ${process.pid}: `);
    expect(told).toContain(`(in ${process.cwd()})`);
    expect(told).toContain(`Stop it with: kill ${process.pid}`);
    expect(told).toContain(`Or take another port: take ${port + 1}`);
  });

  it('that is the last one leads to the one before', async () => {
    const last = createServer().on('error', () => undefined);
    await new Promise(resolve =>
      last.once('error', resolve).listen(65_535, '127.0.0.1', () => resolve(0)),
    );
    const told = await explainListenProblem({ host: '127.0.0.1', port: 65_535 }, another);
    expect(told).toContain('Or take another port: take 65534');
    last.close();
  });

  it('is named with 200 characters of a long command', async () => {
    const script =
      "require('net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })";
    const words = ['-e', script, 'w'.repeat(300)];
    const child = spawn(process.execPath, words, { cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const holder = portHolder(Number(line));
    expect(holder).toEqual({ pid: child.pid, command: expect.any(String), folder: '/' });
    expect(holder!.command).toBe([process.execPath, ...words].join(' ').slice(0, 200));
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  it('is free, and has no holder, once the holder has closed it', async () => {
    server.close();
    await once(server, 'close');
    expect(await explainListenProblem({ host: '127.0.0.1', port }, another)).toBeUndefined();
    expect(portHolder(port)).toBeUndefined();
  });
});

describe('a free port', () => {
  it('is one that can be listened on', async () => {
    const port = await freePort('127.0.0.1');
    expect(port).toBeGreaterThan(0);
    expect(await listenProblem({ host: '127.0.0.1', port })).toBeUndefined();
  });
});

describe('listenProblem', () => {
  it('names the code of an address that this machine does not have', async () => {
    expect(await listenProblem({ host: '192.0.2.1', port: 8000 })).toBe('EADDRNOTAVAIL');
    expect(await explainListenProblem({ host: '192.0.2.1', port: 8000 }, another)).toBe(
      'Cannot listen on 192.0.2.1, port 8000: EADDRNOTAVAIL',
    );
  });
});
