import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { useFakeTimers, useRealTimers } from '../../../../test/support/fake-timers.js';
import { streamedSession as session } from '../../../../test/support/streamed-session.js';
import { DomainError } from '../../../core/errors/domain-error.js';

const AUDIO = { kind: 'audio', pcm: Buffer.of(1, 2) } as const;
const event = { type: 'speech_started', utterance: 0, at: 0 } as const;
const errorOf = (code: 'queue_full' | 'no_worker' | 'worker_lost') => new DomainError(code, code);
const turns = async () => {
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
};

/** With its first stream open. */
async function live() {
  const all = session();
  all.streams.open();
  await turns();
  all.happened();
  return { ...all, stream: all.opened[0]! };
}

beforeEach(() => {
  useFakeTimers();
  jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  useRealTimers();
  jest.restoreAllMocks();
});

describe('the streams of a session', () => {
  it('begin once, and send in order at the pace of the worker', async () => {
    const { streams, due, opened, ids, happened } = session();
    expect([streams.live, streams.model]).toEqual([false, '']);
    await streams.pump();
    streams.open();
    streams.open();
    expect([streams.live, streams.model, ids]).toEqual([true, 'stt', ['sess_1.1']]);
    expect(happened()).toEqual([['opened', 3]]);
    const [stream] = opened;
    const room = Promise.withResolvers<void>();
    stream!.full = room.promise;
    due.push(AUDIO, { kind: 'commit' });
    void streams.pump();
    void streams.pump();
    await turns();
    expect(stream!.got).toEqual(['audio 2']);
    stream!.full = undefined;
    room.resolve();
    await turns();
    due.push(AUDIO);
    await streams.pump();
    expect(stream!.got).toEqual(['audio 2', 'commit', 'audio 2']);
  });

  it('send what was due before there was one', async () => {
    const { streams, due, opened } = session();
    due.push(AUDIO);
    streams.open();
    await turns();
    expect(opened[0]!.got).toEqual(['audio 2']);
  });

  it('hand over what is heard, and that one has ended', async () => {
    const { stream, happened } = await live();
    stream.report(event);
    stream.report();
    await turns();
    expect(happened()).toEqual([['heard', 'speech_started', false], ['closed']]);
  });

  it('report one that dies, once, and are not live then', async () => {
    const { streams, stream, happened } = await live();
    stream.report(errorOf('worker_lost'));
    await turns();
    expect(happened()).toEqual([['lost', errorOf('worker_lost')]]);
    expect(streams.live).toBe(false);
  });

  it('are of a model that the key may use', () => {
    expect(() => session({ models: ['other'] }).streams.open()).toThrow('`stt` does not exist');
    session({ models: ['stt'] }).streams.open();
  });

  it('get new settings after what came before has been heard', async () => {
    const { due, streams, stream, opened, ids, happened } = await live();
    due.push({ kind: 'reopen' }, AUDIO);
    void streams.pump();
    await turns();
    expect(stream.got).toEqual(['close']);
    stream.report(event);
    stream.report();
    await turns();
    expect(happened()).toEqual([['heard', 'speech_started', true], ['closed'], ['opened', 3]]);
    expect(ids.at(-1)).toBe('sess_1.2');
    expect(opened[1]!.got).toEqual(['audio 2']);
    opened[1]!.report(event);
    await turns();
    expect(happened()).toEqual([['heard', 'speech_started', false]]);
  });

  it('report that there is none with the new settings', async () => {
    const { due, streams, stream, state, happened } = await live();
    state.refusal = errorOf('no_worker');
    due.push({ kind: 'reopen' });
    void streams.pump();
    await turns();
    stream.report();
    await turns();
    expect(happened()).toEqual([['closed'], ['lost', errorOf('no_worker')]]);
    expect(streams.live).toBe(false);
  });

  it('leave the replacement of one that dies while it ends to what follows from its death', async () => {
    const { due, streams, stream, opened, happened } = await live();
    due.push({ kind: 'reopen' });
    void streams.pump();
    await turns();
    stream.report(errorOf('worker_lost'));
    await turns();
    expect(happened()).toEqual([['lost', errorOf('worker_lost')]]);
    expect(opened).toHaveLength(1);
  });
});

