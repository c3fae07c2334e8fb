import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import {
  FRAME,
  liveServices,
  ownerOf,
  resumeOf,
  scriptedClient,
  turns,
  wanted,
} from '../../../test/support/live-session.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type SessionJournals } from './journal/session-journals.js';
import { type AdoptedSession, type JournalAudio, type SentEvent } from './journal/session-state.js';
import { RealtimeSession } from './realtime-session.js';
import { type NewSession } from './session/session-core.js';

const NOW_MS = 1_700_000_000_500;
const OWNER = ownerOf('t', { keyId: 'k', terms: { key: 'k' } });
const APPEND = { audio: FRAME.toString('base64') };

beforeEach(() => {
  jest.useFakeTimers({ now: NOW_MS, doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
});
afterEach(() => void jest.useRealTimers());

type JournalOf = (journaled: RealtimeSession) => object | undefined;

/** A session before its first connection. */
function session(more: Partial<NewSession> = {}, journalOf: JournalOf = () => undefined) {
  const use = liveServices({
    'realtime.max_session_ms': 100_000,
    'realtime.idle_timeout_ms': 90_000,
    'realtime.max_ahead_ms': 1000,
  });
  const left: unknown[] = [];
  const ticket = {
    leave: () => left.push('ticket'),
    charge: (used: object) => left.push(used),
  };
  const ended: Promise<void>[] = [];
  const live = new RealtimeSession({ ...wanted(OWNER), ...more, ticket }, use.services, {
    journals: { open: journalOf } as unknown as SessionJournals,
    ended: (_, released) => void ended.push(released),
    slotComing: () => false,
  });
  const client = scriptedClient();
  return { ...use, live, client, left, ended };
}
/** It has sent a frame, and its stream is open. */
function begun(more: Partial<NewSession> = {}, journalOf?: JournalOf) {
  const all = session(more, journalOf);
  all.live.begin(all.client.socket, 'session.created', []);
  const created = all.client.seen[0];
  all.client.binary(FRAME);
  all.client.types();
  return { ...all, stream: all.opened[0]!, secret: resumeOf(created).secret };
}

describe('a live session', () => {
  it('begins with its settings, its secret, and what had no effect', () => {
    const { live, client } = session();
    live.begin(client.socket, 'session.created', ['session.tracing']);
    expect(client.seen).toMatchObject([
      {
        type: 'session.created',
        session: {
          id: live.id,
          resume: { window_seconds: 30 },
          expires_at: 1_700_000_100,
          idle_timeout_seconds: 90,
        },
      },
      { type: 'session.warning', warning: { code: 'fields_ignored' } },
    ]);
    expect(live.id).toMatch(/^sess_[0-9a-f]{24}$/);
    expect(resumeOf(client.seen[0]).secret).toMatch(/^[\w-]{32}$/);
    expect(live.startedAt).toBe(1_700_000_000);
    const quiet = session();
    quiet.live.begin(quiet.client.socket, 'transcription_session.created', []);
    expect(quiet.client.types()).toEqual(['transcription_session.created']);
  });

  it('takes audio as bytes and as text to its recogniser, and counts what is recognised', async () => {
    const { live, client, stream, calls, left, state } = begun();
    client.text('input_audio_buffer.append', APPEND);
    client.text('input_audio_buffer.commit');
    await turns();
    expect(stream.got).toEqual(['audio 4800', 'audio 4800', 'commit']);
    expect([live.receivedMs, live.live]).toEqual([200, true]);
    const final = (utterance: number) =>
      ({ type: 'final', utterance, text: 'hi', start: 0, end: 0.2, words: [] }) as const;
    stream.report({ type: 'speech_started', utterance: 0, at: 0 });
    stream.report(final(0));
    await turns();
    expect(client.types().at(-1)).toMatch(/completed$/);
    expect(calls[0]).toEqual(['count', 'speech_started', 'stt', 0]);
    expect(calls.at(-1)).toEqual([
      'recognised',
      { model: 'stt', audioSeconds: 0.2, tenant: 't', keyId: 'k' },
    ]);
    expect(left).toEqual([{ audioSeconds: 0.2 }]);
    calls.length = 0;
    state.hasStreams = false;
    stream.report(final(1));
    await turns();
    expect(calls.map(([name]) => name)).not.toContain('recognised');
    expect(left).toHaveLength(2);
  });

  it('goes on with another recogniser when one dies', async () => {
    const { client, stream, opened } = begun();
    stream.report(new DomainError('worker_lost', 'gone'));
    await turns();
    expect(client.types()).toEqual(['worker_replaced']);
    expect(opened[1]!.got).toEqual(['audio 4800']);
  });

  it('is slowed when it is ahead of real time', () => {
    const { client } = begun();
    client.binary(Buffer.concat(Array.from({ length: 15 }, () => FRAME)));
    expect(client.seen).toContainEqual({ pausedMs: expect.any(Number) });
  });

  it('has one secret', () => {
    const { live, secret } = begun();
    expect(live.hasSecret(secret)).toBe(true);
    expect(live.hasSecret(`${secret}a`)).toBe(false);
    expect(live.hasSecret(secret.replace(/.$/, end => (end === 'A' ? 'B' : 'A')))).toBe(false);
  });

  it('continues on another connection with the events that it missed', () => {
    const { live, client } = begun();
    client.text('?');
    const last = client.seen.at(-1)!.event_id as string;
    client.text('??');
    const [again, other] = [scriptedClient(), ownerOf('t', { keyId: 'other' })];
    live.resume(again.socket, last, other);
    expect(again.types()).toEqual(['error', 'session.resumed']);
    expect(live.owner).toBe(other);
    expect(() => live.resume(scriptedClient().socket, 'event_none', OWNER)).toThrow(
      expect.objectContaining({ code: 'session_not_found', param: 'last_event_id' }),
    );
    expect(live.owner).toBe(other);
    const third = scriptedClient();
    live.resume(third.socket, '', OWNER);
    expect(third.seen).toMatchObject([{ type: 'session.resumed', audio_received_ms: 100 }]);
  });

  it('ends with its age', async () => {
    const { client, stream } = begun();
    jest.advanceTimersByTime(50_000);
    client.text('input_audio_buffer.clear');
    jest.advanceTimersByTime(49_999);
    expect(client.types()).toEqual(['input_audio_buffer.cleared']);
    jest.advanceTimersByTime(1);
    expect(client.types()).toEqual(['session_ending']);
    await turns();
    stream.report();
    await turns();
    expect(client.types()).toEqual(['closed 1000 session_expired: the session is 100 s old ']);
  });

  it('ends when its client says nothing', async () => {
    const { client } = session();
    const { live, client: silent } = session();
    live.begin(silent.socket, 'session.created', []);
    jest.advanceTimersByTime(90_000);
    await turns();
    expect(silent.types().slice(1)).toEqual([
      'session_ending',
      'closed 1000 session_expired: no message from the client for 90 s ',
    ]);
    expect(client.seen).toEqual([]);
  });

  it('ends once, and then nothing waits, is counted or is sent', async () => {
    const { live, client, stream, left, ended } = begun();
    stream.isSlow = true;
    live.fail(new DomainError('queue_full', 'full'), 1013);
    live.taken();
    live.send({ type: 'late' });
    client.binary(FRAME);
    client.gone(true);
    await turns();
    expect(client.types()).toEqual(['error', 'closed 1013 queue_full ']);
    expect(left).toEqual(['ticket']);
    expect(live.live).toBe(false);
    expect(stream.got).toEqual(['audio 4800', 'cancel']);
    expect(jest.getTimerCount()).toBe(0);
    let isReleased = false;
    void ended[0]!.then(() => (isReleased = true));
    await turns();
    expect([ended.length, isReleased]).toEqual([1, false]);
    stream.end();
    await turns();
    expect(isReleased).toBe(true);
  });

  it.each([
    ['of another gateway', 'taken', 'closed 1008 resumed on another gateway '],
    ['that leaves', 'gone', undefined],
  ])('ends for a client %s', (_, how, closed) => {
    const { live, client, ended } = begun();
    if (how === 'taken') live.taken();
    else client.gone(true);
    expect(client.types()).toEqual(closed ? [closed] : []);
    expect(ended).toHaveLength(1);
  });

  it('ends by a defect, which its client does not see', () => {
    const { live, client, state } = session();
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    state.refusal = new TypeError('defect');
    live.begin(client.socket, 'session.created', []);
    client.binary(FRAME);
    expect(client.seen[1]).toMatchObject({
      error: { code: 'internal_error', message: 'Something went wrong on our side.' },
    });
    expect(client.seen.at(-1)).toMatchObject({ closed: [1011, 'internal_error', undefined] });
    expect(logged).toHaveBeenCalledTimes(1);
    logged.mockRestore();
  });

  it('that leaves finishes what was said, and its journal', async () => {
    const settled = Promise.withResolvers<void>();
    const stopped: boolean[] = [];
    const heard: unknown[] = [];
    const { live, client, stream } = begun({}, journaled => ({
      event: (event: SentEvent) => journaled.deliver(event),
      audio: (audio: JournalAudio) => heard.push(audio.pcm.length),
      settled: () => settled.promise,
      stop: (keep: boolean) => stopped.push(keep),
    }));
    expect(heard).toEqual([4800]);
    const done = live.leave(1001, 'the server is shutting down', 1000, 300);
    await turns();
    expect(client.types()).toEqual(['session_ending']);
    jest.advanceTimersByTime(999);
    await turns();
    expect(stream.got.at(-1)).toBe('close');
    jest.advanceTimersByTime(1);
    await turns();
    expect([stream.got.at(-1), client.types()]).toEqual(['cancel', []]);
    settled.resolve();
    await done;
    expect(client.types()).toEqual(['closed 1001 the server is shutting down 300']);
    expect(stopped).toEqual([true]);
    const other = session({}, () => ({ stop: (keep: boolean) => stopped.push(keep) }));
    await other.live.end(1000, 'bye');
    expect(stopped).toEqual([true, false]);
  });
});

describe('a response of a live session', () => {
  it('is spoken for the key that began it, and charged to it, until it has ended', async () => {
    const { live, client, state, calls, left } = begun();
    const audio = new PassThrough();
    const settled = Promise.resolve({
      settlement: { status: 'completed', reply: { kind: 'speech', durationS: 2 } },
    });
    state.speech = () => ({ audio, request: { settled } }) as never;
    client.text('response.create', { response: { input: [{ content: [{ text: 'hello' }] }] } });
    expect(calls.at(-1)).toMatchObject(['speak', { text: 'hello' }, 't', { key: 'k' }]);
    expect(live.response?.id).toMatch(/^resp_/);
    audio.end();
    await turns();
    expect(client.types().at(-1)).toBe('response.done');
    expect(live.response).toBeUndefined();
    expect(left).toEqual([{ audioSeconds: 2 }]);
  });

  it.each(['end', 'leave'] as const)('is cancelled when it must: %s', async how => {
    const { live, client, calls } = begun();
    client.text('response.create', { response: { input: [{ content: [{ text: 'hello' }] }] } });
    const done = how === 'end' ? live.end(1000, 'bye') : live.leave(1000, 'bye', 100);
    expect(calls.filter(([name]) => name === 'cancel')).toHaveLength(1);
    jest.advanceTimersByTime(100);
    await done;
  });
});

describe('a session that another gateway began', () => {
  const adoptedWith = (input: object): NewSession['adopted'] => ({
    id: 'sess_0123456789abcdef01234567',
    secret: 'secret',
    session: {
      state: {
        expiresAtMs: NOW_MS + 50_000,
        sent: 7,
        input,
        items: { next: 0, finals: 0, segments: 0, lastItemId: null, open: [] },
      },
      events: [],
      audio: [],
    } as unknown as AdoptedSession,
  });
  const AUDIO = {
    uncommittedBytes: 0,
    transcriber: { position: 4800, keepFrom: 4800, commits: [], finals: 0 },
  };

  it('keeps its id, its secret, its numbers and its age', () => {
    const { live } = session({ adopted: adoptedWith(AUDIO) });
    expect([live.id, live.hasSecret('secret'), live.receivedMs]).toEqual([
      'sess_0123456789abcdef01234567',
      true,
      100,
    ]);
    expect(live.state).toMatchObject({
      v: 1,
      tenant: 't',
      keyId: 'k',
      sent: 7,
      dialect: 'ga',
      input: AUDIO,
      expiresAtMs: NOW_MS + 50_000,
    });
    expect(live.state.secretSha256).toMatch(/^[0-9a-f]{64}$/);
    expect(session({ owner: ownerOf('t') }).live.state).not.toHaveProperty('keyId');
  });

  it('goes on hearing, tells of the new recogniser, and waits for its client', async () => {
    const { live, opened, client } = session({ adopted: adoptedWith(AUDIO) });
    live.restore();
    await turns();
    expect(opened).toHaveLength(1);
    live.resume(client.socket, '', OWNER);
    expect(client.types()).toEqual(['session.resumed']);
    expect(live.past.events).toHaveLength(2);
  });

  it('ends when nobody comes for it', async () => {
    const { live, opened, ended } = session({ adopted: adoptedWith({ uncommittedBytes: 0 }) });
    live.restore();
    await turns();
    expect(opened).toHaveLength(0);
    jest.advanceTimersByTime(29_999);
    expect(ended).toHaveLength(0);
    jest.advanceTimersByTime(1);
    expect(ended).toHaveLength(1);
  });
});
