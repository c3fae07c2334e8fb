import { Injectable, type Provider } from '@nestjs/common';
import { type LineEvents } from './execute/line-sender.js';

@Injectable()
export class BatchMetrics implements LineEvents {
  readonly attempts = new Map<string, number>();
  attempted(model: string): void {
    this.attempts.set(model, (this.attempts.get(model) ?? 0) + 1);
  }
  retried(model: string): void {
    this.attempted(model);
  }
  recovered(status: string): void {
    this.attempted(status);
  }
}

export const BATCH_METRICS: Provider[] = [BatchMetrics];
