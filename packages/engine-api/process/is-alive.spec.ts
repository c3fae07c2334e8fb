import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { isAlive } from './is-alive.js';

describe('isAlive', () => {
  it('is true for a process that runs and false for one that was collected', async () => {
    expect(isAlive(process.pid)).toBe(true);
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    expect(isAlive(child.pid!)).toBe(false);
  });

  it('is false for a process that ended and was not collected', async () => {
    // The shell starts a child that ends, and becomes a program that never collects it.
    const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 30'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    while (isAlive(pid)) await new Promise(next => setTimeout(next, 10));
    expect(() => process.kill(pid, 0)).not.toThrow();
    parent.kill('SIGKILL');
  });
});
