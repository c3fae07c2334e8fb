import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ContinuousGenerator } from '../../src/worker/generation/continuous-generator.js';
import { answerOf, askItem, says } from '../support/answers.js';
import { GenerationHarness, YARD_DEFAULTS } from '../support/generation-harness.js';
import { type SimulatedOptions, SimulatedTextBackend } from '../support/simulated-text-backend.js';
import { type ToyRequest } from '../support/toy-model.js';

const request = (fields: Partial<ToyRequest>): ToyRequest => ({
  priorityClass: 0,
  arrivalMs: 0,
  tenant: 'a',
  salt: 'a',
  prompt: [1],
  maxTokens: 8,
  seed: 1,
  ...fields,
});

/** A beginning that nobody shares: what is found in the cache is not charged. */
const own = (length: number, seed: number) =>
  Array.from({ length }, (_, index) => 1000 * (index + 1) + seed);

/** Weighted tokens that a tenant was given. */
const given = (harness: GenerationHarness, tenant: string) =>
  [...harness.records.values()]
    .filter(record => record.request.tenant === tenant && record.firstStep !== undefined)
    .reduce(
      (sum, { request: { prompt }, output }) =>
        sum + prompt.length + YARD_DEFAULTS.outputWeight * output.length,
      0,
    );

describe('GenerationScheduler shares the device', () => {
  const lengths = fc.record({
    prompt: fc.integer({ min: 1, max: 20 }),
    maxTokens: fc.integer({ min: 1, max: 20 }),
  });

  it('between two tenants who always have work by their weights, within a bounded gap, whatever comes', () => {
    const weight = fc.constantFrom(1, 1, 2, 5);
    const tenant = fc.record({ lengths, tenantWeight: weight });
    fc.assert(
      fc.property(
        tenant,
        tenant,
        fc.integer({ min: 1, max: 4 }),
        fc.nat(20),
        (one, other, maxRows, headStart) => {
          const harness = new GenerationHarness({ maxRows, blocks: 200 });
          const keep = (
            tenant: string,
            { lengths: { prompt, maxTokens }, tenantWeight }: typeof one,
            depth: number,
          ) => {
            const present = harness.alive.filter(record => record.request.tenant === tenant).length;
            for (let missing = depth - present; missing > 0; missing--)
              harness.submit(
                request({
                  tenant,
                  tenantWeight,
                  salt: tenant,
                  prompt: own(prompt, harness.records.size),
                  maxTokens,
                  arrivalMs: harness.nowMs,
                  seed: harness.records.size,
                }),
              );
          };
          for (let step = 0; step < headStart; step++) {
            keep('a', one, 20);
            harness.step();
          }
          keep('b', other, 10);
          const gap = () =>
            given(harness, 'a') / one.tenantWeight - given(harness, 'b') / other.tenantWeight;
          const before = gap();
          const most = ({ lengths: { prompt, maxTokens }, tenantWeight }: typeof one) =>
            (prompt + YARD_DEFAULTS.outputWeight * maxTokens) / tenantWeight;
          const bound = 2 * (maxRows + 1) * Math.max(most(one), most(other));
          for (let step = 0; step < 150; step++) {
            keep('a', one, 20);
            keep('b', other, 10);
            harness.step();
            expect(Math.abs(gap() - before)).toBeLessThanOrEqual(bound);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('so that a tenant with one request waits for running ones, not for the backlog of another', () => {
    const harness = new GenerationHarness({ maxRows: 2, blocks: 200 });
    for (let index = 0; index < 50; index++) harness.submit(request({ seed: index }));
    for (let step = 0; step < 20; step++) harness.step();
    const late = request({ tenant: 'late', salt: 'late', arrivalMs: harness.nowMs });
    harness.submit(late);
    const started = () =>
      [...harness.records.values()].filter(({ firstStep }) => firstStep !== undefined).length;
    const before = started();
    while (harness.records.get(late)!.firstStep === undefined) harness.step();
    expect(started() - before).toBeLessThanOrEqual(2);
    harness.drain();
  });

  it('between classes by wait: a lower one starts within its width and four turns in any stream of higher ones', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 2 }),
        lengths,
        (maxRows, priorityClass, other) => {
          const harness = new GenerationHarness({ maxRows, blocks: 200 });
          const low = request({ tenant: 'low', salt: 'low', priorityClass });
          harness.submit(low);
          const limitMs =
            YARD_DEFAULTS.classWidthMs * priorityClass + 5 * (other.prompt + other.maxTokens) * 16;
          while (harness.records.get(low)!.firstStep === undefined) {
            for (let here = harness.alive.length; here < 8; here++)
              harness.submit(
                request({
                  prompt: Array(other.prompt).fill(2),
                  maxTokens: other.maxTokens,
                  arrivalMs: harness.nowMs,
                  seed: harness.records.size,
                }),
              );
            harness.step();
            expect(harness.nowMs).toBeLessThanOrEqual(limitMs);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('between REALTIME and an aged backlog by turns: exactly three rows to REALTIME, one to the backlog', () => {
    const history = fc.record({
      maxRows: fc.integer({ min: 1, max: 3 }),
      backlog: fc.integer({ min: 20, max: 60 }),
      came: fc.boolean(),
      maxTokens: fc.integer({ min: 1, max: 12 }),
    });
    fc.assert(
      fc.property(history, ({ maxRows, backlog, came, maxTokens }) => {
        const harness = new GenerationHarness({ maxRows, blocks: 200 });
        const old = {
          priorityClass: 1,
          tenant: 'old',
          salt: 'old',
          maxTokens,
          ...(came && { agingShare: 0.25 }),
        };
        const arrivalMs = came ? 0 : -YARD_DEFAULTS.classWidthMs;
        for (let index = 0; index < backlog; index++)
          harness.submit(request({ ...old, arrivalMs, prompt: own(3, index), seed: index }));
        for (let step = 0; step < 5; step++) harness.step();
        const started = () =>
          [...harness.records.values()].filter(({ firstStep }) => firstStep !== undefined).length;
        const before = started();
        const live = Array.from({ length: 9 }, (_, index) =>
          request({
            tenant: 'live',
            salt: 'live',
            prompt: own(3, 100 + index),
            maxTokens,
            arrivalMs: harness.nowMs,
            seed: index,
          }),
        );
        live.forEach(one => harness.submit(one));
        while (live.some(one => harness.records.get(one)!.firstStep === undefined)) harness.step();
        // 9 REALTIME turns end before the third aged one; what is let in with the last of
        // them is no rival any more.
        expect(started() - before - live.length).toBeLessThanOrEqual(2 + maxRows);
        harness.drain();
      }),
      { numRuns: 60 },
    );
  });

  it('with one that needs much memory: at most 3 that fit go before it, then it starts', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 25, max: 40 }),
        fc.integer({ min: 1, max: 10 }),
        (prompt, maxTokens) => {
          const harness = new GenerationHarness({ maxRows: 4, blocks: 12 });
          const small = (): ToyRequest =>
            request({
              prompt: [1, 2, 3],
              maxTokens,
              arrivalMs: harness.nowMs,
              seed: harness.records.size,
              tenant: 'small',
              salt: 'small',
            });
          for (let index = 0; index < 3; index++) harness.submit(small());
          harness.step();
          const big = request({
            prompt: Array(prompt).fill(1),
            maxTokens: 2,
            arrivalMs: harness.nowMs - 1,
            tenant: 'big',
            salt: 'big',
          });
          harness.submit(big);
          const before = new Set(harness.records.keys());
          for (let step = 0; harness.records.get(big)!.firstStep === undefined; step++) {
            harness.submit(small());
            harness.step();
            expect(step).toBeLessThan(200);
          }
          const overtook = [...harness.records.values()].filter(
            ({ request: one, firstStep }) =>
              !before.has(one) && firstStep! < harness.records.get(big)!.firstStep!,
          );
          expect(overtook.length).toBeLessThanOrEqual(YARD_DEFAULTS.maxOvertakes);
        },
      ),
      { numRuns: 100 },
    );
  });
});

const engines: ContinuousGenerator[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
});

async function started(options: SimulatedOptions): Promise<ContinuousGenerator> {
  const backend = new SimulatedTextBackend(options);
  const engine = new ContinuousGenerator({ backend, engine: 'simulated' });
  engines.push(engine);
  await engine.load();
  return engine;
}

describe('the answers of a ContinuousGenerator', () => {
  it('of many choices let who came meanwhile go before those that do not run yet', async () => {
    const engine = await started({ rows: 4 });
    const many = engine.generate(askItem(says('eight...', { n: 60, stream: true })));
    let [neighbour, isServed, endedBefore, ended]: [
      Promise<void> | undefined,
      boolean,
      number,
      number,
    ] = [undefined, false, 0, 0];
    for await (const event of many) {
      if (event.type === 'done') break;
      neighbour ??= answerOf(engine.generate(askItem(says('hi')))).then(
        () => void (isServed = true),
      );
      if (!event.json.includes('"finish_reason":"stop"')) continue;
      ended += 1;
      if (!isServed) endedBefore = ended;
    }
    await neighbour;
    expect(ended).toBe(60);
    // Those that ran, those that waited in the line, and those that ended beside it.
    expect(endedBefore).toBeLessThan(20);
  });
});

describe('a ContinuousGenerator', () => {
  it('are begun for tenants by their weights', async () => {
    let open = (): void => undefined;
    const gate = new Promise<void>(resolve => (open = resolve));
    const engine = await started({ rows: 1, beforeStep: () => gate });
    const ended: string[] = [];
    const asked = Array.from({ length: 12 }, async (_, i) => {
      const changes = i % 2 === 0 ? { tenant: 'weighty', tenantWeight: 3 } : { tenant: 'plain' };
      await answerOf(engine.generate(askItem(says('abcd'), changes)));
      ended.push(changes.tenant);
    });
    while (engine.activity!.waiting < 11) await new Promise(setImmediate);
    open();
    await Promise.all(asked);
    expect(ended.slice(0, 8).filter(tenant => tenant === 'weighty')).toHaveLength(6);
  });
});
