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

/** What was on which device in the last 15 minutes, oldest first. */
export class DeviceHistory {
  spans: readonly DeviceSpan[] = [];

  /** As it is now. */
  look(placements: Placements, models: readonly string[], nowMs: number): void {
    for (const model of models) {
      const open = this.spans.findLast(span => span.model === model && span.toMs === undefined);
      const place = placements.at(model);
      if (open?.stage === place?.stage) continue;
      if (open) open.toMs = nowMs;
      if (!place) continue;
      const { device, stage } = place;
      this.spans = [...this.spans, { model, device, stage, fromMs: nowMs }];
    }
    const isRecent = ({ toMs = nowMs }: DeviceSpan) => toMs >= nowMs - KEPT_MS;
    this.spans = this.spans.filter(isRecent).slice(-MOST);
  }
}
