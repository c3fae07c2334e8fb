import { describe, expect, it } from '@jest/globals';
import { UtteranceTimes } from './utterance-times.js';

const final = (end: number, text = 'hi') =>
  ({ type: 'final', utterance: 0, text, start: 0, end, words: [] }) as const;
const partial = { type: 'partial', utterance: 0, text: 'h' } as const;
const speech = (type: 'speech_started' | 'speech_stopped', at: number) =>
  ({ type, utterance: 0, at }) as const;

/** Audio whose second `s` arrived at `1000 + 1000 * s` ms, and the times that it reports. */
function timed(seconds: readonly number[]) {
  const seen: (readonly [string, number | undefined])[] = [];
  const times = new UtteranceTimes((fact, ms) => seen.push([fact, ms]));
  for (const s of seconds) times.arrived(s, 1000 + 1000 * s);
  return { times, seen };
}

describe('how long text takes', () => {
  it('is measured from where speech began to its first text, and from its end to the final', () => {
    const { times, seen } = timed([1, 2, 3, 4]);
    times.receive(speech('speech_started', 1.5), 3100);
    times.receive(partial, 3400);
    times.receive(partial, 3500);
    times.receive(speech('speech_stopped', 3), 4100);
    times.receive(final(3), 4600);
    expect(seen).toEqual([
      ['first_text', 400],
      ['final_delay', 600],
    ]);
  });

  it('begins anew with each utterance, at the end of the last one', () => {
    const { times, seen } = timed([0.5, 1, 2, 3, 4]);
    times.receive(final(2), 3000);
    times.receive(final(4), 5200);
    times.receive(final(5, ''), 6000);
    expect(seen).toEqual([
      ['first_text', 1500],
      ['first_text', 2200],
    ]);
  });

  it('counts from the first commit of an utterance, once', () => {
    const { times, seen } = timed([1]);
    times.committed(2000);
    times.committed(2500);
    times.receive(final(1, ''), 3000);
    times.receive(final(1, ''), 3500);
    expect(seen).toEqual([['final_delay', 1000]]);
  });

  it('is nothing for audio whose arrival is not known', () => {
    const { times, seen } = timed([]);
    times.receive(partial, 500);
    expect(seen).toEqual([['first_text', 0]]);
  });

  it.each([
    ['knows arrivals 100 ms apart', [0, 0.1, 0.2], 0.05, 1100],
    ['of closer ones the first', [1, 1.05, 1.15], 1.02, 2150],
    ['forgets the oldest of more than 3000', Array.from({ length: 3001 }, (_, at) => at), 0, 2000],
    ['forgets none of 3000', Array.from({ length: 3000 }, (_, at) => at), 0, 1000],
  ])('%s', (_, seconds, at, arrivedMs) => {
    const { times, seen } = timed(seconds);
    times.receive(speech('speech_started', at), 0);
    times.receive(partial, 10_000);
    expect(seen).toEqual([['first_text', 10_000 - arrivedMs]]);
  });
});
