import { randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { BatchWindow } from '../../core/batching/batch-window.js';
import { WindowTimers } from '../../core/batching/window-timers.js';
import { Dispatcher } from '../../core/dispatch/dispatcher.js';
import { Admission } from '../../core/queue/admission.js';
import { PriorityQueue } from '../../core/queue/priority-queue.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { Settings } from '../../platform/config/settings.js';
import { DependenciesModule } from '../../platform/dependencies/dependencies.module.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { RedisModule } from '../../platform/redis/redis.module.js';
import { BlobModule } from '../../platform/storage/blob.module.js';
import { DeviceSwaps } from '../devices/device-swaps.js';
import { deviceMetricProviders } from '../devices/device.metrics.js';
import { LatencyModule } from '../latency/latency.module.js';
import { RegistryModule } from '../registry/registry.module.js';
import { AllWorkers } from '../shared-queue/all-workers.js';
import { sharedQueueProviders } from '../shared-queue/shared-queue.providers.js';
import { SharedRequestQueue } from '../shared-queue/shared-request-queue.js';
import { StreamPlaces } from '../shared-queue/stream-places.js';
import { TextPlaces } from '../shared-queue/text-places.js';
import { WorkerPoolModule } from '../worker-pool/worker-pool.module.js';
import { EmbeddedQueue } from './embedded-queue.js';
import { Forecasts, forecastsProvider } from './forecasts.js';
import { queueMetricProviders } from './queue.metrics.js';
import { RequestQueues } from './request-queues.js';

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

const dispatcherProvider = {
  provide: Dispatcher,
  inject: [PriorityQueue, BatchWindow, Admission, TextPlaces, Forecasts],
  useFactory: (
    queue: PriorityQueue,
    window: BatchWindow,
    admission: Admission,
    workers: TextPlaces,
    forecasts: Forecasts,
  ) =>
    new Dispatcher({
      queue,
      window,
      admission,
      workers,
      newGroupId: randomUUID,
      startInMs: (request, nowMs) => forecasts.ofNew(request, nowMs)?.startInMs.p50,
    }),
};

const timersProvider = {
  provide: WindowTimers,
  inject: [ProcessClock],
  useFactory: (clock: ProcessClock) => new WindowTimers(clock),
};

/**
 * The queue as a service: order, bounds, batch windows and aging, in this process and in
 * Redis; when requests will probably start.
 */
@Module({
  imports: [
    BlobModule,
    DependenciesModule,
    LatencyModule,
    RedisModule,
    RegistryModule,
    WorkerPoolModule,
  ],
  providers: [
    queueProvider,
    admissionProvider,
    windowProvider,
    timersProvider,
    dispatcherProvider,
    forecastsProvider,
    DeviceSwaps,
    EmbeddedQueue,
    RequestQueues,
    ...sharedQueueProviders,
    ...queueMetricProviders,
    ...deviceMetricProviders,
  ],
  exports: [
    PriorityQueue,
    Admission,
    AllWorkers,
    DeviceSwaps,
    EmbeddedQueue,
    Forecasts,
    RequestQueues,
    SharedRequestQueue,
    StreamPlaces,
    TextPlaces,
  ],
})
export class QueueModule {
  constructor(forecasts: Forecasts, swaps: DeviceSwaps, events: DispatchEventBus) {
    events.events$.subscribe(forecasts.apply);
    events.events$.subscribe(swaps.look);
  }
}
