import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../support/temporary-folder.js';

interface Answers {
  /** What `npm audit --json` prints. */
  readonly npm: string;
  /** What `pip-audit` prints; absent: it is not installed. */
  readonly pip?: string;
}

/** The script in a folder of its own, whose tools answer so: no registry is asked. */
function advisories({ npm, pip }: Answers): Promise<{ code: number; output: string }> {
  const folder = temporaryFolder();
  for (const name of ['scripts/advisories.mjs', 'scripts/setup', 'package.json'])
    cpSync(name, join(folder, name), { recursive: true });
  for (const name of ['console', 'node_modules/.bin', 'workers/python/requirements'])
    mkdirSync(join(folder, name), { recursive: true });
  const tool = (name: string, output: string): void => {
    const path = join(folder, 'node_modules/.bin', name);
    writeFileSync(path, `#!/bin/sh\ncat <<'END'\n${output}\nEND\n`);
    chmodSync(path, 0o755);
  };
  tool('npm', npm);
  if (pip !== undefined) tool('pip-audit', pip);
  const args = [join(folder, 'scripts/advisories.mjs')];
  const env = { PATH: '/usr/bin:/bin' };
  return new Promise(resolve =>
    execFile(process.execPath, args, { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    ),
  );
}

const found = (severity: string): string =>
  JSON.stringify({ vulnerabilities: { left: { name: 'left', severity, range: '<2' } } });
const NONE = '{"vulnerabilities":{}}';

describe('npm run advisories', () => {
  it.each([
    [{ npm: NONE, pip: '{"dependencies":[]}' }, 0, 'no advisory'],
    [{ npm: found('moderate') }, 0, 'left <2, moderate'],
    [{ npm: found('high') }, 1, 'left <2, high'],
    [
      { npm: NONE, pip: '{"dependencies":[{"name":"p","version":"1","vulns":[{"id":"V-1"}]}]}' },
      1,
      'p 1, V-1',
    ],
    [{ npm: '{"message":"no registry"}' }, 0, 'not asked. no registry'],
    [{ npm: NONE }, 0, 'pip-audit is not installed'],
  ])('%j: exit code %i, and says so', async (answers, code, said) => {
    const ran = await advisories(answers);
    expect(ran).toEqual({ code, output: expect.stringContaining(said) });
  });
});
