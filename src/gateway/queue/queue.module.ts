import { Module } from '@nestjs/common';
import { BatchWindow } from '../../core/batching/batch-window.js';
import { Admission } from '../../core/queue/admission.js';
import { PriorityQueue } from '../../core/queue/priority-queue.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { Settings } from '../../platform/config/settings.js';
import { queueMetricProviders } from './queue.metrics.js';

const queueProvider = {
  provide: PriorityQueue,
  inject: [Settings, { token: KeyRing, optional: true }],
  useFactory: ({ queue: { agingMs, agingShare } }: Settings, keys?: KeyRing) =>
    new PriorityQueue({
      agingMs,
      agingShare,
      ...(keys && { weightOf: tenant => keys.weightOf(tenant) }),
    }),
};

const admissionProvider = {
  provide: Admission,
  inject: [Settings],
  useFactory: ({ queue }: Settings) => new Admission(queue, Math.random),
};

const windowProvider = {
  provide: BatchWindow,
  inject: [Settings],
  useFactory: ({ batching }: Settings) => new BatchWindow(batching),
};

/** The embedded queue: order, bounds and batch windows, built from settings. */
@Module({
  providers: [queueProvider, admissionProvider, windowProvider, ...queueMetricProviders],
  exports: [PriorityQueue, Admission, BatchWindow],
})
export class QueueModule {}
