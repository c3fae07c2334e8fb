import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type VoiceEvent } from '@switchyard/engine-api/audio/voice-activity-tracker.js';
import { type SpeechRecognizer } from '@switchyard/engine-api/speech-recognizer.js';
import { openVoiceActivity } from '@switchyard/engine-sherpa/voice-activity.js';
import { type StreamEvent } from '@switchyard/worker-protocol/call.codec.js';
import { createEngine } from '../../../src/worker/engine-factory.js';
import { liveStream } from '../../../src/worker/execution/voice-activity-stream.js';
import { recording } from '../../support/recordings.js';
import { joinSamples, modelSpec, silence } from '../engines/engine-items.js';

const RATE = 16_000;
const options = { threshold: 0.5, prefixPaddingMs: 300, silenceDurationMs: 500 };

/** Room noise of a given amplitude, the same in every run. */
function noise(seconds: number, amplitude: number): Int16Array {
  let seed = 1;
  return Int16Array.from({ length: seconds * RATE }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.round((seed / 1_073_741_824 - 1) * amplitude);
  });
}

async function eventsOf(samples: Int16Array, frame = 320): Promise<VoiceEvent[]> {
  const session = openVoiceActivity(options);
  const events: VoiceEvent[] = [];
  for (let at = 0; at < samples.length; at += frame) {
    events.push(...session.push(samples.subarray(at, at + frame)));
    await nextTurn();
  }
  const all = [...events, ...session.end()];
  session.close();
  return all;
}

describe('voice activity on recorded speech', () => {
  it('finds starts and stops within 200 ms, in quiet and in noise', async () => {
    const parts = [
      silence(1),
      await recording('window'),
      silence(2),
      await recording('houses'),
      silence(1.5),
    ];
    const quiet = joinSamples(parts);
    const hiss = noise(quiet.length / RATE, 100);
    const truth: number[] = [];
    parts.reduce((at, part, i) => {
      if (i % 2 === 1) truth.push(at / RATE, (at + part.length) / RATE);
      return at + part.length;
    }, 0);
    for (const audio of [quiet, quiet.map((sample, i) => sample + hiss[i]!)]) {
      const events = await eventsOf(audio);
      expect(events.map(({ type }) => type)).toEqual(['started', 'stopped', 'started', 'stopped']);
      const errors = events.map(({ atS }, i) => Math.abs(atS - truth[i]!));
      expect(Math.max(...errors)).toBeLessThan(0.2);
    }
  });

  it('gives the same events however the audio is cut, and beside 31 other streams', async () => {
    const audio = joinSamples([silence(0.5), await recording('window'), silence(1)]);
    const whole = await eventsOf(audio);
    expect(await eventsOf(audio, 777)).toEqual(whole);
    const together = await Promise.all(
      Array.from({ length: 32 }, (_, i) => eventsOf(audio, 160 + i)),
    );
    expect(together).toEqual(Array.from({ length: 32 }, () => whole));
  });

  it.each([
    ['silence', silence(10)],
    ['noise', noise(10, 3000)],
    [
      'a hum of 50 Hz',
      Int16Array.from(
        { length: 10 * RATE },
        (_, i) => 8000 * Math.sin((2 * Math.PI * 50 * i) / RATE),
      ),
    ],
    ['clicks', Int16Array.from({ length: 10 * RATE }, (_, i) => (i % 8000 < 40 ? 20_000 : 0))],
  ])('hears no speech in %s', async (_what, audio) => {
    expect(await eventsOf(audio)).toEqual([]);
  });
});

describe('a live stream with voice activity', () => {
  const recognizer = createEngine(
    modelSpec('sherpa-onnx', 'stt', {
      modelDir: 'test/fixtures/sherpa/streaming-nemo-ctc',
      streams: 1,
    }),
  ) as SpeechRecognizer;
  beforeAll(() => recognizer.load());
  afterAll(() => recognizer.close());

  async function listen(samples: Int16Array): Promise<StreamEvent[]> {
    const events: StreamEvent[] = [];
    const inner = await recognizer.openStream!({ language: '', partials: true });
    const stream = liveStream(inner, openVoiceActivity(options), event => events.push(event));
    for (let at = 0; at < samples.length; at += 320)
      await stream.push(samples.subarray(at, at + 320));
    await stream.commit();
    await stream.done();
    await stream.close();
    return events;
  }

  it('finals of 2 utterances without a commit, with times of the session', async () => {
    const [first, second] = [await recording('window'), await recording('houses')];
    const events = await listen(joinSamples([silence(2), first, silence(3), second, silence(1)]));
    const finals = events.filter(event => event.type === 'final');
    expect(finals).toHaveLength(2);
    const [one, two] = finals.map(({ words }) => words[0]!.start);
    expect(one).toBeGreaterThan(1.6);
    expect(two).toBeGreaterThan(2 + first.length / RATE + 2.6);
    for (const utterance of [0, 1]) {
      const types = events.filter(event => event.utterance === utterance).map(({ type }) => type);
      expect([...new Set(types.filter(type => type !== 'partial'))]).toEqual([
        'speech_started',
        'speech_stopped',
        'final',
      ]);
      expect(types.at(-1)).toBe('final');
    }
  });
});

it('cuts speech without pauses into utterances of at most 15 s, where it is quiet, and loses no sample', async () => {
  const sentence = await recording('houses');
  const speech = joinSamples(Array.from({ length: 10 }, () => sentence));
  const utterances: Int16Array[] = [];
  const parts: Int16Array[] = [];
  const recognizer = {
    push: (samples: Int16Array) => Promise.resolve(parts.push(samples.slice())).then(() => []),
    commit: () => Promise.resolve(utterances.push(joinSamples(parts.splice(0)))).then(() => []),
    close: () => Promise.resolve(),
  };
  const stream = liveStream(recognizer, openVoiceActivity(options), () => undefined);
  for (let at = 0; at < speech.length; at += 320) await stream.push(speech.subarray(at, at + 320));
  await stream.commit();
  await stream.done();
  expect(utterances.length).toBeGreaterThan(1);
  for (const { length } of utterances) expect(length / RATE).toBeLessThanOrEqual(15.05);
  expect(Buffer.from(joinSamples(utterances).buffer).equals(Buffer.from(speech.buffer))).toBe(true);
  for (const cut of utterances.slice(0, -1))
    expect(loudness(cut.subarray(-320))).toBeLessThan(loudness(speech) / 4);
});

const loudness = (samples: Int16Array) =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
