import { type ClientDuplexStream } from '@grpc/grpc-js';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { bytesOf } from '@switchyard/engine-api/audio/pcm.js';
import {
  type TranscribeStreamRequest,
  type TranscribeStreamResponse,
} from '@switchyard/worker-protocol/stt.codec.js';
import { decodeFailure } from '../../../src/contracts/errors/status.codec.js';
import { joinSamples, silence } from '../../contract/engines/engine-items.js';
import { type HostedWorker } from '../../support/hosted-worker.js';
import { recording } from '../../support/recordings.js';
import { SttCaller } from './stt-caller.js';
import { hostedWorker, sttModel } from './worker-process.js';

type Call = ClientDuplexStream<TranscribeStreamRequest, TranscribeStreamResponse>;
type Event = NonNullable<TranscribeStreamResponse['event']>;

interface Config {
  readonly sessionId: string;
  readonly language: string;
  readonly sampleRate: number;
  readonly partials: boolean;
  readonly prompt: string;
  readonly voiceActivity?: {
    threshold: number;
    prefixPaddingMs: number;
    silenceDurationMs: number;
  };
}
const CONFIG: Config = {
  sessionId: 'session',
  language: '',
  sampleRate: 16_000,
  partials: true,
  prompt: '',
};
const config = (change: Partial<Config> = {}): TranscribeStreamRequest => ({
  message: { $case: 'config', value: { ...CONFIG, ...change } },
});
const audio = (bytes: number): TranscribeStreamRequest => ({
  message: { $case: 'audio', value: Buffer.alloc(bytes, 1) },
});
const COMMIT: TranscribeStreamRequest = { message: { $case: 'commit', value: {} } };

/** A second of silence, a sentence, a second of silence. */
let SPOKEN: Buffer;
beforeAll(async () => {
  SPOKEN = bytesOf(joinSamples([silence(1), await recording('window'), silence(1)]));
});

/** Collects a stream's events; `seen` waits for the n-th. */
class Listener {
  readonly events: Event[] = [];
  readonly ended: Promise<unknown>;
  #changed: () => void = () => undefined;

  constructor(call: Call) {
    call.on('data', ({ event }: TranscribeStreamResponse) => {
      if (event) this.events.push(event);
      this.#changed();
    });
    this.ended = new Promise(resolve => {
      call.on('end', () => resolve(undefined));
      call.on('error', error => resolve(decodeFailure(error)));
    });
  }

  async seen(count: number): Promise<void> {
    while (this.events.length < count)
      await new Promise<void>(resolve => (this.#changed = resolve));
  }
}

describe('live streams of a real worker', () => {
  let worker: HostedWorker;
  let caller: SttCaller;

  beforeEach(async () => {
    worker = await hostedWorker({ model: { ...sttModel, options: { streams: 2 } } });
    caller = new SttCaller(worker.address);
  });
  afterEach(async () => {
    caller.close();
    await worker[Symbol.asyncDispose]();
  });

  const open = (...messages: TranscribeStreamRequest[]) => {
    const call = caller.client.transcribeStream();
    const listener = new Listener(call);
    for (const message of messages) call.write(message);
    return { call, listener };
  };

  it('says ready, then partials, and a final for every commit', async () => {
    const { call, listener } = open(config(), audio(3200), COMMIT, audio(3200), COMMIT);
    await listener.seen(5);
    expect(listener.events.map(({ $case }) => $case)).toEqual([
      'ready',
      'partial',
      'final',
      'partial',
      'final',
    ]);
    expect(listener.events[4]).toMatchObject({
      value: { utterance: 1, start: 0.1, end: 0.2 },
    });
    call.end();
    expect(await listener.ended).toBeUndefined();
    // Nothing came after the last commit.
    expect(listener.events).toHaveLength(5);
  });

  it('finishes the last utterance when the caller has sent all', async () => {
    const { call, listener } = open(config({ partials: false }), audio(3200));
    call.end();
    expect(await listener.ended).toBeUndefined();
    expect(listener.events.map(({ $case }) => $case)).toEqual(['ready', 'final']);
  });

  it('has 2 places apart from file slots, and a place is free again after a stream', async () => {
    const [one, two] = ['one', 'two'].map(sessionId => open(config({ sessionId })));
    await Promise.all([one!.listener.seen(1), two!.listener.seen(1)]);
    expect(await open(config({ sessionId: 'three' })).listener.ended).toMatchObject({
      code: 'queue_full',
    });
    expect(await caller.send('file').outcome).toMatchObject({ kind: 'transcript' });
    one!.call.end();
    await one!.listener.ended;
    const again = open(config({ sessionId: 'three' }));
    await again.listener.seen(1);
    for (const { call } of [two!, again]) call.end();
    await Promise.all([two!.listener.ended, again.listener.ended]);
  });

  it('frees the place of a caller that left', async () => {
    const { call, listener } = open(config());
    await listener.seen(1);
    call.cancel();
    await caller.inFlight(0);
    expect(await listener.ended).toMatchObject({ code: 'request_cancelled' });
  });

  it('ends a stream by the Cancel RPC', async () => {
    const { listener } = open(config());
    await listener.seen(1);
    expect(await caller.cancel('session')).toBe(true);
    expect(await listener.ended).toMatchObject({ code: 'request_cancelled' });
  });

  it('tells where speech is, and nothing of silence, with voice activity', async () => {
    const voiceActivity = {
      threshold: 0.5,
      prefixPaddingMs: 300,
      silenceDurationMs: 500,
    };
    const { call, listener } = open(config({ voiceActivity }), {
      message: { $case: 'audio', value: SPOKEN },
    });
    await listener.seen(4);
    call.write({ message: { $case: 'audio', value: Buffer.alloc(64_000) } });
    call.write(COMMIT);
    call.end();
    expect(await listener.ended).toBeUndefined();
    const told = listener.events.filter(({ $case }) => $case !== 'partial');
    expect(told.map(({ $case }) => $case)).toEqual([
      'ready',
      'speechStarted',
      'speechStopped',
      'final',
    ]);
    expect(told[3]).toMatchObject({ value: { utterance: 0 } });
  });

  it.each([
    ['a threshold of 2', { threshold: 2 }],
    ['a silence of 11 s', { silenceDurationMs: 11_000 }],
  ])('refuses voice activity with %s', async (_what, change) => {
    const voiceActivity = {
      threshold: 0.5,
      prefixPaddingMs: 300,
      silenceDurationMs: 500,
      ...change,
    };
    expect(await open(config({ voiceActivity })).listener.ended).toMatchObject({
      code: 'invalid_value',
    });
  });

  it.each([
    ['audio before the config', [audio(2)], 'invalid_value'],
    ['a second config', [config(), config()], 'invalid_value'],
    ['a sample rate of 1 Hz', [config({ sampleRate: 1 })], 'invalid_value'],
    ['an empty session id', [config({ sessionId: '' })], 'missing_required_parameter'],
  ])('refuses %s', async (_what, messages, code) => {
    expect(await open(...messages).listener.ended).toMatchObject({ code });
  });
});
