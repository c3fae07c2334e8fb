import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { type JournalStore } from './journal-store.js';
import { SessionJournal } from './session-journal.js';
import { type SentEvent } from './session-state.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it('an event is written at once, also while audio waits for its write every 200 ms', async () => {
  const [delivered, written]: [SentEvent[], { events: unknown[]; audio: unknown }[]] = [[], []];
  const journal = new SessionJournal({
    session: {
      ...{ id: 'sess_1', state: { input: {} } as never, past: { events: [], audio: [] } },
      deliver: event => delivered.push(event),
      taken: () => undefined,
    },
    store: {
      write: (_: string, write: (typeof written)[number]) => {
        written.push(write);
        return Promise.resolve('written');
      },
    } as unknown as JournalStore,
    onLost: () => undefined,
    onEnd: () => undefined,
  });
  const audio = (start: number) => journal.audio({ start, pcm: Buffer.alloc(2) });
  const event = { seq: 1, json: '{}' } as unknown as SentEvent;
  audio(0);
  await jest.advanceTimersByTimeAsync(199);
  expect(written).toHaveLength(0);
  await jest.advanceTimersByTimeAsync(1);
  expect(written).toHaveLength(1);
  audio(2);
  journal.event(event);
  await jest.advanceTimersByTimeAsync(1);
  expect(delivered).toEqual([event]);
  expect(written).toHaveLength(2);
});
