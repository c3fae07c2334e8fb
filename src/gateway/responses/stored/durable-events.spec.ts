import { beforeEach, describe, expect, it } from '@jest/globals';
import { type ResponseEvent } from '../../../contracts/openai/responses.js';
import { type ResponseAppend, type ResponseRun } from '../../../core/request/response-record.js';
import { DurableEvents } from './durable-events.js';
import { type ResponseEventLog } from './response-event-log.js';

const event = (at: number): ResponseEvent =>
  ({ type: 'response.output_text.delta', delta: String(at) }) as unknown as ResponseEvent;
const BYTES = JSON.stringify(event(1)).length;
const ENDING = { status: 'completed' } as unknown as NonNullable<ResponseAppend['ending']>;

describe('events on their way to the database', () => {
  let appends: (Omit<ResponseAppend, 'run'> & { soon: boolean })[];
  let answers: ((held: boolean | Error) => void)[];
  let events: DurableEvents;

  beforeEach(() => {
    [appends, answers] = [[], []];
    const append = ({ run: _, ...append }: ResponseAppend, soon: boolean) => {
      appends.push({ ...append, soon });
      return new Promise((resolve, reject) => {
        answers.push(held => (held instanceof Error ? reject(held) : resolve(held)));
      });
    };
    const log = { append } as unknown as ResponseEventLog;
    events = new DurableEvents(log, {} as ResponseRun, 5, 2 * BYTES + 1);
  });

  /** Whether it has resolved after all that can happen now. */
  async function isDone(work: Promise<unknown>): Promise<boolean> {
    let done = false;
    void work.then(
      () => (done = true),
      () => undefined,
    );
    await new Promise(setImmediate);
    return done;
  }
  async function answer(held: boolean | Error = true): Promise<void> {
    answers.shift()!(held);
    await new Promise(setImmediate);
  }
  const texts = (...numbers: number[]) => numbers.map(at => JSON.stringify(event(at)));

  it('are collected while others are written, and numbered without a gap', async () => {
    await events.add([event(1)]);
    await events.add([]);
    await events.add([event(2)]);
    expect(appends).toEqual([{ first: 5, events: texts(1), soon: false }]);
    await answer();
    expect(appends[1]).toEqual({ first: 6, events: texts(2), soon: false });
    await answer();
    await events.add([event(3)]);
    expect(appends[2]).toEqual({ first: 7, events: texts(3), soon: false });
  });

  it('are not written where there are none', async () => {
    await events.add([]);
    await events.end([]);
    expect(appends).toEqual([]);
  });

  it('wait for room from the bytes that may be collected, which are written soon', async () => {
    await events.add([event(1), event(2)]);
    expect(appends[0]).toMatchObject({ soon: false });
    expect(await isDone(events.add([event(2), event(3)]))).toBe(true);
    await answer();
    const full = events.add([event(4), event(10)]);
    expect(await isDone(full)).toBe(false);
    await answer();
    expect(appends[2]).toEqual({ first: 9, events: texts(4, 10), soon: true });
    await answer();
    expect(await isDone(full)).toBe(true);
  });

  it('are stored with the tokens of the answer, which come with the last', async () => {
    await events.add([event(1), event(2)], [7]);
    expect(appends[0]!.events).toEqual([
      ...texts(1),
      JSON.stringify({ ...event(2), token_ids: [7] }),
    ]);
  });

  it('end when all are durable, with the ending', async () => {
    await events.add([event(1)]);
    const ended = events.end([event(2)], ENDING);
    expect([await isDone(ended), appends.length]).toEqual([false, 1]);
    await answer();
    expect(appends[1]).toEqual({ first: 6, events: texts(2), soon: false, ending: ENDING });
    expect(await isDone(ended)).toBe(false);
    await answer();
    expect(await isDone(ended)).toBe(true);
  });

  it('are refused once another run has the response, and nothing more is written', async () => {
    await events.add([event(1)]);
    await events.add([event(2)]);
    await answer(false);
    const code = 'duplicate_request_id';
    await expect(events.add([])).rejects.toMatchObject({ code });
    await expect(events.end([event(3)])).rejects.toMatchObject({ code });
    expect(appends).toHaveLength(1);
  });

  it('are refused at their end, too', async () => {
    const ended = events.end([event(1)], ENDING);
    await new Promise(setImmediate);
    answers.shift()!(false);
    await expect(ended).rejects.toMatchObject({ code: 'duplicate_request_id' });
  });

  it('fail with what the database throws, also one that waits for room', async () => {
    await events.add([event(1)]);
    const full = events.add([event(2), event(10)]);
    answers.shift()!(new Error('away'));
    await expect(full).rejects.toThrow('away');
  });
});
