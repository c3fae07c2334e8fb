import { describe, expect, it } from '@jest/globals';
import { itemsOf } from '@switchyard/engine-api/generation-plan.js';
import fc from 'fast-check';
import { type ToyRecord } from '../support/generation-harness.js';
import { calm, type Played, play, trace, unhurried } from '../support/generation-traces.js';
import { soloOutput } from '../support/toy-model.js';

/** What a request may come to, by what was done to it. */
function expectedEnd({ fieldsOf, cancelled, hit }: Played, record: ToyRecord) {
  const { request, output, ends } = record;
  const solo = soloOutput(request);
  expect(ends).toHaveLength(1);
  const end = ends[0]!;
  if (end.type === 'finished') {
    expect({ reason: end.reason, output }).toEqual({
      reason: solo.reason,
      output: solo.tokens,
    });
    expect(cancelled.has(request)).toBe(false);
  } else {
    expect(output).toEqual(solo.tokens.slice(0, output.length));
    if (end.type === 'cancelled')
      expect([end.reason, cancelled.has(request)]).toEqual(['consumer_gone', true]);
    else if (end.type === 'deadline')
      expect(record.endedMs).toBeGreaterThanOrEqual(request.deadlineMs!);
    else expect(fieldsOf.get(request)!.fault !== undefined || hit.has(request)).toBe(true);
  }
}

/** Nobody leaves, fails, waits for a consumer or is in a hurry. */
function active(history: Parameters<typeof calm>[0]) {
  const { arrivals, ...rest } = calm(unhurried(history));
  return { ...rest, arrivals: arrivals.map(fields => ({ ...fields, pauseAtStep: null })) };
}
const finished = (request: ToyRecord['request']) => {
  const { tokens, reason } = soloOutput(request);
  return { output: tokens, ends: [{ type: 'finished', reason }] };
};

describe('GenerationScheduler in any history', () => {
  it('keeps the rules of each step; each request ends once with the right reason and the tokens it has alone', () => {
    fc.assert(
      fc.property(trace, history => {
        const played = play(history);
        for (const record of played.harness.records.values()) expectedEnd(played, record);
      }),
      { numRuns: 1500 },
    );
  });

  it('finishes all with their solo output when nobody leaves and nothing fails, whatever is preempted', () => {
    fc.assert(
      fc.property(trace, history => {
        const { harness } = play(calm(history));
        for (const { request, output, ends } of harness.records.values()) {
          expect({ output, ends }).toEqual(finished(request));
        }
      }),
      { numRuns: 600 },
    );
  });

  it('refuses exactly what can never fit', () => {
    fc.assert(
      fc.property(trace, history => {
        const { harness, refused } = play(calm(history));
        const fits = ({ prompt, maxTokens }: ToyRecord['request']) =>
          prompt.length + maxTokens <= 64 && prompt.length + maxTokens - 1 <= history.blocks * 4;
        expect(refused.some(fits)).toBe(false);
        expect([...harness.records.keys()].every(fits)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('fails the poison alone: its neighbours end as they do without it', () => {
    fc.assert(
      fc.property(trace, fc.constantFrom('run' as const, 'process' as const), (history, fault) => {
        const { arrivals, ...rest } = calm(history);
        const [first, ...others] = arrivals;
        // At the last token of its prompt, which is never found in the cache.
        const poison = { ...first!, fault, faultAt: first!.prompt.length - 1 };
        const { harness, fieldsOf } = play({ ...rest, arrivals: [poison, ...others] });
        for (const { request, output, ends } of harness.records.values()) {
          if (fieldsOf.get(request)!.fault === undefined)
            expect({ output, ends }).toEqual(finished(request));
          else
            expect({ output, ends: ends.map(({ type }) => type) }).toEqual({
              output: [],
              ends: ['failed'],
            });
        }
      }),
      { numRuns: 500 },
    );
  });

  it('makes the same plans from the same history', () => {
    fc.assert(
      fc.property(trace, history =>
        expect(play(history).harness.log).toEqual(play(history).harness.log),
      ),
      { numRuns: 200 },
    );
  });

  it('decodes each running sequence whose consumer takes tokens, in every step that is not a retry', () => {
    fc.assert(
      fc.property(trace, history => {
        const decoding = new Set<ToyRecord['request']>();
        play(active(history), (harness, plan) => {
          plan?.leave.forEach(gone => decoding.delete(gone));
          const planned = new Set(plan?.decode.map(({ request }) => request));
          for (const request of decoding) expect(planned.has(request)).toBe(true);
          if (plan)
            for (const { request, sample } of itemsOf(plan))
              if (sample && harness.records.get(request)!.ends.length === 0) decoding.add(request);
          for (const request of decoding)
            if (harness.records.get(request)!.ends.length > 0) decoding.delete(request);
        });
      }),
      { numRuns: 300 },
    );
  });

  it('always moves: no step without items while somebody is here whose consumer takes tokens', () => {
    fc.assert(
      fc.property(trace, history => {
        play(active(history), (harness, plan) => {
          if (harness.alive.length > 0) expect(plan && itemsOf(plan).length).toBeGreaterThan(0);
        });
      }),
      { numRuns: 300 },
    );
  });

  it('leaves nobody in the line while there are a row, memory and tokens', () => {
    fc.assert(
      fc.property(trace, history => {
        play({ ...active(history), blocks: 14 * 12 }, (harness, plan) => {
          const tokens = plan
            ? itemsOf(plan).reduce((sum, item) => sum + item.tokens.length, 0)
            : 0;
          const rows = plan ? itemsOf(plan).length : 0;
          const unstarted = harness.alive.filter(({ firstStep }) => firstStep === undefined).length;
          if (unstarted > 0 && rows < history.maxRows)
            expect(tokens).toBeGreaterThanOrEqual(history.maxRows);
        });
      }),
      { numRuns: 300 },
    );
  });
});
