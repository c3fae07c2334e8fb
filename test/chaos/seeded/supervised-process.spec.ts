import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/waiting.js';
import { SupervisedProcess } from './supervised-process.js';

let logs: string;
beforeAll(() => {
  logs = temporaryFolder();
});

/** It does not listen to SIGTERM. */
async function deaf(name: string): Promise<SupervisedProcess> {
  const args = ['-c', "trap '' TERM; echo ready; while :; do sleep 0.05; done"];
  const spec = { name, kind: 'gateway', file: '/bin/sh', args, cwd: logs, env: {} };
  const process = new SupervisedProcess(spec as never, logs, () => undefined);
  process.start();
  const log = join(logs, `${name}.log`);
  await until(async () => (await readFile(log, 'utf8')).includes('ready'));
  return process;
}

describe('the end of a supervised process', () => {
  it('is late after the limit, unless the process was stopped by SIGSTOP meanwhile', async () => {
    const running = await deaf('running');
    expect(await running.end('SIGTERM', 500)).toMatchObject({ isLate: true });
    const frozen = await deaf('frozen');
    frozen.signal('SIGSTOP');
    expect(await frozen.end('SIGTERM', 500)).toMatchObject({
      by: 'SIGKILL',
      isLate: false,
    });
    const thawed = await deaf('thawed');
    thawed.signal('SIGSTOP');
    const ending = thawed.end('SIGTERM', 500);
    thawed.signal('SIGCONT');
    expect(await ending).toMatchObject({ isLate: false });
  });
});
