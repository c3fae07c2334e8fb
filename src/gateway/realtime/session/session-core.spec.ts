import { describe, expect, it } from '@jest/globals';
import { defaultSession } from '../../../contracts/realtime/session-config.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type SessionActions } from './session-actions.js';
import { SessionCore } from './session-core.js';
import { type SessionServices } from './session-services.js';

const realtime = { maxAheadMs: 1000 };
const services = {
  settings: { realtime, compat: { strict: false } },
  written: (spoken: string) => spoken,
} as unknown as SessionServices;
const died = new DomainError('worker_lost', 'gone');
const final = (utterance: number, text: string) =>
  ({ type: 'final', utterance, text, start: 0, end: 0.1, words: [] }) as const;
/** 100 ms at 24 kHz. */
const FRAME = Buffer.alloc(4800);

/** A session of manual turns, and what it does about each call. */
function session() {
  let seen: string[] = [];
  let broken: string | undefined;
  const note = (action: string) => () => {
    if (action === broken) throw new DomainError('no_worker', 'none');
    seen.push(action);
  };
  const names = [
    'open',
    'reconnect',
    'audio',
    'slowDown',
    'speak',
    'count',
    'recognised',
    'fail',
    'end',
  ];
  const actions = {
    ...Object.fromEntries(names.map(name => [name, note(name)])),
    send: ({ type }: { type: string }) => seen.push(type.split('.').at(-1)!),
  } as unknown as SessionActions;
  const core = new SessionCore(
    {
      config: { ...defaultSession('m'), turnDetection: null },
      dialect: 'ga',
      owner: { tenant: 't', scopes: new Set() } as never,
    },
    services,
    actions,
    { id: 'sess_1', expiresAt: 0 },
  );
  const { recognition } = core;
  const done = (act: () => void, failing?: keyof SessionActions): string[] => {
    seen = [];
    broken = failing;
    act();
    return seen;
  };
  const message = (type: string, fields: object = {}): string =>
    JSON.stringify({ type, ...fields });
  const taken = (): string[] => {
    const kinds: string[] = [];
    for (let next = recognition.next(); next; next = recognition.next()) kinds.push(next.kind);
    return kinds;
  };
  return { core, recognition, done, message, taken };
}

describe('a session, one call after the other', () => {
  it('opens a stream for its first audio, and commits in order', () => {
    const { core, recognition, done, message, taken } = session();
    expect(done(() => core.binary(FRAME, 0))).toEqual(['open', 'audio']);
    recognition.opened(3);
    expect(done(() => core.binary(FRAME, 100))).toEqual(['audio']);
    const commit = () => core.text(message('input_audio_buffer.commit'), 100);
    expect(done(commit)).toEqual(['committed', 'added', 'done']);
    expect(taken()).toEqual(['audio', 'audio', 'commit']);
    expect(done(() => recognition.heard(final(0, 'hi'), false, 200))).toEqual([
      'count',
      'count',
      'delta',
      'segment',
      'completed',
      'recognised',
    ]);
  });

  it('answers the message whose effect failed, and takes the next one', () => {
    const { core, done, message } = session();
    const append = message('input_audio_buffer.append', {
      audio: FRAME.toString('base64'),
    });
    expect(done(() => core.text(append, 0), 'open')).toEqual(['fail']);
    expect(core.recognition.begun).toBe(false);
    const speak = message('response.create', { response: { voice: 'x' } });
    expect(done(() => core.text(speak, 0), 'speak')).toEqual(['error']);
    expect(done(() => core.text('?', 0))).toEqual(['error']);
  });

  it('gives a new worker what the last one has not completed', () => {
    const { core, recognition, done, taken } = session();
    done(() => core.binary(FRAME, 0));
    recognition.opened(3);
    taken();
    done(() => core.binary(FRAME, 100));
    taken();
    done(() => recognition.heard(final(0, 'hi'), false, 200));
    expect(done(() => recognition.lost(died))).toEqual(['reconnect']);
    recognition.rewind();
    expect(recognition.state.transcriber).toMatchObject({ keepFrom: 4800, finals: 1 });
    expect(taken()).toEqual(['audio']);
    expect(done(() => recognition.recovered())).toEqual(['count', 'warning']);
  });

  it('gives up at the fourth death without a completed segment', () => {
    const { core, recognition, done } = session();
    done(() => core.binary(FRAME, 0));
    recognition.opened(3);
    done(() => recognition.lost(died));
    done(() => recognition.heard(final(0, 'hi'), false, 0));
    for (let death = 0; death < 3; death += 1)
      expect(done(() => recognition.lost(died))).toEqual(['reconnect']);
    expect(done(() => recognition.lost(died))).toEqual(['count', 'fail']);
  });

  it('slows a client that is ahead, tells it once, and then fails', () => {
    const { core, done } = session();
    done(() => core.binary(FRAME, 0));
    const ahead = Buffer.concat(Array.from({ length: 10 }, () => FRAME));
    expect(done(() => core.binary(ahead, 0))).toEqual(['audio', 'slowDown', 'warning']);
    expect(done(() => core.binary(FRAME, 0))).toEqual(['audio', 'slowDown']);
    expect(done(() => core.binary(ahead, 0))).toEqual(['audio', 'fail']);
  });
});
