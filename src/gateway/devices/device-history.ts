import { type Placements } from '../../core/devices/placements.js';
import { type Stage } from '../../core/devices/swap-policy.port.js';

const KEPT_MS = 15 * 60_000;
const MOST = 1000;

/** A model in one stage on a device. Unix milliseconds. */
export interface DeviceSpan {
  readonly model: string;
  readonly device: string;
  readonly stage: Exclude<Stage, 'absent'>;
  readonly fromMs: number;
  /** Absent: it still is. */
  toMs?: number;
}

/** What was on which device in the last 15 minutes. */
export class DeviceHistory {
  #spans: readonly DeviceSpan[] = [];
  /** Of these, what still is, by model. */
  readonly #open = new Map<string, DeviceSpan>();

  /** Oldest first. */
  since(nowMs: number): readonly DeviceSpan[] {
    return this.#spans.filter(({ toMs = nowMs }) => toMs >= nowMs - KEPT_MS);
  }

  /** As it is now. Called with each event: what has not changed costs nothing. */
  look(placements: Pick<Placements, 'at' | 'present'>, nowMs: number): void {
    for (const model of new Set([...placements.present, ...this.#open.keys()])) {
      const open = this.#open.get(model);
      const place = placements.at(model);
      if (open?.stage === place?.stage && open?.device === place?.device) continue;
      if (open) open.toMs = nowMs;
      this.#open.delete(model);
      if (place) this.#begin({ model, device: place.device, stage: place.stage, fromMs: nowMs });
    }
  }

  #begin(span: DeviceSpan): void {
    this.#open.set(span.model, span);
    const spans = [...this.since(span.fromMs), span];
    let surplus = spans.length - MOST;
    this.#spans = spans.filter(({ toMs }) => toMs === undefined || (surplus -= 1) < 0);
  }
}
