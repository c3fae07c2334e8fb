import { beforeEach, describe, expect, it } from '@jest/globals';
import { ownerOf, turns } from '../../../../test/support/live-session.js';
import { ScriptedStream } from '../../../../test/support/scripted-stream.js';
import { defaultSession } from '../../../contracts/realtime/session-config.js';
import { ServiceTimes } from '../../../core/latency/service-times.js';
import { requestKey } from '../../../core/request/request-key.js';
import { RequestPriority } from '../../../core/request/request-priority.js';
import { type InferenceService } from '../../inference/inference.service.js';
import { type ModelCatalog } from '../../models/model-catalog.js';
import { type EmbeddedQueue } from '../../queue/embedded-queue.js';
import { type StreamPlaces } from '../../shared-queue/stream-places.js';
import { type WorkerPoolService } from '../../worker-pool/worker-pool.service.js';
import { type InterimPasses } from './interim-passes.js';
import { Recognisers } from './recognisers.js';

const OWNER = ownerOf('t', { terms: { key: 'k' } });
/** Turns of the client, 16 kHz. */
const CONFIG = {
  ...defaultSession('files'),
  prompt: 'Names',
  turnDetection: null,
  format: { encoding: 'pcm16', sampleRate: 16_000 },
} as const;
const SECOND = Buffer.alloc(32_000);

interface Started {
  readonly caller: { readonly id: string; readonly priority: RequestPriority };
  readonly work: { readonly payload: { readonly language: string; readonly draft: boolean } };
  readonly answer: PromiseWithResolvers<unknown>;
}

/** Recognisers of `streams`, whose workers take live streams, and of `files`, whose do not. */
function recognisers({
  workers = [{ state: 'ready', health: { maxConcurrent: 1 } }] as object[],
} = {}) {
  const started: Started[] = [];
  const calls: unknown[][] = [];
  const state = {
    pool: { view: () => ({ workers }) } as Record<string, unknown> | undefined,
  };
  const times = new ServiceTimes();
  const tested = new Recognisers(
    {
      get: (id: string) => ({ capabilities: id === 'streams' ? ['stream'] : [] }),
    } as unknown as ModelCatalog,
    { of: () => state.pool } as unknown as WorkerPoolService,
    {
      start: (caller: Started['caller'], work: Started['work']) => {
        const answer = Promise.withResolvers<unknown>();
        started.push({ caller, work, answer });
        return {
          answer: () => answer.promise,
          cancel: (by: string) => calls.push(['cancel', caller.id, by]),
        };
      },
    } as unknown as InferenceService,
    {
      of: (model: string) => (model === 'files' ? { everyS: 1, isIdle: () => true } : undefined),
      run: (model: string, key: string, start: () => unknown) => {
        calls.push(['pass', model, key]);
        return start();
      },
    } as unknown as InterimPasses,
    {
      awaited: (model: string, priority: RequestPriority) => ({ text: model, inMs: priority }),
    } as unknown as EmbeddedQueue,
    times,
  );
  const places = {
    open: (...given: unknown[]) => {
      calls.push(given);
      return new ScriptedStream();
    },
  };
  (tested as unknown as { places: StreamPlaces }).places = places as unknown as StreamPlaces;
  return { recognisers: tested, started, calls, state, times };
}
/** The reply to a request that took `deviceMs` of a device. */
const reply = (deviceMs: number, text = 'hi') => ({
  reply: {
    transcript: { text, language: 'de', segments: [], words: [], durationS: 1 },
    execution: { deviceMs, batchSize: 1 },
  },
});

let all: ReturnType<typeof recognisers>;
beforeEach(() => {
  all = recognisers();
});

describe('a model with live streams', () => {
  it('leases a slot for the settings of the session', () => {
    const { recognisers: tested, calls } = all;
    const { turnDetection } = defaultSession('streams');
    tested.open('sess_1', 'streams', { ...CONFIG, turnDetection, language: 'de' }, OWNER);
    tested.open('sess_2', 'streams', CONFIG, OWNER);
    const stream = { prompt: 'Names', partials: true, sampleRate: 16_000 };
    expect(calls).toEqual([
      [
        'streams',
        { sessionId: 'sess_1', language: 'de', ...stream, voiceActivity: turnDetection },
        't',
      ],
      ['streams', { sessionId: 'sess_2', language: '', ...stream }, 't'],
    ]);
  });
});

