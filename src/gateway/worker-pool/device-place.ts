import { type MonotonicClock } from '../../core/batching/window-timers.js';
import { type ModelSpec, replicaSpecs } from '../../platform/config/model-spec.js';

/** A session that waits for a model asks again within this time. */
const LOAD_REQUEST_MS = 5000;

/** Who waits for a model that shares a device besides requests, and why its load failed. */
export class DevicePlace {
  /** What engines call the device that the model is on. Its `ModelWorkers` writes it. */
  device: string | undefined;
  #loadRequest: { readonly sinceMs: number; readonly untilMs: number } | undefined;
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

  /** @param ms how long it is waited for; Infinity: until it is loaded or has failed */
  requestLoad(ms = LOAD_REQUEST_MS): void {
    const nowMs = this.clock.nowMs();
    this.#loadRequest = { sinceMs: this.loadRequestedSinceMs ?? nowMs, untilMs: nowMs + ms };
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

  /** Its workers take requests now. */
  arrived(): void {
    this.#loadRequest = undefined;
    this.#refusal = undefined;
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
