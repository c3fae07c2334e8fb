import { type BatchWindow } from '../../../../src/core/batching/batch-window.js';
import { type Admission } from '../../../../src/core/queue/admission.js';
import { SETTINGS_TABLE } from '../../../../src/platform/config/settings.js';

/** The settings that a simulation obeys. */
export interface SimulationRules {
  readonly agingMs: number;
  readonly agingShare: number;
  readonly queueTimeoutMs: number;
  readonly window: ConstructorParameters<typeof BatchWindow>[0];
  readonly bounds: ConstructorParameters<typeof Admission>[0];
}

const setting = <K extends keyof typeof SETTINGS_TABLE>(
  path: K,
): (typeof SETTINGS_TABLE)[K]['default'] => SETTINGS_TABLE[path].default;

/** The defaults of the product, read from its own table of settings. */
export const simulationRules = (changes: Partial<SimulationRules> = {}): SimulationRules => ({
  agingMs: setting('queue.aging_ms'),
  agingShare: setting('queue.aging_share'),
  queueTimeoutMs: setting('queue.timeout_ms'),
  window: {
    policy: 'adaptive',
    maxSize: setting('batching.max_size'),
    windowMs: setting('batching.window_ms'),
    quietGapMs: setting('batching.quiet_gap_ms'),
  },
  bounds: {
    maxRequests: setting('queue.max_requests'),
    maxRequestsPerModel: setting('queue.max_requests_per_model'),
    maxBytes: setting('queue.max_bytes'),
    maxBytesPerModel: setting('queue.max_bytes_per_model'),
    realtimeReserve: setting('queue.realtime_reserve'),
  },
  ...changes,
});
