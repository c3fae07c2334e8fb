import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { processTree } from '../../support/process-tree.js';
import { itWith, POSTGRES, REDIS } from '../../support/requires.js';
import { SmallDisk } from '../../support/small-disk.js';
import { until } from '../../support/waiting.js';

interface Run {
  readonly code: number;
  readonly output: string;
}

/** `npm run chaos`, with the build that is there. */
const MAIN = ['--import', './test/support/typescript-loader.mjs', 'test/chaos/seeded/main.ts'];

const chaos = (...args: readonly string[]): Promise<Run> =>
  new Promise(resolve => {
    execFile(process.execPath, [...MAIN, ...args], (error, stdout, stderr) =>
      resolve({
        code: typeof error?.code === 'number' ? error.code : error ? 1 : 0,
        output: stderr + stdout,
      }),
    );
  });

async function expectPassed(...args: readonly string[]): Promise<void> {
  const { code, output } = await chaos(...args);
  if (code !== 0) throw new Error(output);
}

describe('npm run chaos', () => {
  it('plans the same faults for the same seed, others for another, and teaches mistaken flags', async () => {
    const plans = await Promise.all(
      [1, 1, 2].map(seed => chaos('--plan', '--episodes', '20', '--seed', `${seed}`)),
    );
    expect(plans[0]).toEqual(plans[1]);
    expect(plans[0]!.output).not.toEqual(plans[2]!.output);
    const { code, output } = await chaos('--faults', 'kill-everything');
    expect([code, output]).toEqual([
      1,
      expect.stringContaining('There are: kill-gateway, kill-worker'),
    ]);
  });

  itWith({ name: 'permission to mount', present: SmallDisk.canMount(), ofMachine: true })(
    'SIGTERM: its processes end and its small disk is unmounted',
    async () => {
      const args = ['--topology', 'single', '--faults', 'disk-full:60'];
      const driver = spawn(process.execPath, [...MAIN, ...args], { stdio: 'ignore' });
      const exited = once(driver, 'exit');
      const gateway = () =>
        processTree(driver.pid).find(({ command }) => command === 'switchyard gateway')?.pid;
      await until(() => gateway() !== undefined);
      const pid = gateway()!;
      const disk = /SWITCHYARD_DATA_DIR=([^\0]+)/.exec(
        readFileSync(`/proc/${pid}/environ`, 'utf8'),
      )?.[1];
      driver.kill('SIGTERM');
      expect(await exited).toEqual([143, null]);
      expect(disk).toContain('switchyard-disk-');
      expect(existsSync(disk!)).toBe(false);
      await until(() => processTree(pid).length === 0);
    },
  );

  it('single topology: a worker and the gateway die, each request has its own answer', () =>
    expectPassed('--seed', '1', '--topology', 'single', '--faults', 'kill-worker,kill-gateway'));

  itWith(REDIS, POSTGRES)(
    'cluster: one process of each kind dies, each request has its own answer',
    () => {
      const faults = 'kill-worker,kill-gateway,kill-processor,kill-redis,kill-postgres';
      return expectPassed('--seed', '2', '--topology', 'cluster', '--faults', faults);
    },
  );

  itWith(REDIS, POSTGRES)('cluster: four restarts of workers by SIGTERM, no caller notices', () =>
    expectPassed(
      '--seed',
      '3',
      '--topology',
      'cluster',
      '--faults',
      Array(4).fill('term-worker').join(),
    ),
  );
});
