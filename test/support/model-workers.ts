import { jest } from '@jest/globals';
import { Subject } from 'rxjs';
import { ModelWorkers } from '../../src/gateway/worker-pool/model-workers.js';
import { type PooledWorker } from '../../src/gateway/worker-pool/pooled-worker.js';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { settingsFrom } from '../../src/platform/config/settings.js';
import { modelSpec } from './pool-harness.js';

/** A worker as a test wants it. */
export interface FakeWorker {
  readonly id?: string;
  readonly state?: string;
  readonly free?: number;
  readonly running?: number;
  readonly role?: 'stream' | 'file';
  readonly isTrial?: boolean;
  readonly isTrusted?: boolean;
  readonly status?: object;
  readonly drained?: boolean;
  readonly problem?: string;
  readonly lastExit?: object;
}

/** A worker as the test says, in place of one with a process. */
function fakeWorker({ id = 'm-0', free, role, status = {}, ...fields }: FakeWorker) {
  const { state = 'ready', running = 0, isTrusted = false, isTrial = false } = fields;
  const offer = jest.fn((mostTogether?: number) =>
    free === undefined
      ? undefined
      : {
          ...{ workerId: id, free, urgent: free, idle: true, maxBatch: 1, total: 4 },
          ...{ latencyMs: 1, ...(isTrial && { isTrial }), ...(mostTogether && { mostTogether }) },
        },
  );
  return {
    ...{ id, state, running, isTrusted, offer },
    options: { replica: { role }, location: { status } },
    view: () => ({ id, state, ...fields }),
  };
}

/** The workers of a model, whose roster starts and stops nothing. */
export function modelWorkers(spec: Partial<ModelSpec> = {}, ...fakes: FakeWorker[]) {
  const now = { ms: 0 };
  const events: string[] = [];
  const activity = new Subject<{ type: string }>();
  activity.subscribe(({ type }) => events.push(type));
  const capacity = new Subject<string>();
  capacity.subscribe(id => events.push(`capacity ${id}`));
  const executed = new Subject<unknown>();
  executed.subscribe(() => events.push('executed'));
  const workers = new ModelWorkers({
    settings: settingsFrom({}),
    model: modelSpec(spec),
    clock: { nowMs: () => now.ms },
    ...{ activity, capacity, executed, launch: {}, starts: {}, resolve: () => undefined },
  } as unknown as ConstructorParameters<typeof ModelWorkers>[0]);
  const { roster } = workers;
  const all = fakes.map(fakeWorker);
  jest.spyOn(roster, 'all', 'get').mockReturnValue(all as unknown as PooledWorker[]);
  const stopped = Promise.withResolvers<void>();
  const calls = {
    start: jest.spyOn(roster, 'start').mockReturnValue(),
    secure: jest.spyOn(roster, 'secure').mockReturnValue(),
    populate: jest.spyOn(roster, 'populate').mockReturnValue(),
    follow: jest.spyOn(roster, 'follow').mockReturnValue(),
    stop: jest.spyOn(roster, 'stop').mockReturnValue(stopped.promise),
    close: jest.spyOn(roster, 'close').mockResolvedValue(),
  };
  const starts = () => calls.start.mock.calls.length;
  return { workers, now, events, all, calls, starts, stopped: () => stopped.resolve() };
}
