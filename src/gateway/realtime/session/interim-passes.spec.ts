import { describe, expect, it } from '@jest/globals';
import { type Transcript } from '@switchyard/engine-api/speech-recognizer.js';
import { aKey } from '../../../../test/support/requests.js';
import { type Settings } from '../../../platform/config/settings.js';
import { DispatchEventBus } from '../../../platform/events/events.module.js';
import { type ModelCatalog } from '../../models/model-catalog.js';
import { type SchedulerService } from '../../scheduler/scheduler.service.js';
import { InterimPasses } from './interim-passes.js';

function passes({ interimMs = 500, engine = 'whisper' } = {}) {
  const bus = new DispatchEventBus();
  const cancelled: string[] = [];
  const tested = new InterimPasses(
    bus,
    { isIdle: (model: string) => model === 'idle' } as unknown as SchedulerService,
    { get: () => ({ engine }) } as unknown as ModelCatalog,
    { realtime: { interimMs } } as Settings,
  );
  tested.onModuleInit();
  const accept = (id: string, model = 'm') => {
    bus.emit({ type: 'accepted', key: aKey(id), model } as never);
    return cancelled.splice(0);
  };
  const run = (id: string) => {
    const ended = Promise.withResolvers<Transcript>();
    const cancel = () => void cancelled.push(id);
    tested.run('m', aKey(id), () => ({ transcript: ended.promise, cancel }));
    return ended;
  };
  return { passes: tested, accept, run };
}

describe('passes over an utterance that is being spoken', () => {
  it('run while their model is idle, every so many seconds', () => {
    const { passes: tested } = passes();
    expect(tested.of('m')?.everyS).toBe(0.5);
    expect(tested.of('m')?.isIdle()).toBe(false);
    expect(tested.of('idle')?.isIdle()).toBe(true);
  });

  it.each([
    ['none are wanted', { interimMs: 0 }],
    ['another server recognises', { engine: 'openai-http' }],
  ])('do not run where %s', (_, options) => {
    expect(passes(options).passes.of('m')).toBeUndefined();
  });

  it('are cancelled by whatever else is accepted for their model', () => {
    const { accept, run } = passes();
    run('pass');
    expect(accept('pass')).toEqual([]);
    expect(accept('file', 'other')).toEqual([]);
    expect(accept('file')).toEqual(['pass']);
  });

  it.each(['resolve', 'reject'] as const)('are forgotten when they end: %s', async how => {
    const { accept, run } = passes();
    run('pass')[how](undefined as never);
    await new Promise(setImmediate);
    expect(accept('file')).toEqual([]);
    run('other');
    expect(accept('pass')).toEqual(['other']);
  });

  it('that cannot start are forgotten', () => {
    const { passes: tested, accept, run } = passes();
    const full = () => {
      throw new Error('full');
    };
    expect(() => tested.run('m', aKey('pass'), full)).toThrow('full');
    run('other');
    expect(accept('pass')).toEqual(['other']);
  });
});
