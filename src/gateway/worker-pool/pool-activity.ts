import { type CallExecution } from '@switchyard/worker-protocol/call.codec.js';
import { type GenerationCounts } from '../../worker-client/generation-counts.js';

/** A worker answered a request. */
export interface ExecutedCall {
  readonly model: string;
  readonly execution: CallExecution;
}

/** Events of the pool that no view of workers shows. */
export type PoolActivity =
  | { readonly type: 'restarted'; readonly model: string; readonly worker: string }
  | {
      readonly type: 'exited';
      readonly model: string;
      readonly worker: string;
      readonly pid: number | undefined;
    }
  | { readonly type: 'load_failed'; readonly model: string }
  | {
      readonly type: 'generated';
      readonly model: string;
      readonly worker: string;
      /** Counted since the last such event of this worker. */
      readonly counts: GenerationCounts;
    };
