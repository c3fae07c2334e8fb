import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type LiveDelta, type LiveSnapshot } from '../../src/contracts/events/live-event.js';
import { LiveView } from '../../src/contracts/events/live-view.js';
import { DomainError } from '../../src/core/errors/domain-error.js';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import { stateChange } from '../../src/gateway/live-feed/live-feed.js';
import { LiveSource } from '../../src/gateway/live-feed/live-source.js';
import { type TrackedRequest } from '../../src/gateway/registry/tracked-request.js';
import { GatewayIdentity } from '../../src/platform/clock/gateway-identity.js';
import { DispatchEventBus } from '../../src/platform/events/events.module.js';
import { aRegistry, LEASE, opened } from '../support/records.js';

const MODELS = ['a', 'b'];
const GONE = {
  status: 'cancelled',
  error: new DomainError('request_cancelled', 'gone'),
} as const;
const STEPS = ['accept', 'lease', 'requeue', 'cancel', 'settle', 'reject', 'tell', 'lose'] as const;
const steps = fc.array(
  fc.record({
    step: fc.constantFrom(...STEPS),
    pick: fc.nat(1000),
    realtime: fc.boolean(),
  }),
  { maxLength: 200, size: 'max' },
);
type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never;

/** What happens in the registry, in an order in which it may happen. */
class History {
  readonly #bus = new DispatchEventBus();
  readonly #registry = aRegistry(this.#bus);
  readonly #live: { record: TrackedRequest; running: boolean }[] = [];
  readonly source = new LiveSource(
    ...([this.#registry, {}, MODELS.map(id => ({ id })), new GatewayIdentity()] as never as [
      ...ConstructorParameters<typeof LiveSource>,
    ]),
  );
  #made = 0;

  constructor() {
    this.#bus.events$.subscribe(event => this.source.apply(event));
  }

  get counts() {
    const count = (model: string, running: boolean, priority?: string) =>
      this.#live.filter(
        each =>
          each.record.model === model &&
          each.running === running &&
          (priority ?? each.record.priority) === each.record.priority,
      ).length;
    return Object.fromEntries(
      MODELS.map(model => [
        model,
        {
          realtime: count(model, false, 'realtime'),
          batch: count(model, false, 'batch'),
          running: count(model, true),
        },
      ]),
    );
  }

  perform({ step, pick, realtime }: Step): void {
    const model = MODELS[pick % MODELS.length]!;
    const priority = realtime ? RequestPriority.REALTIME : RequestPriority.BATCH;
    if (step === 'reject' || step === 'accept') {
      const record = opened(this.#registry, `r${this.#made++}`, { model, priority });
      if (step === 'accept') this.#live.push({ record, running: false });
      else this.#registry.settle(record, GONE);
      return;
    }
    const wanted = step === 'lease' ? false : step === 'requeue' ? true : undefined;
    const able = this.#live.filter(({ running }) => wanted === undefined || running === wanted);
    const chosen = able[pick % (able.length || 1)];
    if (chosen) this.#change(step, chosen);
  }

  #change(step: Step['step'], chosen: { record: TrackedRequest; running: boolean }): void {
    const { record } = chosen;
    if (step === 'cancel')
      this.#registry.emit(record, {
        type: 'cancel_requested',
        stage: 'queued',
        reason: 'client',
      });
    else if (step === 'settle') {
      this.#live.splice(this.#live.indexOf(chosen), 1);
      this.#registry.settle(record, GONE);
    } else {
      chosen.running = step === 'lease';
      if (chosen.running) this.#registry.leased(record, LEASE, false);
      else this.#registry.requeued(record, 'worker_lost');
    }
  }
}

describe('the live feed, under random histories', () => {
  it('counts waiting and running exactly; snapshot plus deltas is the next snapshot; numbers show lost deltas', () => {
    fc.assert(
      fc.property(steps, sequence => {
        const history = new History();
        const { source } = history;
        const [server, client] = [new LiveView('queue'), new LiveView('queue')];
        const snapshot = (): LiveSnapshot => server.part('s')!;
        server.adopt({
          room: 'queue',
          source: 's',
          seq: 0,
          state: source.queues(MODELS),
        });
        client.adopt(snapshot());
        let missed = 0;
        for (const step of sequence) {
          if (step.step !== 'tell' && step.step !== 'lose') {
            history.perform(step);
            continue;
          }
          const change = stateChange(snapshot().state, source.queues(MODELS));
          if (!change) continue;
          const delta: LiveDelta = {
            room: 'queue',
            source: 's',
            seq: snapshot().seq + 1,
            ...change,
          };
          expect(server.apply(delta)).toBe(true);
          if (step.step === 'lose') missed++;
          else if (!client.apply(delta)) {
            expect(missed).toBeGreaterThan(0);
            client.adopt(snapshot());
            missed = 0;
          } else expect(missed).toBe(0);
          if (missed === 0) expect(client.part('s')).toEqual(server.part('s'));
        }
        for (const [model, counts] of Object.entries(history.counts))
          expect(source.queues([model])[model]).toMatchObject(counts);
      }),
    );
  });
});
