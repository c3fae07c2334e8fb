import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import {
  type ProcessExit,
  SupervisedProcess,
} from '@switchyard/engine-api/process/child-process.js';
import { NoDescriptors } from '../../../test/support/no-descriptors.js';
import { DescriptorWatch } from './descriptor-watch.js';

const exitOf = (args: readonly string[]): Promise<ProcessExit> =>
  new Promise(onExit => {
    const ignored = () => undefined;
    new SupervisedProcess({
      command: process.execPath,
      args,
      env: {},
      onMessage: ignored,
      onLine: ignored,
      onExit,
    });
  });

describe('without free descriptors', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('a process that cannot be started exits with the reason, and no other process ends', async () => {
    const none = await NoDescriptors.take();
    const exit = await exitOf(['-e', '']);
    await none[Symbol.asyncDispose]();
    expect(exit).toMatchObject({ code: null, reason: expect.stringContaining('EMFILE') });
    expect(await exitOf(['-e', ''])).toMatchObject({ code: 0 });
  });

  it('so does one that Node refuses at once (E2BIG)', async () => {
    const exit = await exitOf(['-e', 'x'.repeat(4 * 1_048_576)]);
    expect(exit).toMatchObject({ code: null, reason: expect.stringContaining('E2BIG') });
  });

  it('the gateway logs once that connections are refused, and once that it is over', async () => {
    const said = [jest.spyOn(Logger.prototype, 'error'), jest.spyOn(Logger.prototype, 'log')];
    const texts = () => said.flatMap(({ mock }) => mock.calls.map(([text]) => String(text)));
    for (const spy of said) spy.mockImplementation(() => undefined);
    const watch = new DescriptorWatch();
    const none = await NoDescriptors.take();
    await watch.look();
    await watch.look();
    await none[Symbol.asyncDispose]();
    await watch.look();
    expect(texts()).toEqual([
      expect.stringContaining('new connections are refused'),
      'there are free file descriptors again',
    ]);
  });
});
