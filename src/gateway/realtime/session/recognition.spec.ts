import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { defaultSession, type SessionConfig } from '../../../contracts/realtime/session-config.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type AdoptedSession } from '../journal/session-state.js';
import { Recognition } from './recognition.js';
import { type SessionActions } from './session-actions.js';
import { type SessionServices } from './session-services.js';

const services = {
  settings: { realtime: { maxAheadMs: 1000 } },
  written: (spoken: string) => spoken,
} as unknown as SessionServices;
/** Of PCM at 8 kHz. */
const bytesOf = (ms: number): Buffer => Buffer.alloc(16 * ms);
const MANUAL = { turnDetection: null };
const final = (utterance: number, text: string, end = 0.1, start = 0) =>
  ({ type: 'final', utterance, text, start, end, words: [] }) as const;
const partial = (text: string) => ({ type: 'partial', utterance: 0, text }) as const;
const speech = (type: 'speech_started' | 'speech_stopped', at = 0) =>
  ({ type, utterance: 0, at }) as const;
const died = new DomainError('worker_lost', 'gone');
const failed = new DomainError('engine_failed', 'cannot');

/** Recognition of PCM at 8 kHz; `done` returns what it asked of its session meanwhile. */
function recognised(wanted: Partial<SessionConfig> = {}, adopted?: Partial<AdoptedSession>) {
  const seen: unknown[][] = [];
  const response = { cancel: (reason: string) => seen.push(['cancel', reason]) };
  const actions = new Proxy<Record<string, unknown>>(
    { response },
    {
      get: (own, name: string) =>
        own[name] ??
        ((...given: unknown[]) => {
          if (name !== 'send') return seen.push([name, ...given]);
          const { type, warning, start } = given[0] as {
            readonly type: string;
            readonly start?: number;
            readonly warning?: { readonly code: string };
          };
          const known = warning?.code ?? type.split('.').at(-1);
          return seen.push(start === undefined ? [known] : [known, start]);
        }),
    },
  );
  const config = { ...defaultSession('m'), format: { encoding: 'pcm16', sampleRate: 8000 } };
  const recognition = new Recognition(
    { ...config, ...wanted } as SessionConfig,
    services,
    actions as unknown as SessionActions,
    adopted as AdoptedSession | undefined,
  );
  const done = (act: () => void): unknown[][] => {
    seen.length = 0;
    act();
    return [...seen];
  };
  const taken = (): string[] => {
    const kinds: string[] = [];
    for (let next = recognition.next(); next; next = recognition.next())
      kinds.push(next.kind === 'audio' ? `${next.start}+${next.pcm.length}` : next.kind);
    return kinds;
  };
  return { recognition, done, taken };
}
/** With 100 ms of audio that a stream has got. */
function begun(wanted: Partial<SessionConfig> = MANUAL) {
  const session = recognised(wanted);
  session.recognition.audio(bytesOf(100), 0);
  session.recognition.opened(3);
  session.taken();
  return session;
}
const names = (actions: unknown[][]) => actions.map(([name]) => name);

afterEach(() => void jest.restoreAllMocks());