describe('the first stream', () => {
  it.each([
    ['all slots are taken', 'queue_full', {}],
    ['its workers cannot start', 'no_worker', { loads: false, slotComing: true }],
    ['it is refused for another reason', 'worker_lost', { slotComing: true }],
  ] as const)('is not waited for when %s', (_, code, given) => {
    const { streams, state } = session();
    Object.assign(state, given, { refusal: errorOf(code) });
    expect(() => streams.open()).toThrow(code);
    state.refusal = undefined;
    streams.open();
    expect(streams.live).toBe(true);
  });

  it('is waited for when a slot is being released, and nothing is said about it', async () => {
    const { streams, state, opened, happened } = session();
    Object.assign(state, { slotComing: true, refusal: errorOf('queue_full') });
    streams.open();
    streams.open();
    await turns();
    expect(happened()).toEqual([['rewind']]);
    state.refusal = undefined;
    await jest.advanceTimersByTimeAsync(49);
    expect(opened).toHaveLength(0);
    await jest.advanceTimersByTimeAsync(1);
    await turns();
    expect(opened).toHaveLength(1);
    expect(happened()).toEqual([['opened', 3]]);
  });

  it('is given up when it is not to be expected any more', async () => {
    const { streams, state, happened } = session();
    Object.assign(state, { slotComing: true, refusal: errorOf('queue_full') });
    streams.open();
    await turns();
    state.slotComing = false;
    await jest.advanceTimersByTimeAsync(50);
    await turns();
    expect(happened()).toEqual([['rewind'], ['giveUp', errorOf('queue_full')]]);
  });

  it('of a model that is being loaded is announced once for each model', async () => {
    const { streams, state, happened } = session();
    const awaited = { text: '`stt` is being loaded', inMs: 5000 };
    const warning = { code: 'model_loading', message: '`stt` is being loaded.' };
    Object.assign(state, { awaited, refusal: errorOf('no_worker') });
    streams.open();
    await turns();
    expect(happened()).toEqual([['send', warning], ['rewind']]);
    await jest.advanceTimersByTimeAsync(100);
    await turns();
    expect(happened()).toEqual([]);
    state.model = 'other';
    await jest.advanceTimersByTimeAsync(500);
    await turns();
    expect(happened()).toEqual([['send', warning]]);
  });

  it('passes on what is no answer to the client', () => {
    const { streams, state } = session();
    state.refusal = new Error('defect') as DomainError;
    expect(() => streams.open()).toThrow('defect');
  });
});

