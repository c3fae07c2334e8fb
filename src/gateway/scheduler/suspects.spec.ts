import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { aRegistry, LEASE, opened } from '../../../test/support/records.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { PriorityQueue } from '../../core/queue/priority-queue.js';
import { WorkerLostError } from '../../core/request/worker-lost.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type TranscribeTask, type WorkerTask } from '../../worker-client/worker-task.js';
import { Suspects } from './suspects.js';

const CRASHED = {
  status: 'failed',
  error: new DomainError('worker_crashed', 'it ended its worker twice'),
} as const;
const TASK = { kind: 'embed', body: Buffer.from('deadly'), inputs: 1 } as const;

function harness(suspectMs = 1000) {
  const bus = new DispatchEventBus();
  const registry = aRegistry(bus);
  const queue = new PriorityQueue({ agingMs: 30_000, agingShare: 0.25 });
  const clock = { ms: 0 };
  const told: unknown[] = [];
  const shared = { suspect: (...suspect: unknown[]) => void told.push(suspect) };
  const suspects = new Suspects(
    ...([bus, registry, queue, shared as never, { nowMs: () => clock.ms } as never] as const),
    settingsFrom({ 'scheduling.suspect_ms': suspectMs }),
  );
  suspects.onModuleInit();
  const waiting = (id: string, tenant: string) => {
    const record = opened(registry, id, { tenant });
    queue.enqueue(record.request);
    return record;
  };
  const crash = (payload?: WorkerTask) => {
    const record = opened(registry, 'poison', { tenant: 'a' }, payload);
    registry.leased(record, LEASE, false);
    registry.requeued(record, 'worker_lost', () => undefined);
    registry.settle(record, CRASHED);
  };
  return { suspects, registry, queue, clock, waiting, crash, told };
}

describe('Suspects', () => {
  it('what waits of the tenant becomes a suspect, and stays one when a worker returns it', () => {
    const { queue, waiting, crash, told } = harness();
    const [mine, others] = [waiting('mine', 'a'), waiting('others', 'b')];
    crash();
    expect(queue.get(mine.key)).toMatchObject({ mostTogether: 1, yields: true });
    expect(queue.get(others.key)?.yields).toBeUndefined();
    // Where gateways share a queue.
    expect(told).toEqual([['m', 'a', 1000]]);
    const drained = new WorkerLostError('draining', 'the worker drains');
    expect(mine.retry(drained, 0)).toMatchObject({ mostTogether: 1, yields: true });
  });

  it('suspects nobody for any other failure', () => {
    const { suspects, registry } = harness();
    const record = opened(registry, 'late', { tenant: 'a' });
    const error = new DomainError('inference_timeout', 'it took too long');
    registry.settle(record, { status: 'failed', error });
    expect(suspects.placement('m', 'a')).toBeUndefined();
  });

  it('suspects nothing with scheduling.suspect_ms 0', () => {
    const { suspects, queue, waiting, crash, told } = harness(0);
    const mine = waiting('mine', 'a');
    crash();
    expect(queue.get(mine.key)?.yields).toBeUndefined();
    expect(suspects.placement('m', 'a')).toBeUndefined();
    expect(told).toEqual([]);
  });

  it('refuses the same bytes for 10 minutes, whoever sends them, and no others', async () => {
    const { suspects, clock, crash } = harness();
    crash(TASK);
    await new Promise(setImmediate);
    expect(() => suspects.demandHarmless('m', TASK)).toThrow('twice within the last 10 minutes');
    expect(() => suspects.demandHarmless('other', TASK)).not.toThrow();
    const harmless = { ...TASK, body: Buffer.from('harmless') };
    expect(() => suspects.demandHarmless('m', harmless)).not.toThrow();
    clock.ms = 600_000;
    expect(() => suspects.demandHarmless('m', TASK)).not.toThrow();
  });

  it('refuses audio whose bytes are the same, in whatever pieces, and none that it did not read', async () => {
    const { suspects, crash } = harness();
    const audioOf = (...texts: string[]) =>
      ({ chunks: () => Readable.from(texts.map(text => Buffer.from(text))) }) as never;
    const harmless = (audio: TranscribeTask['audio']) => suspects.demandHarmlessAudio('m', audio);
    const deadly = audioOf('dead', 'ly');
    await harmless(deadly);
    crash({ kind: 'transcribe', audio: deadly } as unknown as TranscribeTask);
    await new Promise(setImmediate);
    await expect(harmless(audioOf('deadly'))).rejects.toThrow('twice within the last 10 minutes');
    await harmless(audioOf('dead'));
    await harmless({ url: 'https://example.org/deadly.wav' });
  });
});