describe('audio of a live session', () => {
  it('opens a stream once, with the first byte of it', () => {
    const { recognition, done } = recognised();
    expect(recognition.begun).toBe(false);
    expect(recognition.state).toEqual({ uncommittedBytes: 0 });
    expect(done(() => recognition.audio(Buffer.alloc(0), 0))).toEqual([]);
    expect(done(() => recognition.audio(Buffer.of(1), 0))).toEqual([['open']]);
    expect(recognition.begun).toBe(true);
    expect(recognition.receivedMs).toBe(1 / 16);
    expect(done(() => recognition.audio(Buffer.of(2, 3), 0))).toEqual([
      ['audio', { kind: 'audio', start: 0, pcm: Buffer.of(1, 2) }],
    ]);
    expect(done(() => recognition.audio(Buffer.of(4), 0))).toEqual([
      ['audio', { kind: 'audio', start: 2, pcm: Buffer.of(3, 4) }],
    ]);
    expect(recognition.receivedMs).toBe(4 / 16);
    expect(recognition.storedAudio).toHaveLength(2);
    expect(recognition.state).toEqual({
      uncommittedBytes: 4,
      transcriber: { position: 4, keepFrom: 0, commits: [], finals: 0 },
    });
  });

  it('of a telephone is decoded', () => {
    const { recognition, done } = recognised({
      format: { encoding: 'g711_ulaw', sampleRate: 8000 },
    });
    expect(done(() => recognition.audio(Buffer.of(0x80, 0xff), 0))[1]).toMatchObject([
      'audio',
      { pcm: Buffer.of(0x7c, 0x7d, 0, 0) },
    ]);
    expect(recognition.receivedMs).toBe(0.25);
  });

  it('is restored as another gateway left it', () => {
    const items = { next: 2, finals: 2, segments: 2, lastItemId: null, open: [] };
    const input = {
      uncommittedBytes: 6,
      transcriber: { position: 8, keepFrom: 2, commits: [4], finals: 2 },
    };
    const { recognition, taken } = recognised(MANUAL, {
      state: { items, input } as unknown as AdoptedSession['state'],
      audio: [{ start: 2, pcm: Buffer.alloc(6) }],
    });
    expect(recognition.state).toEqual(input);
    expect(taken()).toEqual(['2+2', 'commit', '4+4']);
    const silent = recognised(MANUAL, {
      state: { items, input: { uncommittedBytes: 0 } } as unknown as AdoptedSession['state'],
      audio: [],
    });
    expect(silent.recognition.begun).toBe(false);
  });

  it.each([
    ['a lead of 1 s', 1000, []],
    ['a lead of more', 1001, [['slowDown', 1], ['input_too_fast']]],
    ['a lead of 2 s', 2000, [['slowDown', 1000], ['input_too_fast']]],
  ])('%s is slowed by what exceeds it', (_, ms, actions) => {
    const { recognition, done } = begun();
    expect(done(() => recognition.audio(bytesOf(ms), 100))[1]).toEqual(actions[0]);
  });

  it('too far ahead is warned about once, and ends the session at twice the bound', () => {
    const { recognition, done } = begun();
    expect(names(done(() => recognition.audio(bytesOf(1100), 0)))).toEqual([
      'audio',
      'slowDown',
      'input_too_fast',
    ]);
    expect(names(done(() => recognition.audio(bytesOf(100), 0)))).toEqual(['audio', 'slowDown']);
    expect(done(() => recognition.audio(bytesOf(800), 0))[1]).toMatchObject([
      'fail',
      { code: 'input_too_fast' },
      1008,
    ]);
  });

  it('in real time ends the session when the recogniser takes none of it', () => {
    const { recognition, done } = recognised();
    let actions: unknown[][] = [];
    let nowMs = 0;
    for (; names(actions).at(-1) !== 'fail' && nowMs < 10_000; nowMs += 100)
      actions = done(() => recognition.audio(bytesOf(100), nowMs));
    expect(actions.at(-1)).toMatchObject([
      'fail',
      { code: 'queue_full', retryAfterMs: 1000 },
      1013,
    ]);
    const { recognition: heard, done: kept, taken } = recognised();
    for (nowMs = 0; nowMs < 10_000; nowMs += 100) {
      actions = kept(() => heard.audio(bytesOf(100), nowMs));
      taken();
    }
    expect(names(actions)).toEqual(['audio']);
  });
});

describe('commits of a client', () => {
  it('need audio since the last one', () => {
    const { recognition, done, taken } = begun();
    expect(done(() => recognition.commit(100))).toEqual([['committed'], ['added'], ['done']]);
    expect(recognition.state.uncommittedBytes).toBe(0);
    expect(taken()).toEqual(['commit']);
    expect(() => recognition.commit(100)).toThrow('There is no audio since the last commit.');
    recognition.audio(Buffer.of(1), 100);
    recognition.commit(200);
    expect(() => recognition.commit(200)).toThrow('There is no audio since the last commit.');
  });

  it('are announced with voice activity only while somebody speaks', () => {
    const { recognition, done } = begun({});
    expect(done(() => recognition.commit(100))).toEqual([]);
    recognition.audio(bytesOf(100), 100);
    recognition.heard(speech('speech_started'), false, 200);
    expect(names(done(() => recognition.commit(200)))).toContain('committed');
  });

  it.each([
    ['within 50 ms of its end', 0.06, ['960+640']],
    ['later', 0.04, ['640+960', 'commit']],
  ])('%s are answered by a final', (_, end, again) => {
    const { recognition, taken } = begun();
    recognition.commit(100);
    taken();
    recognition.heard(final(0, 'hi', end), false, 200);
    recognition.rewind();
    expect(taken()).toEqual(again);
  });

  it('start the time that the final takes', () => {
    const { recognition, done } = begun();
    recognition.commit(100);
    expect(done(() => recognition.heard(final(0, ''), false, 350))).toContainEqual([
      'count',
      'final_delay',
      250,
    ]);
  });

  it.each([
    ['of turns of the client', MANUAL, Buffer.of(1), true],
    ['without audio', MANUAL, Buffer.alloc(0), false],
    ['in silence, with voice activity', {}, Buffer.of(1), false],
  ])('are made, and their answer dropped, to clear the utterance: %s', (_, turns, frame, has) => {
    const format = { encoding: 'g711_ulaw', sampleRate: 8000 } as const;
    const { recognition, done, taken } = recognised({ ...turns, format });
    recognition.audio(frame, 0);
    recognition.opened(3);
    expect(done(() => recognition.clear())).toEqual([['cleared']]);
    expect(taken().includes('commit')).toBe(has);
    expect(() => recognition.commit(0)).toThrow();
    const heard = names(done(() => recognition.heard(final(0, 'never mind'), false, 0)));
    expect(heard.includes('completed')).toBe(!has);
  });
});