describe('another stream', () => {
  it.each([true, false])('begins again where the last one stood; reported: %s', async report => {
    const { streams, happened } = session();
    await streams.reconnect(0, report);
    expect(happened()).toEqual([['rewind'], ['opened', 3], ...(report ? [['recovered']] : [])]);
  });

  it('begins after the pause that was asked for', async () => {
    const { streams, opened } = session();
    void streams.reconnect(300, false);
    streams.open();
    await jest.advanceTimersByTimeAsync(299);
    expect(opened).toHaveLength(0);
    await jest.advanceTimersByTimeAsync(1);
    await turns();
    expect(opened).toHaveLength(1);
  });

  it('is tried ever later, for as long as the session may wait', async () => {
    const { streams, state, happened } = session();
    state.refusal = errorOf('no_worker');
    void streams.reconnect(0, true);
    const triesBy = async (ms: number) => {
      await jest.advanceTimersByTimeAsync(ms);
      await turns();
      return state.tries;
    };
    // At 0, 50, 150, 350 and 750 ms; the next would come at 1550 ms.
    expect(await triesBy(49)).toBe(1);
    expect(await triesBy(1)).toBe(2);
    expect(await triesBy(100)).toBe(3);
    expect(await triesBy(200)).toBe(4);
    expect(happened()).toEqual([['rewind']]);
    expect(await triesBy(400)).toBe(5);
    expect(happened()).toEqual([['giveUp', errorOf('no_worker')]]);
  });

  it.each([
    ['no_worker', { message: 'loading.', retryAfterMs: 7000 }],
    ['queue_full', { message: 'queue_full' }],
  ] as const)(
    'is given up with the time at which its model is expected: %s',
    async (code, told) => {
      const { streams, state, happened } = session();
      Object.assign(state, { refusal: errorOf(code), awaited: { text: 'loading', inMs: 7000 } });
      void streams.reconnect(0, true, () => false);
      await turns();
      expect(happened().at(-1)).toMatchObject(['giveUp', { code, ...told }]);
    },
  );

  it('is not tried any more after the end', async () => {
    const { streams, state, opened, happened } = session();
    state.refusal = errorOf('no_worker');
    void streams.reconnect(0, true);
    await turns();
    await streams.cancel();
    state.refusal = undefined;
    await jest.advanceTimersByTimeAsync(1000);
    await turns();
    expect(opened).toHaveLength(0);
    expect(happened()).toEqual([['rewind']]);
  });
});

describe('the end of the streams', () => {
  it('finishes the last utterance, and frees the slot', async () => {
    const { streams, stream, happened } = await live();
    let isFlushed = false;
    const flushed = streams.flush(500).then(() => (isFlushed = true));
    await turns();
    expect(stream.got).toEqual(['close']);
    expect(isFlushed).toBe(false);
    stream.report(event);
    stream.report();
    await flushed;
    expect(happened()).toEqual([['heard', 'speech_started', true], ['closed']]);
    expect(stream.got).toEqual(['close', 'cancel']);
    expect(streams.live).toBe(false);
    expect(jest.getTimerCount()).toBe(0);
    await streams.released;
  });

  it('waits no longer than it may', async () => {
    const { streams, stream } = await live();
    const flushed = streams.flush(500);
    await jest.advanceTimersByTimeAsync(499);
    await turns();
    expect(stream.got).toEqual(['close']);
    await jest.advanceTimersByTimeAsync(1);
    await flushed;
    expect(stream.got).toEqual(['close', 'cancel']);
  });

  it('is not waited for when the session ends at once', async () => {
    const { streams } = await live();
    const flushed = streams.flush(500);
    await streams.cancel();
    await flushed;
  });

  it('waits for nothing where there is no stream, and for one that is expected', async () => {
    const { streams, state, opened } = session();
    await streams.flush(500);
    const waiting = session();
    waiting.state.refusal = errorOf('no_worker');
    void waiting.streams.reconnect(0, false);
    await turns();
    const flushed = waiting.streams.flush(500);
    waiting.state.refusal = undefined;
    await jest.advanceTimersByTimeAsync(50);
    await turns();
    waiting.opened[0]!.report();
    await flushed;
    expect(waiting.opened[0]!.got).toEqual(['close', 'cancel']);
    expect([state.model, opened]).toEqual(['stt', []]);
  });

  it('is asked of the stream that replaces one that died meanwhile', async () => {
    const { streams, stream, opened } = await live();
    const flushed = streams.flush(500);
    await turns();
    stream.report(errorOf('worker_lost'));
    await turns();
    void streams.reconnect(0, true);
    await turns();
    expect(opened[1]!.got).toEqual(['close']);
    opened[1]!.report();
    await flushed;
  });

  it('without waiting ends what is open, once', async () => {
    const { streams, stream, happened } = await live();
    await streams.cancel();
    await streams.cancel();
    expect(stream.got).toEqual(['cancel']);
    stream.report(errorOf('worker_lost'));
    await turns();
    expect(happened()).toEqual([]);
  });
});
