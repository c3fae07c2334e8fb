import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type PreparedAudio } from '@switchyard/engine-api/speech-recognizer.js';
import { type SpeechSynthesizer } from '@switchyard/engine-api/speech-synthesizer.js';
import { encoded, synthesizeItem, transcribeItem } from '../../contract/engines/engine-items.js';
import { valuesOf } from '../../contract/engines/recognizer-contract.js';
import { errorOf, UpstreamRig } from './upstream-rig.js';

const fieldsOf = (form: FormData) =>
  [...form]
    .filter(([name]) => name !== 'file')
    .map(([name, value]) => `${name}=${value as string}`);
const PLAIN = { wordTimestamps: false };

describe('openai-http', () => {
  let rig: UpstreamRig;

  beforeEach(async () => {
    rig = await UpstreamRig.start();
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  it('sends the upload untouched, with its name, and only the fields that say something', async () => {
    const bytes = randomBytes(300_001);
    const audio: PreparedAudio = {
      kind: 'encoded',
      bytes,
      filename: 'späte "Nacht".m4a',
      durationS: 0,
    };
    const engine = await rig.recognizer({ headers: { 'X-Team': 'speech' } });
    await engine.transcribe([transcribeItem(audio, PLAIN)]);
    const [call] = rig.upstream.posts;
    const form = await call!.form();
    const file = form.get('file') as File;
    expect(Buffer.from(await file.arrayBuffer()).equals(bytes)).toBe(true);
    expect(file.name).toBe('späte "Nacht".m4a');
    expect(fieldsOf(form)).toEqual(['model=m', 'response_format=verbose_json']);
    expect(call!.path).toBe('/v1/audio/transcriptions');
    expect(call!.headers).toMatchObject({
      'x-team': 'speech',
      'content-length': String(call!.body.length),
    });
    expect(call!.headers).not.toHaveProperty('authorization');
  });

  it('passes every field of the request on, to the route of its task', async () => {
    const engine = await rig.recognizer();
    const fields = {
      language: 'de',
      prompt: 'Namen',
      temperature: 0.5,
      wordTimestamps: true,
    } as const;
    const [transcript] = valuesOf(
      await engine.transcribe([transcribeItem(encoded('one'), { ...fields, task: 'translate' })]),
    );
    const [call] = rig.upstream.posts;
    expect(call!.path).toBe('/v1/audio/translations');
    expect(fieldsOf(await call!.form())).toEqual([
      ...[
        'model=m',
        'response_format=verbose_json',
        'language=de',
        'prompt=Namen',
        'temperature=0.5',
      ],
      ...['timestamp_granularities[]=word', 'timestamp_granularities[]=segment'],
    ]);
    expect(transcript).toMatchObject({
      text: 'it means one',
      language: 'en',
      words: { length: 3 },
    });
  });

  it('reads times, scores, language and length from verbose_json', async () => {
    const audio: PreparedAudio = {
      kind: 'encoded',
      bytes: Buffer.from('one'),
      filename: '',
      durationS: 0,
    };
    const [transcript] = valuesOf(
      await (await rig.recognizer()).transcribe([transcribeItem(audio, PLAIN)]),
    );
    const segment = {
      start: 0,
      end: 1,
      text: 'I heard one',
      avgLogprob: -0.25,
      noSpeechProb: 0.01,
    };
    expect(transcript).toEqual({
      text: 'I heard one',
      language: 'en',
      durationS: 1.5,
      segments: [segment],
      words: [],
    });
  });

  it('falls back to json where verbose_json is refused, and remembers', async () => {
    const problem = {
      message: "response_format 'verbose_json' is not compatible with model 'm'",
      param: 'response_format',
    };
    rig.upstream.script({
      kind: 'status',
      status: 400,
      body: JSON.stringify({ error: problem }),
    });
    const engine = await rig.recognizer();
    const audio: PreparedAudio = {
      kind: 'encoded',
      bytes: Buffer.from('one'),
      filename: 'a.wav',
      durationS: 0,
    };
    for (let i = 0; i < 2; i++) {
      const [transcript] = valuesOf(
        await engine.transcribe([transcribeItem(audio, { ...PLAIN, language: 'en' })]),
      );
      expect(transcript).toMatchObject({
        text: 'I heard one',
        language: 'en',
        durationS: 2,
        segments: [{ start: 0, end: 2 }],
      });
    }
    const formats = await Promise.all(
      rig.upstream.posts.map(async call => (await call.form()).get('response_format')),
    );
    expect(formats).toEqual(['verbose_json', 'json', 'json']);
    expect(errorOf(await engine.transcribe([transcribeItem(audio)]))).toMatchObject({
      ...{ code: 'unsupported_parameter', param: 'timestamp_granularities' },
    });
  });

  it('keeps to maxConcurrent requests at the upstream, whatever it is given', async () => {
    const engine = await rig.recognizer({ maxConcurrent: 3, maxBatch: 2 });
    expect(engine.info).toMatchObject({ maxBatch: 2, maxConcurrent: 1 });
    rig.upstream.script(...Array.from({ length: 9 }, () => ({ kind: 'slow', ms: 5 }) as const));
    const items = Array.from({ length: 9 }, (_, i) => transcribeItem(encoded(String(i)), PLAIN));
    expect(valuesOf(await engine.transcribe(items)).map(({ text }) => text)).toEqual(
      items.map((_, i) => `I heard ${i}`),
    );
    expect(rig.upstream.peak).toBe(3);
  });

  it('asks for raw PCM and passes each part on before the next one is made', async () => {
    const parts = [Buffer.from([1, 0, 2, 0, 3]), Buffer.from([0, 4, 0])];
    rig.upstream.script({ kind: 'parts', parts });
    let heard: () => void;
    const first = new Promise<void>(resolve => (heard = resolve));
    const samples: number[] = [];
    const emit = (part: Int16Array) => {
      samples.push(...part);
      heard();
    };
    const engine = await rig.synthesizer();
    const running = engine.synthesize([synthesizeItem('Hello.', 'v1', { emit, speed: 2 }).item]);
    const call = await rig.upstream.post(0);
    expect(call.json()).toEqual({
      model: 'm',
      input: 'Hello.',
      voice: 'v1',
      response_format: 'pcm',
      speed: 2,
    });
    call.go();
    await first;
    expect(samples).toEqual([1, 2]);
    call.go();
    expect(valuesOf(await running)).toEqual([{ durationS: 4 / 24_000 }]);
    expect(samples).toEqual([1, 2, 3, 4]);
  });

  it('leaves the sentences of a text to the upstream: one request, whatever its length', async () => {
    const engine: SpeechSynthesizer = await rig.synthesizer();
    expect(engine.sentencesOf).toBeUndefined();
    rig.upstream.script({ kind: 'body', type: 'audio/pcm', body: Buffer.alloc(4800) });
    const text = 'The train leaves at seven. '.repeat(150).trim();
    const spoken = synthesizeItem(text, 'v1');
    expect(valuesOf(await engine.synthesize([spoken.item]))).toEqual([{ durationS: 0.1 }]);
    expect((await rig.upstream.post(0)).json()).toMatchObject({ input: text });
    expect(rig.upstream.posts).toHaveLength(1);
  });

  it.each([
    ['audio/mpeg', Buffer.alloc(64), 'sent audio/mpeg although'],
    ['application/octet-stream', Buffer.from('RIFF____WAVE'), 'sent WAV although'],
    ['application/json', Buffer.from('{}'), 'sent application/json although'],
    ['audio/pcm', Buffer.alloc(0), 'answered without audio'],
  ])('speaks no %s in place of PCM', async (type, body, words) => {
    rig.upstream.script({ kind: 'body', type, body });
    const speech = synthesizeItem('Hello.', 'v1');
    expect(errorOf(await (await rig.synthesizer()).synthesize([speech.item])).message).toContain(
      words,
    );
    expect(speech.parts).toEqual([]);
  });

  it.each([
    [1, 36],
    [4, 32],
  ])('ends an upstream that never does: at speed %d after %d s of audio', async (speed, mostS) => {
    rig.upstream.script({ kind: 'endless' });
    const engine = await rig.synthesizer();
    const speech = synthesizeItem('Hello.', 'v1', { speed });
    expect(errorOf(await engine.synthesize([speech.item]))).toMatchObject({
      code: 'engine_failed',
      message: expect.stringContaining(`more than ${mostS} s of audio`),
    });
    expect(speech.all().length).toBeLessThanOrEqual(mostS * 24_000);
    expect(await (await rig.upstream.post(0)).closed.passed).toEqual({ early: true });
  });

  it('reports the rate that the operator gives for the upstream', async () => {
    const engine = await rig.synthesizer({ sampleRate: 22_050 });
    expect(engine.sampleRate).toBe(22_050);
    rig.upstream.script({ kind: 'body', type: 'audio/pcm', body: Buffer.alloc(44_100) });
    expect(valuesOf(await engine.synthesize([synthesizeItem('Hello.', 'v1').item]))).toEqual([
      { durationS: 1 },
    ]);
  });
});
