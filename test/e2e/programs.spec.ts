import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';

const PROGRAMS = ['main.gateway.js', 'main.worker.js', 'main.batch.js'] as const;

/** Runs one of the three programs to its end; a hang is told as a null status. */
const run = (
  script: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) =>
  spawnSync(process.execPath, [`dist/${script}`, ...args], {
    env: { ...process.env, NODE_OPTIONS: '', ...environment },
    encoding: 'utf8',
    timeout: 50_000,
  });

describe.each(PROGRAMS)('%s', script => {
  it('teaches with --help instead of starting', () => {
    const { status, stdout, stderr } = run(script, ['--help']);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`^node dist/${script.replaceAll('.', '\\.')}`));
    expect(stdout).toContain('--help');
  });

  it.each([['--prot=1'], ['start']])('refuses %s with its usage and exit code 2', word => {
    const { status, stdout, stderr } = run(script, [word]);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(word.split('=')[0]);
    expect(stderr).toContain(`node dist/${script}`);
  });
});

describe('the gateway on a port that is taken', () => {
  let holder: Server;
  afterEach(() => void holder.close());

  it('ends at once, naming the process that has it, and starts no worker', async () => {
    holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const { status, stdout, stderr } = run('main.gateway.js', [], {
      SWITCHYARD_SERVER_PORT: String(port),
    });
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`Port ${port} on 127.0.0.1 is in use by process ${process.pid}: `);
    expect(stderr).toContain(`SWITCHYARD_SERVER_PORT=${port + 1}`);
  });
});