describe('a model without live streams', () => {
  it('gets each utterance as a request, and learns what a second of speech takes', async () => {
    const { recognisers: tested, started, times, calls } = all;
    const stream = tested.open('sess_1', 'files', { ...CONFIG, language: 'en' }, OWNER);
    void stream.sendFrame(SECOND.subarray(0, 16_000));
    void stream.commit();
    expect(started).toHaveLength(1);
    expect(started[0]).toMatchObject({
      caller: {
        id: 'sess_1.0',
        tenant: 't',
        terms: { key: 'k' },
        priority: RequestPriority.REALTIME,
      },
      work: {
        model: 'files',
        bytes: 16_044,
        audioDurationS: 0.5,
        payload: {
          kind: 'transcribe',
          language: 'en',
          prompt: 'Names',
          draft: false,
          durationS: 0.5,
        },
      },
    });
    started[0]!.answer.resolve(reply(100));
    const { value } = await stream.receiveEvents().next();
    expect(value).toMatchObject({ type: 'final', text: 'hi' });
    expect(times.of('files').live.value).toBe(200);
    void stream.sendFrame(SECOND.subarray(0, 16_000));
    void stream.commit();
    await stream.cancel();
    expect(calls.at(-1)).toEqual(['cancel', 'sess_1.1', 'client']);
    started[1]!.answer.resolve(reply(0));
    await turns();
    expect(times.of('files').live.value).toBe(200);
  });

  it('gets the beginning of one as a draft in the language that is probably spoken', async () => {
    const { recognisers: tested, started, times, calls } = all;
    const stream = tested.open('sess_1', 'files', CONFIG, OWNER);
    void stream.sendFrame(SECOND);
    expect(calls).toEqual([['pass', 'files', requestKey({ tenant: 't', id: 'sess_1.0.0' })]]);
    expect(started[0]).toMatchObject({
      caller: { id: 'sess_1.0.0', priority: RequestPriority.BATCH },
      work: { payload: { language: '', draft: true } },
    });
    started[0]!.answer.resolve(reply(900));
    await turns();
    expect(times.of('files').live.value).toBeUndefined();
    void stream.commit();
    started[1]!.answer.resolve(reply(100));
    await turns();
    void stream.sendFrame(SECOND);
    expect(started[2]).toMatchObject({ work: { payload: { language: 'de', draft: true } } });
    const named = tested.open('sess_2', 'files', { ...CONFIG, language: 'en' }, OWNER);
    void named.sendFrame(SECOND);
    expect(started[3]).toMatchObject({ work: { payload: { language: 'en' } } });
  });

  it.each([
    ['one device', [{ state: 'ready', health: { maxConcurrent: 1 } }], 400, 2],
    [
      'two devices',
      ['ready', 'busy'].map(state => ({ state, health: { maxConcurrent: 1 } })),
      400,
      4,
    ],
    ['one that takes no work', [{ state: 'starting', health: { maxConcurrent: 9 } }], 9000, 9],
    ['one that is not known', [{ state: 'ready' }], 9000, 9],
  ])('takes as many sessions as it keeps up with: %s', (_, workers, msPerS, sessions) => {
    const { recognisers: tested, times } = recognisers({ workers });
    times.of('files').live.add(msPerS, 1);
    const open = () => tested.open('sess_1', 'files', CONFIG, OWNER);
    for (let session = 0; session < sessions; session += 1) open();
    if (sessions === 9) return;
    expect(open).toThrow(
      expect.objectContaining({
        code: 'queue_full',
        retryAfterMs: 1000,
        message: expect.stringContaining(`it has ${sessions}.`),
      }),
    );
  });

  it('takes another session when one has ended', async () => {
    const { recognisers: tested, times } = all;
    times.of('files').live.add(700, 1);
    const open = () => tested.open('sess_1', 'files', CONFIG, OWNER);
    const first = open();
    expect(open).toThrow('cannot recognise one more');
    await first.cancel();
    await turns();
    open();
  });
});

describe('the workers of a model', () => {
  it.each([
    [undefined, true],
    [{ isHeld: false }, true],
    [{ isHeld: true }, false],
    [{ isHeld: false, loadFailure: 'no file' }, false],
  ])('are to come unless an operator or a failure holds them: %j', (pool, loads) => {
    all.state.pool = pool;
    expect(all.recognisers.loads('files')).toBe(loads);
  });

  it('are waited for as those of REALTIME requests', () => {
    expect(all.recognisers.awaited('files')).toEqual({
      text: 'files',
      inMs: RequestPriority.REALTIME,
    });
  });
});
