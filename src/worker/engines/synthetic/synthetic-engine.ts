import { type EngineInfo } from '../engine.js';
import { type DeviceCounters, SyntheticDevice } from './synthetic-device.js';
import { type SyntheticOptions } from './synthetic-options.js';

type Abilities = Pick<EngineInfo, 'capabilities'> & Partial<EngineInfo>;

/** What the synthetic engines say of themselves. `abilities` are those of one kind of engine. */
export const syntheticInfo = (options: SyntheticOptions, abilities: Abilities): EngineInfo => ({
  engine: 'synthetic',
  device: options.device,
  revision: 'synthetic 1',
  maxBatch: options.maxBatch,
  maxConcurrent: options.maxConcurrent,
  streams: 0,
  languages: [],
  ...abilities,
});

/** The life of an engine that works in groups on a pretended device: there is nothing to load. */
export abstract class SyntheticEngine {
  readonly info: EngineInfo;
  protected readonly device: SyntheticDevice;

  constructor(
    protected readonly options: SyntheticOptions,
    abilities: Abilities,
    crash?: () => void,
  ) {
    this.device = new SyntheticDevice(options, crash);
    this.info = syntheticInfo(options, abilities);
  }

  get counters(): DeviceCounters {
    return this.device.counters;
  }

  load(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
