import { type MonotonicClock } from '../../core/batching/window-timers.js';
import { type ModelSpec, replicaSpecs } from '../../platform/config/model-spec.js';

/** A session that waits for a model asks again within this time. */
const LOAD_REQUEST_MS = 5000;

/** Who waits for a model that shares a device besides requests, and why its load failed. */
export class DevicePlace {
  /** What engines call the device that the model is on. Its `ModelWorkers` writes it. */
  device: string | undefined;
  #loadRequest:
    | {
        readonly sinceMs: number;
        readonly untilMs: number;
        /** Of sessions. */
        readonly tenants: ReadonlySet<string>;
      }
    | undefined;
  #refusal: { readonly reason: string; readonly untilMs: number } | undefined;

  constructor(
    private readonly clock: MonotonicClock,
    private readonly events: {
      /** A session or an operator began to wait for the model, or stopped. */
      readonly onChange: () => void;
      readonly onRefused: () => void;
    },
  ) {}

  /** Since when a session or an operator waits for it; undefined: none does. */
  get loadRequestedSinceMs(): number | undefined {
    const { sinceMs, untilMs = -Infinity } = this.#loadRequest ?? {};
    return this.clock.nowMs() < untilMs ? sinceMs : undefined;
  }

  /** Why its requests are refused; undefined: they are not. */
  get refusal(): string | undefined {
    const { reason, untilMs = -Infinity } = this.#refusal ?? {};
    return this.clock.nowMs() < untilMs ? reason : undefined;
  }

  /**
   * @param tenant of the session that waits for it
   * @param ms how long it is waited for; Infinity: until it is loaded or has failed
   */
  requestLoad(tenant?: string, ms = LOAD_REQUEST_MS): void {
    const nowMs = this.clock.nowMs();
    const sinceMs = this.loadRequestedSinceMs ?? nowMs;
    const tenants = new Set(this.#loadRequest?.tenants);
    if (tenant !== undefined) tenants.add(tenant);
    this.#loadRequest = { sinceMs, untilMs: nowMs + ms, tenants };
    const { onChange } = this.events;
    onChange();
    if (ms < Infinity) setTimeout(onChange, ms + 1).unref();
  }

  /** Its load failed, here or at the gateway that loads it. */
  refuse(reason: string, untilMs: number): void {
    this.#loadRequest = undefined;
    this.#refusal = { reason, untilMs };
    this.events.onRefused();
  }

  /** Its workers take requests now. @returns tenants whose sessions waited for it */
  arrived(): readonly string[] {
    const tenants = [...(this.#loadRequest?.tenants ?? [])];
    this.#loadRequest = undefined;
    this.#refusal = undefined;
    return tenants;
  }
}

/**
 * A model with its replicas on a device.
 * @param device what the engine calls it; undefined: as the model says
 */
export const onDevice = (model: ModelSpec, device: string | undefined): ModelSpec =>
  device === undefined
    ? model
    : { ...model, replicas: replicaSpecs(model).map(replica => ({ ...replica, device })) };
