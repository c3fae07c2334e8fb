import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type JournalStore } from './journal-store.js';
import { SessionJournal } from './session-journal.js';
import { type JournalAudio, type SentEvent } from './session-state.js';

type Outcome = 'written' | 'taken' | 'gone';
interface Write {
  readonly first: boolean;
  readonly events: readonly SentEvent[];
  readonly audio: JournalAudio | undefined;
  readonly dropAudio: number;
  readonly dropEvents: number;
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const eventOf = (id: string): SentEvent => ({ id, json: '{}' });
const audioOf = (start: number, bytes = 2): JournalAudio => ({ start, pcm: Buffer.alloc(bytes) });
const turn = () => jest.advanceTimersByTimeAsync(0);

const DROP = { dropEvents: 0, dropAudio: 0 };
const PLAIN = { first: false, events: '', audio: undefined, ...DROP };

/** A journal whose writes the test answers, or which are answered at once. */
function journal({ atOnce = true } = {}) {
  const seen: unknown[][] = [];
  const written: Write[] = [];
  const waiting: PromiseWithResolvers<Outcome>[] = [];
  const state: { keepFrom?: number | undefined } = { keepFrom: 0 };
  const past = { events: [eventOf('past')], audio: [audioOf(0, 4)] };
  const tested = new SessionJournal({
    session: {
      id: 'sess_1',
      get state() {
        const { keepFrom } = state;
        return { input: keepFrom === undefined ? {} : { transcriber: { keepFrom } } } as never;
      },
      past,
      deliver: ({ id }) => seen.push([id]),
      taken: () => seen.push(['taken']),
    },
    store: {
      write: (_: string, write: Write) => {
        written.push(write);
        if (atOnce) return Promise.resolve('written');
        waiting.push(Promise.withResolvers());
        return waiting.at(-1)!.promise;
      },
    } as unknown as JournalStore,
    onLost: reason => seen.push(['lost', reason]),
    onEnd: stale => seen.push(['end', stale]),
  });
  const happened = () => seen.splice(0);
  /** What was written since the last call. */
  const writes = () =>
    written.splice(0).map(({ first, events, audio, dropAudio, dropEvents }) => ({
      first,
      events: events.map(({ id }) => id).join(' '),
      dropAudio,
      dropEvents,
      audio: audio && `${audio.start}+${audio.pcm.length}`,
    }));
  const answer = async (outcome: Outcome | Error) => {
    if (outcome instanceof Error) waiting.shift()!.reject(outcome);
    else waiting.shift()!.resolve(outcome);
    await turn();
  };
  return { journal: tested, state, happened, writes, answer };
}

/** With its first event written. */
async function begun({ atOnce = true } = {}) {
  const all = journal({ atOnce });
  all.journal.event(eventOf('e0'));
  await turn();
  if (!atOnce) await all.answer('written');
  all.happened();
  all.writes();
  return all;
}

describe('the journal of a session', () => {
  it('has an event at once, also while audio waits for its write every 200 ms', async () => {
    const { journal: tested, happened, writes } = await begun();
    tested.audio(audioOf(4));
    tested.audio(audioOf(6));
    await jest.advanceTimersByTimeAsync(199);
    expect(writes()).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(writes()).toEqual([{ ...PLAIN, audio: '4+4' }]);
    tested.audio(audioOf(8));
    tested.event(eventOf('e1'));
    tested.event(eventOf('e2'));
    expect(happened()).toEqual([]);
    await turn();
    expect(happened()).toEqual([['e1'], ['e2']]);
    expect(writes()).toEqual([{ ...PLAIN, events: 'e1 e2', audio: '8+2' }]);
    await jest.advanceTimersByTimeAsync(1000);
    expect(writes()).toEqual([]);
  });

  it('writes what came during a write when that is done: events at once, audio later', async () => {
    const { journal: tested, happened, writes, answer } = journal({ atOnce: false });
    tested.event(eventOf('e0'));
    await turn();
    tested.event(eventOf('e1'));
    tested.audio(audioOf(4));
    await jest.advanceTimersByTimeAsync(500);
    expect([happened(), writes()]).toEqual([
      [],
      [{ first: true, events: 'past e0', audio: '0+4', ...DROP }],
    ]);
    await answer('written');
    expect([happened(), writes()]).toEqual([[['e0']], [{ ...PLAIN, events: 'e1', audio: '4+2' }]]);
    tested.audio(audioOf(6));
    await answer('written');
    await jest.advanceTimersByTimeAsync(199);
    expect(writes()).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(writes()).toEqual([{ ...PLAIN, audio: '6+2' }]);
  });

  it('drops audio that no worker needs any more', async () => {
    const { journal: tested, state, writes } = await begun();
    for (const [start, keepFrom, dropAudio] of [
      [4, undefined, 0],
      [6, 4, 1],
      [8, 5, 0],
      [10, 11, 3],
      [12, 14, 2],
    ] as const) {
      state.keepFrom = keepFrom;
      tested.audio(audioOf(start));
      await jest.advanceTimersByTimeAsync(200);
      expect(writes()).toEqual([{ ...PLAIN, audio: `${start}+2`, dropAudio }]);
    }
  });

  it('continues what another gateway has written', async () => {
    const { journal: tested, state, writes } = journal();
    tested.adopted({
      state: {} as never,
      events: Array.from({ length: 2000 }, (_, at) => eventOf(String(at))),
      audio: [audioOf(0), audioOf(2)],
    });
    state.keepFrom = 2;
    tested.event(eventOf('e1'));
    await turn();
    expect(writes()).toEqual([{ ...PLAIN, events: 'e1', dropAudio: 1, dropEvents: 1 }]);
  });

  it('is settled when all events so far have been sent', async () => {
    const { journal: tested, happened, answer } = journal({ atOnce: false });
    tested.event(eventOf('e0'));
    let isSettled = false;
    const settled = tested.settled().then(() => (isSettled = true));
    await turn();
    tested.event(eventOf('e1'));
    await answer('written');
    expect([happened(), isSettled]).toEqual([[['e0']], false]);
    await answer('written');
    await settled;
    expect(happened()).toEqual([['e1']]);
    await tested.settled();
  });

  it.each([
    ['taken', [['taken']]],
    ['gone', [['e1'], ['e2'], ['lost', 'the journal is gone']]],
    [new Error('no Redis'), [['e1'], ['e2'], ['lost', 'no Redis']]],
  ] as const)('ends when Redis has it no more: %s', async (outcome, actions) => {
    const { journal: tested, happened, writes, answer } = await begun({ atOnce: false });
    tested.event(eventOf('e1'));
    await turn();
    tested.event(eventOf('e2'));
    await answer(outcome);
    expect(happened()).toEqual(actions);
    writes();
    tested.audio(audioOf(4));
    tested.event(eventOf('e3'));
    expect(happened()).toEqual([['e3']]);
    await jest.advanceTimersByTimeAsync(1000);
    expect(writes()).toEqual([]);
    tested.stop(true);
    expect(happened()).toEqual([['end', outcome !== 'taken']]);
  });

  it('is written anew when Redis is back', async () => {
    const { journal: tested, happened, writes, answer } = await begun({ atOnce: false });
    tested.event(eventOf('e1'));
    await turn();
    await answer(new Error('no Redis'));
    writes();
    tested.restart();
    await turn();
    expect(writes()).toEqual([{ first: true, events: 'past', audio: '0+4', ...DROP }]);
    await answer('written');
    happened();
    tested.stop(true);
    expect(happened()).toEqual([['end', false]]);
  });

  it('is given up during a write: its answer changes nothing', async () => {
    const { journal: tested, happened, answer } = await begun({ atOnce: false });
    for (const outcome of ['taken', new Error('late')] as const) {
      tested.restart();
      await turn();
      tested.event(eventOf('e1'));
      tested.suspend();
      expect(happened()).toEqual([['e1']]);
      await answer(outcome);
      expect(happened()).toEqual([]);
    }
  });

  it('leaves out what waits to be written when it stops', async () => {
    const { journal: tested, happened, writes } = await begun();
    tested.audio(audioOf(4));
    tested.event(eventOf('e1'));
    tested.stop(false);
    expect(happened()).toEqual([['e1'], ['end', true]]);
    await jest.advanceTimersByTimeAsync(1000);
    expect(writes()).toEqual([]);
  });

  it.each([
    ['never written', false, false],
    ['kept for another gateway', true, false],
    ['not kept', false, true],
  ])('may have to be deleted at the end: %s', async (name, keep, stale) => {
    const { journal: tested, happened } = name === 'never written' ? journal() : await begun();
    tested.stop(keep);
    expect(happened()).toEqual([['end', stale]]);
  });

  it('that is being written for the first time is deleted', async () => {
    const { journal: tested, happened } = journal({ atOnce: false });
    tested.event(eventOf('e0'));
    await turn();
    tested.stop(false);
    expect(happened()).toEqual([['e0'], ['end', true]]);
  });
});
