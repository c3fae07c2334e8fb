import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { keepsPace } from '../../src/core/latency/live-sessions.js';
import { FadingMean } from '../../src/core/latency/means.js';
import { seededRandom } from '../bench/support/seeded-random.js';

const LENGTH_MS = 600_000;
const PAUSE_MS = 600;
/** A session asks for admission each so many milliseconds. */
const ASKS_MS = 10_000;
const ASKING = 12;

interface Utterance {
  readonly session: number;
  readonly endMs: number;
  readonly deviceMs: number;
  readonly seconds: number;
}

/** A recogniser: one call takes so long, and so much more for each second of speech. */
interface Recogniser {
  readonly callMs: number;
  readonly msPerS: number;
  readonly devices: number;
}

/** What somebody says who speaks from then on, in utterances of 1 to 8 s. */
function spokenFrom(startMs: number, session: number, recogniser: Recogniser): Utterance[] {
  const random = seededRandom(session + 1);
  const said: Utterance[] = [];
  for (let endMs = startMs; endMs < LENGTH_MS; endMs += PAUSE_MS) {
    const seconds = 1 + 7 * random();
    endMs += seconds * 1000;
    const deviceMs = recogniser.callMs + seconds * recogniser.msPerS;
    said.push({ session, endMs, deviceMs, seconds });
  }
  return said;
}

/** Sessions come one after the other. @returns of each that was taken, how late its texts were */
function lagsOf(recogniser: Recogniser): number[][] {
  const pace = new FadingMean();
  const freeAtMs = Array.from({ length: recogniser.devices }, () => 0);
  const ahead: Utterance[] = [];
  const texts: { readonly session: number; readonly atMs: number }[] = [];
  const lags: number[][] = [];
  const work = (untilMs: number): void => {
    for (let next = ahead[0]; next && next.endMs <= untilMs; next = ahead[0]) {
      ahead.shift();
      const device = freeAtMs.indexOf(Math.min(...freeAtMs));
      const atMs = Math.max(freeAtMs[device]!, next.endMs) + next.deviceMs;
      freeAtMs[device] = atMs;
      pace.add(next.deviceMs / next.seconds, next.seconds);
      texts.push({ session: next.session, atMs });
      lags[next.session]!.push(atMs - next.endMs);
    }
  };
  for (let asked = 0; asked < ASKING; asked++) {
    const nowMs = asked * ASKS_MS;
    work(nowMs);
    const sessions = lags.map((_, session) => ({
      speaking: 1,
      waiting: texts.filter(one => one.session === session && one.atMs > nowMs).length,
    }));
    const msPerS = pace.value ?? recogniser.msPerS;
    if (!keepsPace(sessions, msPerS, recogniser.devices)) continue;
    ahead.push(...spokenFrom(nowMs, lags.push([]) - 1, recogniser));
    ahead.sort((a, b) => a.endMs - b.endMs);
  }
  work(Infinity);
  return lags;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const recogniser = fc.record({
  callMs: fc.integer({ min: 0, max: 1500 }),
  msPerS: fc.integer({ min: 10, max: 400 }),
  devices: fc.integer({ min: 1, max: 2 }),
});

it('live sessions that were admitted keep up: their texts are no later at the end than before', () => {
  let beside = 0;
  fc.assert(
    fc.property(recogniser, made => {
      const lags = lagsOf(made);
      if (lags.length === 1) return;
      beside += 1;
      const longestMs = made.callMs + 8 * made.msPerS;
      for (const lag of lags) {
        const half = Math.floor(lag.length / 2);
        expect(mean(lag.slice(half))).toBeLessThan(mean(lag.slice(0, half)) + longestMs);
        expect(Math.max(...lag)).toBeLessThan((lags.length + 1) * longestMs);
      }
    }),
  );
  expect(beside).toBeGreaterThan(10);
});
