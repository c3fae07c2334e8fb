import { expect, it } from '@jest/globals';
import { type HttpAdapterHost } from '@nestjs/core';
import { Subject } from 'rxjs';
import { settingsFrom } from '../../../platform/config/settings.js';
import { EmbeddedProcessor } from './embedded-processor.js';

it('with batch.embedded: false no processor starts, and what is asked of it has no effect', async () => {
  const listen$ = new Subject<void>();
  const host = { listen$ } as unknown as HttpAdapterHost;
  const settings = settingsFrom({ 'batch.embedded': false });
  const processor = new EmbeddedProcessor(settings, host, Buffer.from('secret'));
  processor.onModuleInit();
  expect(listen$.observed).toBe(false);
  processor.wake();
  expect(await processor.metrics()).toBe('');
  processor.onModuleDestroy();
  await processor.beforeApplicationShutdown();
  expect(processor.view).toEqual({
    state: 'off',
    pid: undefined,
    restarts: 0,
    problem: undefined,
  });
});
