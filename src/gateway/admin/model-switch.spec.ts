import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type ModelList } from '../../platform/config/config.module.js';
import { ConfigError } from '../../platform/config/yaml-file.js';
import { type CancellationManager } from '../cancellation/cancellation-manager.js';
import { type DeviceSwaps } from '../devices/device-swaps.js';
import { type WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { ModelSwitch } from './model-switch.js';

describe('models are switched', () => {
  let log: string[];
  let model: { autostart: string; isHeld: boolean; isPlaced: boolean };
  let loadedBy: string | undefined;
  let unloading: PromiseWithResolvers<void>;
  let problem: Error | undefined;
  let models: ModelSwitch;

  beforeEach(() => {
    [log, loadedBy, problem, unloading] = [[], undefined, undefined, Promise.withResolvers()];
    model = { autostart: 'always', isHeld: true, isPlaced: true };
    const of = (id: string) =>
      id === 'm'
        ? {
            ...model,
            view: () => ({ id, autostart: model.autostart }),
            load: () => log.push('load'),
            unload: (hold: boolean) => {
              log.push(`unload ${hold}`);
              return unloading.promise;
            },
          }
        : undefined;
    const cancelMany = (filter: { model: string; state: string }, reason: string) =>
      Promise.resolve(log.push(`cancel ${filter.model} ${filter.state} ${reason}`));
    const reload = () => {
      if (problem) throw problem;
      return { added: ['a'], removed: ['r1', 'r2'] };
    };
    models = new ModelSwitch(
      { of } as unknown as WorkerPoolService,
      { cancelMany } as unknown as CancellationManager,
      { reload } as unknown as ModelList,
      {
        get loadedBy() {
          return loadedBy;
        },
      } as unknown as DeviceSwaps,
    );
  });
  const CLEARED = 'cancel m queued unload';

  it('on, if there is one of that name', () => {
    expect(models.load('m')).toMatchObject({ id: 'm' });
    expect(log).toEqual(['load']);
    expect(() => models.load('none')).toThrow('There is no model none.');
  });

  it('off, and what waits for them ends, now and when they have ended', async () => {
    expect(await models.unload('m')).toMatchObject({ id: 'm' });
    expect(log).toEqual(['unload true', CLEARED]);
    unloading.resolve();
    await turn();
    expect(log.slice(2)).toEqual([CLEARED]);
  });

  it('off until the next request, which may wait for them', async () => {
    model = { ...model, autostart: 'on_request', isHeld: false };
    await models.unload('m');
    unloading.reject(new Error('stuck'));
    await turn();
    expect(log).toEqual(['unload false']);
  });

  it('by the gateway that loads what shares a device', async () => {
    loadedBy = 'gw_2';
    const code = 'worker_not_supervised';
    await expect(models.unload('m')).rejects.toMatchObject({ code });
    expect(() => models.load('m')).toThrow('The gateway gw_2 loads and unloads m');
    expect(log).toEqual([]);
    model.isPlaced = false;
    models.load('m');
    expect(log).toEqual(['load']);
  });

  it('by their file: what waits for those that are gone ends', async () => {
    expect(await models.reload()).toMatchObject({ added: ['a'] });
    expect(log).toEqual(['cancel r1 queued unload', 'cancel r2 queued unload']);
  });

  it.each([
    [new ConfigError([]), { code: 'models_file_invalid' }],
    [new Error('a bug'), { message: 'a bug' }],
  ])('by no file that is wrong: %s', async (thrown, error) => {
    problem = thrown;
    await expect(models.reload()).rejects.toMatchObject(error);
    expect(log).toEqual([]);
  });
});
