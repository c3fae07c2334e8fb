import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { LlamaProcess } from './process.js';

let folder: string;
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'llama-process-'))));
afterEach(() => rm(folder, { recursive: true }));

it('fails the load with what an aborted process said, without the addresses of its stack', async () => {
  const entry = join(folder, 'aborts.mjs');
  const said = [
    'CUDA error: the provided PTX was compiled with an unsupported toolchain.',
    '/lib/x86_64-linux-gnu/libc.so.6(+0x9cb84)[0x7fbc15e9cb84]',
    'node[0x1a075f0]',
  ];
  await writeFile(
    entry,
    `process.stderr.write(${JSON.stringify(`${said.join('\n')}\n`)}, () => process.kill(process.pid, 'SIGABRT'));`,
  );
  const child = new LlamaProcess({
    entry,
    settings: { loadTimeoutMs: 60_000 },
    env: process.env,
  });
  await expect(child.ready).rejects.toThrow(
    /SIGABRT; its last words: CUDA error: the provided PTX was compiled with an unsupported toolchain\.$/,
  );
});
