import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { itWith, POSTGRES, REDIS } from '../../support/requires.js';

interface Run {
  readonly code: number;
  readonly output: string;
}

/** `npm run chaos`, with the build that is there. */
const chaos = (...args: readonly string[]): Promise<Run> =>
  new Promise(resolve => {
    const main = ['--import', './test/support/typescript-loader.mjs', 'test/chaos/seeded/main.ts'];
    execFile(process.execPath, [...main, ...args], (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, output: stderr + stdout }),
    );
  });

async function expectPassed(...args: readonly string[]): Promise<void> {
  const { code, output } = await chaos(...args);
  if (code !== 0) throw new Error(output);
}

describe('npm run chaos', () => {
  it('plans the same faults for the same seed, others for another, and teaches mistaken flags', async () => {
    const plans = await Promise.all([1, 1, 2].map(seed => chaos('--plan', '--episodes', '20', '--seed', `${seed}`)));
    expect(plans[0]).toEqual(plans[1]);
    expect(plans[0]!.output).not.toEqual(plans[2]!.output);
    const { code, output } = await chaos('--faults', 'kill-everything');
    expect([code, output]).toEqual([1, expect.stringContaining('There are: kill-gateway, kill-worker')]);
  });

  it('single topology: a worker and the gateway die, each request has its own answer', () =>
    expectPassed('--seed', '1', '--topology', 'single', '--faults', 'kill-worker,kill-gateway'));

  itWith(REDIS, POSTGRES)('cluster: one process of each kind dies, each request has its own answer', () => {
    const faults = 'kill-worker,kill-gateway,kill-processor,kill-redis,kill-postgres';
    return expectPassed('--seed', '2', '--topology', 'cluster', '--faults', faults);
  });

  itWith(REDIS, POSTGRES)('cluster: four restarts of workers by SIGTERM, no caller notices', () =>
    expectPassed('--seed', '3', '--topology', 'cluster', '--faults', Array(4).fill('term-worker').join()),
  );
});
