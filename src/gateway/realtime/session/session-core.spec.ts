import { describe, expect, it } from '@jest/globals';
import { IgnoredFields } from '../../../contracts/openai/ignored-fields.js';
import { type ServerEvent } from '../../../contracts/realtime/realtime-event.js';
import { defaultSession } from '../../../contracts/realtime/session-config.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { ModelList } from '../../../platform/config/config.module.js';
import { type ModelSpec } from '../../../platform/config/model-spec.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { type SessionActions } from './session-actions.js';
import { resolveSession, SessionCore } from './session-core.js';
import { type SessionServices } from './session-services.js';

const realtime = { maxAheadMs: 1000 };
const recogniser = (id: string, capabilities: readonly string[]) =>
  ({ id, kind: 'stt', aliases: [], capabilities, languages: ['en', 'de'] }) as unknown as ModelSpec;
const catalog = new ModelCatalog(
  new ModelList([recogniser('m', ['stream']), recogniser('prompted', ['prompt'])]),
);
const services = {
  catalog,
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
  let failure = new DomainError('no_worker', 'none');
  const asked: unknown[][] = [];
  const sent: ServerEvent[] = [];
  const note =
    (action: string) =>
    (...given: unknown[]) => {
      if (action === broken) throw failure;
      seen.push(action);
      asked.push([action, ...given]);
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
  const owner = { tenant: 't', scopes: new Set() } as never;
  const actions = {
    owner,
    response: undefined as { id: string; cancel: () => void } | undefined,
    ...Object.fromEntries(names.map(name => [name, note(name)])),
    send: (event: ServerEvent) => {
      seen.push(event.type.split('.').at(-1)!);
      sent.push(event);
    },
  };
  const core = new SessionCore(
    {
      config: { ...defaultSession('m'), turnDetection: null },
      dialect: 'ga',
      owner,
    },
    services,
    actions as unknown as SessionActions,
    { id: 'sess_1', expiresAt: 0 },
  );
  const { recognition } = core;
  const done = (act: () => void, failing?: keyof SessionActions, error = failure): string[] => {
    seen = [];
    [broken, failure] = [failing, error];
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
  /** What a message of the client does, at `nowMs`. */
  const acts = (type: string, fields: object = {}, nowMs = 0): string[] =>
    done(() => core.text(message(type, fields), nowMs));
  /** The code of the last error. */
  const code = () => (sent.findLast(({ type }) => type === 'error')?.error as DomainError).code;
  return { core, recognition, done, message, taken, actions, asked, sent, acts, code };
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

describe('the settings of a session', () => {
  const resolved = (wanted: object, { strict = false, ...rest } = {}) => {
    const ignored = new IgnoredFields(strict);
    const config = { ...defaultSession('m'), ...wanted };
    const next = resolveSession(config, { catalog, ignored, path: 'p', ...rest });
    return { ignored: ignored.paths, language: next.language, prompt: next.prompt };
  };
  const given = { ignored: [], language: '', prompt: '' };

  it.each([
    [{ language: 'de' }, { language: 'de' }],
    [{ languages: ['de'], language: 'en' }, { language: 'de' }],
    [{ languages: ['fr', 'de'] }, { language: 'de', ignored: ['p.languages'] }],
    [{ languages: ['en', 'de'] }, { ignored: ['p.languages'] }],
    [{ prompt: 'Names' }, { ignored: ['p.prompt'] }],
    [{ prompt: 'Names', model: 'prompted' }, { prompt: 'Names' }],
  ])('are what its model can honour: %j', (wanted, next) => {
    expect(resolved(wanted)).toEqual({ ...given, ...next });
  });

  it.each([
    [{ language: 'fr' }, 'p.language', {}],
    [{ languages: ['fr'] }, 'p.languages', {}],
    [{ model: 'none' }, 'p.model', {}],
    [{ prompt: 'Names' }, 'p.prompt', { strict: true }],
  ])('are rejected where they change what is meant: %j', (wanted, param, options) => {
    expect(() => resolved(wanted, options)).toThrow(expect.objectContaining({ param }));
  });

  it('do not hide a defect', () => {
    const broken = () => {
      throw new TypeError('defect');
    };
    expect(() => resolved({}, { catalog: { getOfKind: broken } } as object)).toThrow(TypeError);
  });

  const update = (input: object) => ({ session: { type: 'transcription', audio: { input } } });

  it('change with an update, for a stream of which they begin a new one', () => {
    const { core, acts, done, taken } = session();
    const transcription = (language: string) => update({ transcription: { language } });
    expect(acts('session.update', transcription('de'))).toEqual(['updated']);
    expect(core.config.language).toBe('de');
    done(() => core.binary(FRAME, 0));
    expect(taken()).toEqual(['audio']);
    acts('session.update', {
      session: { type: 'transcription', audio: { output: { voice: 'x' } } },
    });
    expect(taken()).toEqual([]);
    acts('session.update', transcription('en'));
    expect(taken()).toEqual(['reopen']);
  });

  it('keep the format in which audio has come', () => {
    const { core, acts, done, code } = session();
    const format = (rate: number) => update({ format: { type: 'audio/pcm', rate } });
    expect(acts('session.update', format(16_000))).toEqual(['updated']);
    done(() => core.binary(FRAME, 0));
    expect(acts('session.update', format(16_000))).toEqual(['updated']);
    expect(acts('session.update', format(8000))).toEqual(['error']);
    expect(code()).toBe('invalid_value');
    expect(core.config.format.sampleRate).toBe(16_000);
  });

  it('are read in the dialect of the client, which is told what has no effect', () => {
    const { core, acts, sent } = session();
    expect(acts('session.update', update({ noise_reduction: { type: 'near_field' } }))).toEqual([
      'updated',
      'warning',
    ]);
    expect(sent.at(-1)?.warning).toMatchObject({
      params: ['session.audio.input.noise_reduction'],
    });
    const older = { session: { input_audio_transcription: { language: 'de' } } };
    acts('transcription_session.update', older);
    expect([core.dialect, sent.at(-1)?.type]).toEqual(['older', 'transcription_session.updated']);
    acts('session.update', { session: { input_audio_transcription: { language: 'en' } } });
    expect(core.config.language).toBe('en');
    const response = { input: [{ content: [{ text: 'a' }] }], temperature: 0.5 };
    expect(acts('response.create', { response })).toEqual(['speak', 'warning']);
  });
});

describe('what a client may do wrong', () => {
  it.each([
    [9999, ['error', 'end']],
    [10_000, ['error']],
  ])('ends its session with the 101st mistake within ten seconds: %i ms', (lastMs, answer) => {
    const { core, done, asked } = session();
    for (let mistake = 0; mistake < 100; mistake += 1)
      expect(done(() => core.text('?', mistake === 0 ? 0 : 5000))).toEqual(['error']);
    expect(done(() => core.text('?', lastMs))).toEqual(answer);
    if (answer.length > 1) expect(asked.at(-1)).toEqual(['end', 1008, 'too many bad events']);
  });

  it('in a binary frame is answered, and what is no mistake of its is thrown', () => {
    const { core, done } = session();
    const missing = new DomainError('model_not_found', 'none');
    expect(done(() => core.binary(FRAME, 0), 'open', missing)).toEqual(['error']);
    const defect = new TypeError('defect') as unknown as DomainError;
    expect(() => done(() => core.binary(FRAME, 0), 'open', defect)).toThrow('defect');
  });

  it.each([
    ['a WAV file', 'RIFF'],
    ['Ogg', 'OggS'],
    ['FLAC', 'fLaC'],
    ['MP3', 'ID3'],
    ['WebM', '\u001aE\u00df\u00a3'],
  ])('is to send %s', (name, magic) => {
    const { core, done, asked } = session();
    const file = Buffer.concat([Buffer.from(magic, 'latin1'), FRAME]);
    expect(done(() => core.binary(file, 0))).toEqual(['fail']);
    expect(asked[0]).toMatchObject([
      'fail',
      { message: expect.stringContaining(`this is ${name}.`) },
      1003,
    ]);
    done(() => core.binary(FRAME, 0));
    expect(done(() => core.binary(file, 0))).toEqual(['audio']);
  });
});

describe('responses of a session', () => {
  const item = (text: string, id?: string) => ({ item: { id, content: [{ text }] } });

  it('speak what was added since the last one', () => {
    const { acts, asked, sent, code } = session();
    expect(acts('conversation.item.create', item('one', 'item_1'))).toEqual(['added', 'done']);
    acts('conversation.item.create', item('two'));
    expect(sent.at(-1)).toMatchObject({ previous_item_id: 'item_1' });
    const input = [{ content: [{ text: 'another' }] }];
    expect(acts('response.create', { response: { input, voice: 'x' } })).toEqual(['speak']);
    acts('response.create');
    expect(asked.map(([, request]) => request)).toMatchObject([
      { text: 'another', voice: 'x' },
      { text: 'one\ntwo', voice: 'alloy', speed: 1 },
    ]);
    expect(acts('response.create')).toEqual(['error']);
    expect(code()).toBe('missing_required_parameter');
  });

  it('have at most 100 items', () => {
    const { acts, code } = session();
    for (let items = 0; items < 100; items += 1)
      expect(acts('conversation.item.create', item('a'))).toEqual(['added', 'done']);
    expect(acts('conversation.item.create', item('a'))).toEqual(['error']);
    expect(code()).toBe('queue_full');
  });

  it('are spoken one at a time, and stopped by their id or without', () => {
    const { acts, actions, code } = session();
    expect(acts('response.cancel')).toEqual(['error']);
    expect(code()).toBe('response_cancel_not_active');
    let cancelled = 0;
    actions.response = { id: 'resp_1', cancel: () => (cancelled += 1) };
    expect(acts('response.create')).toEqual(['error']);
    expect(code()).toBe('conversation_already_has_active_response');
    expect(acts('response.cancel', { response_id: 'resp_2' })).toEqual(['error']);
    expect(cancelled).toBe(0);
    expect(acts('response.cancel', { response_id: 'resp_1' })).toEqual([]);
    expect(acts('response.cancel')).toEqual([]);
    expect(cancelled).toBe(2);
  });
});
