import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type LiveDelta, type LiveSnapshot } from '../../src/contracts/events/live-event.js';
import { LiveView } from '../../src/contracts/events/live-view.js';
import { type DispatchEvent } from '../../src/core/dispatch/dispatch-event.js';
import { stateChange } from '../../src/gateway/live-feed/live-workers.js';
import { LiveLedger } from '../../src/gateway/live-feed/live-ledger.js';
import { aKey } from '../support/requests.js';

const named = (requestId: string) => ({ key: aKey(requestId), requestId });

const MODELS = ['a', 'b'];
const STEPS = ['accept', 'lease', 'requeue', 'cancel', 'settle', 'reject', 'tell', 'lose'] as const;
const steps = fc.array(fc.record({ step: fc.constantFrom(...STEPS), pick: fc.nat(1000), realtime: fc.boolean() }), {
  maxLength: 200,
});
type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never;

/** What the scheduler may emit, in an order that it may emit it. */
class History {
  readonly #live: { id: string; model: string; priority: 'realtime' | 'batch'; running: boolean }[] = [];
  #made = 0;

  get counts() {
    const count = (model: string, running: boolean, priority?: string) =>
      this.#live.filter(
        each => each.model === model && each.running === running && (priority ?? each.priority) === each.priority,
      ).length;
    return Object.fromEntries(
      MODELS.map(model => [
        model,
        { realtime: count(model, false, 'realtime'), batch: count(model, false, 'batch'), running: count(model, true) },
      ]),
    );
  }

  event({ step, pick, realtime }: Step): DispatchEvent | undefined {
    const model = MODELS[pick % MODELS.length]!;
    const priority = realtime ? 'realtime' : 'batch';
    if (step === 'reject') return { ...named('x'), model, priority, atMs: 0, type: 'rejected', code: 'queue_full' };
    if (step === 'accept') {
      const id = `r${this.#made++}`;
      this.#live.push({ id, model, priority, running: false });
      return { ...named(id), model, priority, atMs: 0, type: 'accepted', bytes: 1 };
    }
    const wanted = step === 'lease' ? false : step === 'requeue' ? true : undefined;
    const able = this.#live.filter(({ running }) => wanted === undefined || running === wanted);
    const chosen = able[pick % (able.length || 1)];
    return chosen && this.#change(step, chosen);
  }

  #change(step: Step['step'], chosen: { id: string; model: string; priority: 'realtime' | 'batch'; running: boolean }) {
    const base = { ...named(chosen.id), model: chosen.model, priority: chosen.priority, atMs: 0 };
    switch (step) {
      case 'lease':
        chosen.running = true;
        return {
          ...{ ...base, type: 'leased', workerId: 'w', groupId: 'g', groupSize: 1, reason: 'single', attempt: 1 },
          ...{ queueWaitMs: 0, batchWaitMs: 0 },
        } as DispatchEvent;
      case 'requeue':
        chosen.running = false;
        return { ...base, type: 'requeued', workerId: 'w', code: 'worker_lost' } as DispatchEvent;
      case 'cancel':
        return { ...base, type: 'cancel_requested', stage: 'queued', reason: 'client' } as DispatchEvent;
      default:
        this.#live.splice(this.#live.indexOf(chosen), 1);
        return { ...base, type: 'settled', status: 'completed', phases: {}, attempts: 1 } as DispatchEvent;
    }
  }
}

describe('the live feed, under random histories', () => {
  it('counts waiting and running exactly; snapshot plus deltas is the next snapshot; numbers show lost deltas', () => {
    fc.assert(
      fc.property(steps, sequence => {
        const [ledger, history] = [new LiveLedger(MODELS), new History()];
        const [server, client] = [new LiveView('queue'), new LiveView('queue')];
        const snapshot = (): LiveSnapshot => server.part('s')!;
        server.adopt({ room: 'queue', source: 's', seq: 0, state: ledger.queues() });
        client.adopt(snapshot());
        let missed = 0;
        for (const step of sequence) {
          if (step.step !== 'tell' && step.step !== 'lose') {
            const event = history.event(step);
            if (event) ledger.apply(event);
            continue;
          }
          const change = stateChange(snapshot().state, ledger.queues());
          if (!change) continue;
          const delta: LiveDelta = { room: 'queue', source: 's', seq: snapshot().seq + 1, ...change };
          expect(server.apply(delta)).toBe(true);
          if (step.step === 'lose') missed++;
          else if (!client.apply(delta)) {
            expect(missed).toBeGreaterThan(0);
            client.adopt(snapshot());
            missed = 0;
          } else expect(missed).toBe(0);
          if (missed === 0) expect(client.part('s')).toEqual(server.part('s'));
        }
        for (const [model, counts] of Object.entries(history.counts)) expect(ledger.queue(model)).toMatchObject(counts);
      }),
    );
  });
});
