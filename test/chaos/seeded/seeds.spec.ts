import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { processTree } from '../../support/process-tree.js';
import { itWith } from '../../support/requires.js';
import { SmallDisk } from '../../support/small-disk.js';
import { until } from '../../support/waiting.js';
import { chaos, expectPassed, MAIN } from './chaos-command.js';

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
});
