import { spawnSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { V8_FLAGS } from './v8-flags.js';

it('are flags that this V8 knows', () => {
  const { status, stderr } = spawnSync(process.execPath, [...V8_FLAGS, '-e', ''], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
