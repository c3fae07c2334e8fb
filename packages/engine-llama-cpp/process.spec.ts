import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { temporaryFolder } from '../../test/support/temporary-folder.js';
import { LlamaProcess } from './process.js';

it('fails the load with what an aborted process said, without the addresses of its stack', async () => {
  const entry = join(temporaryFolder(), 'aborts.mjs');
  const said = [
    'CUDA error: the provided PTX was compiled with an unsupported toolchain.',
    '/lib/x86_64-linux-gnu/libc.so.6(+0x9cb84)[0x7fbc15e9cb84]',
    'node[0x1a075f0]',
  ];
  await writeFile(
    entry,
    `process.stderr.write(${JSON.stringify(`${said.join('\n')}\n`)}, () => process.kill(process.pid, 'SIGABRT'));`,
  );
  const child = new LlamaProcess({ entry, settings: { loadTimeoutMs: 60_000 }, env: process.env });
  await expect(child.ready).rejects.toThrow(
    /SIGABRT; its last words: CUDA error: the provided PTX was compiled with an unsupported toolchain\.$/,
  );
});
