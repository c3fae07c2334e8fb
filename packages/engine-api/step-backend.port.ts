import { type GenerationPlan, type StepOutcome } from './generation-plan.js';
import { type KvMemory } from './kv-memory.port.js';

/**
 * Executes steps: llama.cpp, or the simulator of the tests. It decides nothing.
 *
 * - All items of a plan go through the model in one native run.
 * - An item reads the positions before its own through `blocks`, and writes its own. What
 *   stood there is void: the
 *   plan after a failed step, and a preempted sequence, compute the same positions again.
 * - An item without tokens reads the one that the step before drew for the same request;
 *   drew that none, any token
 *   will do: the request has ended, and the result is ignored.
 * - A drawn token depends on the request, its position and the tokens before it, on
 *   nothing else. Then preemption, a
 *   retry and a restart of the backend give the same text.
 */
export interface StepBackend<T> {
  /** Its KV memory: the scheduler allocates in it, `run` computes in it. */
  readonly memory: KvMemory<object>;
  /**
   * One at a time; a plan made ahead may be sent while the one before it runs, and is run
   * right behind it.
   * @throws Error when the backend is gone with all it kept: call
   *   `GenerationScheduler.lost`
   */
  run(plan: GenerationPlan<T>): Promise<StepOutcome<T>>;
  /** Waits for the step that runs. Idempotent. */
  close(): Promise<void>;
}
