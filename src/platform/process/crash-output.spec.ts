import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from '@jest/globals';

/** As a program of this environment ends that throws an error with that text. */
function crash(text: string, environment: NodeJS.ProcessEnv) {
  const module = pathToFileURL(join(import.meta.dirname, 'crash-output.ts')).href;
  const script = `
    const { redactCrashes } = await import(${JSON.stringify(module)});
    redactCrashes();
    setTimeout(() => { throw Object.assign(new Error(${JSON.stringify(text)}), { url: 'redis://:planted@r' }); });
    setTimeout(() => console.log('goes on'), 60_000);`;
  const loader = resolve('test/support/typescript-loader.mjs');
  const args = ['--import', loader, '--input-type=module', '-e', script];
  const env = { ...process.env, NODE_OPTIONS: '', ...environment };
  return spawnSync(process.execPath, args, { env, encoding: 'utf8' });
}

it('is what Node prints, without the secrets of the error and of the environment, and code 1', () => {
  const environment = {
    ...{ OWN_TOKEN: 'abcdef', OTHER_KEY: 'ghijk', ADDRESS: 'redis://:planted-2@r' },
    ...{ PLAIN: 'lmnopqr', HF_TOKEN: 'stuvwx' },
  };
  const text = 'abcdef ghijk planted-2 lmnopqr stuvwx';
  const { status, stderr, stdout } = crash(text, environment);
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(
    /^Error: \[redacted\] ghijk \[redacted\] lmnopqr \[redacted\]\n {4}at [^]*url: 'redis:\/\/\[redacted\]@r'/,
  );
});
