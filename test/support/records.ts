import { type ScheduledRequest } from '../../src/core/request/scheduled-request.js';
import { RequestRegistry } from '../../src/gateway/registry/request-registry.js';
import { TrackedRequest } from '../../src/gateway/registry/tracked-request.js';
import { settingsFrom } from '../../src/platform/config/settings.js';
import { DispatchEventBus } from '../../src/platform/events/events.module.js';
import { type WorkerTask } from '../../src/worker-client/worker-task.js';
import { aRequest } from './requests.js';
import { transcribe } from './scheduler-harness.js';

/** A registry without a queue. */
export const aRegistry = (bus = new DispatchEventBus()): RequestRegistry =>
  new RequestRegistry(bus, { nowMs: () => 5 }, settingsFrom({}));

/** The record of a request that waits. */
export function opened(
  registry: RequestRegistry,
  id: string,
  changes: Partial<ScheduledRequest> = {},
  payload: WorkerTask = transcribe(),
): TrackedRequest {
  const request = { ...aRequest(id, { model: 'm', ...changes }), payload };
  const record = new TrackedRequest(request, {} as TrackedRequest['queue']);
  registry.enter(record);
  registry.open(record);
  return record;
}

export const LEASE: Parameters<RequestRegistry['leased']>[1] = {
  ...{ workerId: 'w', groupId: 'g', groupSize: 1, reason: 'single', batchWaitMs: 0 },
};