describe('results of a recogniser', () => {
  it('are counted, timed and sent', () => {
    const { recognition, done } = begun({});
    expect(done(() => recognition.heard(speech('speech_started'), false, 150))).toEqual([
      ['count', 'speech_started'],
      ['speech_started'],
      ['cancel', 'turn_detected'],
    ]);
    expect(names(done(() => recognition.heard(speech('speech_stopped', 0.1), false, 150)))).toEqual(
      ['count', 'speech_stopped', 'committed', 'added', 'done'],
    );
    const actions = done(() => recognition.heard(final(0, 'hi', 0.75, 0.25), false, 400));
    expect(actions.at(-1)).toEqual(['recognised', 0.5]);
    expect(actions.slice(0, 2)).toEqual([
      ['count', 'first_text', 400],
      ['count', 'final_delay', 400],
    ]);
  });

  it('interrupt a spoken response only where the session wants it', () => {
    const { turnDetection } = defaultSession('m');
    const kept = begun({ turnDetection: { ...turnDetection!, interruptResponse: false } });
    const started = () => kept.recognition.heard(speech('speech_started'), false, 150);
    expect(names(kept.done(started))).toEqual(['count', 'speech_started']);
  });

  it('of the next stream continue the numbers and the time of the session', () => {
    const { recognition, done, taken } = begun();
    recognition.heard(final(0, 'one'), false, 100);
    recognition.audio(bytesOf(200), 200);
    recognition.opened(2);
    taken();
    expect(names(done(() => recognition.heard(partial('two words'), false, 300)))).toEqual([
      'count',
    ]);
    expect(names(done(() => recognition.heard(partial('two words'), false, 300)))).toEqual([
      'delta',
    ]);
    const actions = done(() => recognition.heard(final(0, 'two words', 0.1), false, 300));
    expect(actions).toContainEqual(['segment', 0.1]);
    expect(actions.at(-1)![0]).toBe('recognised');
    expect(actions.at(-1)![1]).toBeCloseTo(0.1);
    expect(recognition.state.transcriber).toMatchObject({ finals: 2, keepFrom: 3200 });
  });

  it('after its end are dropped, and its audio is not said again', () => {
    const { recognition, done } = begun();
    recognition.closed();
    expect(recognition.state.transcriber?.keepFrom).toBe(0);
    expect(done(() => recognition.heard(final(0, ''), true, 100))).toEqual([]);
    recognition.closed();
    expect(recognition.state.transcriber?.keepFrom).toBe(1600);
  });

  it('are of the settings that the next stream gets', () => {
    const { recognition, taken } = recognised();
    recognition.reopen();
    expect(taken()).toEqual([]);
    recognition.audio(bytesOf(100), 0);
    recognition.reopen();
    recognition.end();
    expect(taken()).toEqual(['0+1600', 'reopen', 'end']);
    recognition.configure({ ...recognition.config, language: 'de' });
    expect(recognition.config.language).toBe('de');
  });
});

describe('a stream that ends', () => {
  it('is retried ever later when the worker refuses it, nine times', () => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    const { recognition, done } = begun();
    const full = new DomainError('queue_full', 'full');
    const refused = () => done(() => recognition.lost(full));
    expect(refused()).toEqual([['reconnect', 50, false]]);
    recognition.heard(speech('speech_started'), false, 0);
    for (const afterMs of [50, 100, 200, 400, 800, 1000, 1000, 1000, 1000])
      expect(refused()).toEqual([['reconnect', afterMs, false]]);
    expect(refused()).toContainEqual(['fail', full, 1013]);
  });

  it.each([
    ['died', died, ['reconnect', 0, true], 1013],
    ['failed on its audio', failed, ['reconnect', 0, false], 1011],
  ])('is replaced three times without a completed segment: it %s', (_, error, again, code) => {
    const healed = begun();
    expect(healed.done(() => healed.recognition.lost(error))).toContainEqual(again);
    healed.recognition.heard(final(0, 'hi'), false, 0);
    for (const { recognition, done } of [begun(), healed]) {
      for (let time = 0; time < 3; time += 1) {
        expect(done(() => recognition.lost(error))).toContainEqual(again);
        recognition.heard(speech('speech_started'), false, 0);
      }
      const end = done(() => recognition.lost(error));
      expect(end).toContainEqual(['count', 'failed']);
      expect(end.at(-1)).toEqual(['fail', error, code]);
      expect(names(end)).toContain('failed');
    }
  });

  it('by an engine takes its audio along, and the client learns it once', () => {
    const { recognition, done, taken } = begun();
    expect(names(done(() => recognition.lost(failed)))).toEqual(['audio_lost', 'reconnect']);
    recognition.rewind();
    expect(taken()).toEqual([]);
    recognition.audio(bytesOf(100), 100);
    recognition.commit(100);
    expect(names(done(() => recognition.lost(failed)))).toEqual(['failed', 'reconnect']);
  });

  it('is counted and told when another one continues', () => {
    const { recognition, done } = begun();
    expect(done(() => recognition.recovered())).toEqual([
      ['count', 'recovered'],
      ['worker_replaced'],
    ]);
  });
});
