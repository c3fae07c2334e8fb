import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pcmWav } from '../../../test/support/pcm-wav.js';
import { scriptedInference, served } from '../../../test/support/scripted-inference.js';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { ModelList } from '../../platform/config/config.module.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { type SpooledUpload, Spool } from '../../platform/storage/upload-spool.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { WrittenForm } from '../written-form/written-form.js';
import { parseTranscription } from './parse-transcription.js';
import { TranscriptionService } from './transcription.service.js';

const SECOND = pcmWav(Buffer.alloc(32_000), 16_000);
const capabilities = ['transcribe', 'diarize'];
const catalog = new ModelCatalog(
  new ModelList([
    syntheticModel({}, { id: 'm', capabilities, languages: ['en'] }),
    syntheticModel({}, { id: 'any' }),
    syntheticModel({}, { id: 'voice', kind: 'tts' }),
  ]),
);
const segmentOf = (id: number, text: string) => ({
  id,
  text,
  start: id,
  end: id + 1,
  speaker: 'A',
});
const transcriptOf = (text: string, segments: readonly object[] = []) => ({
  kind: 'transcript',
  transcript: { text, language: 'en', durationS: 1, words: [], segments },
});
type Segment = (segment: object, logprobs: readonly object[]) => void;

describe('an upload that is transcribed', () => {
  let rig: ReturnType<typeof scriptedInference>;
  let server: Awaited<ReturnType<typeof served>>;
  let disposed: number;
  const settings = settingsFrom({
    'data.dir': temporaryFolder(),
    'fetch.timeout_ms': 5000,
    'server.upload_limit_bytes': 320_000,
  });

  beforeEach(async () => {
    rig = scriptedInference();
    disposed = 0;
    const spool = new Spool(settings);
    await spool.onModuleInit();
    const store = spool.store.bind(spool);
    spool.store = async source => {
      const upload = await store(source);
      const dispose = upload.dispose.bind(upload);
      return Object.assign(upload, { dispose: () => ((disposed += 1), dispose()) });
    };
    const service = new TranscriptionService(
      spool,
      catalog,
      rig.inference,
      new WrittenForm([{ language: 'en', normalize: text => text.replace('five', '5') }]),
      settings,
    );
    server = await served((request, reply) => service.answer(request, reply, parseTranscription));
  });
  afterEach(() => server.app.close());

  /** Sends a form; the fields come first. */
  const send = (fields: Readonly<Record<string, string>>, file: Buffer | null = SECOND) => {
    const parts = Object.entries(fields).map(
      ([name, value]) =>
        `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const head = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n';
    const body = file
      ? [...parts, head, file.toString('latin1'), '\r\n--x--\r\n']
      : [...parts, '--x--\r\n'];
    return server.app.inject({
      method: 'POST',
      url: '/v1',
      payload: Buffer.from(body.join(''), 'latin1'),
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    });
  };
  const eventsIn = (payload: string) =>
    payload
      .split('\n\n')
      .filter(Boolean)
      .map(line => line.replace('data: ', ''))
      .map(data =>
        data === '[DONE]' ? data : (JSON.parse(data) as { type: string; delta?: string }),
      );

  it('is answered whole, in its written form, with what was ignored', async () => {
    const answer = send({ model: 'm', itn: 'true', prompt: 'Names' });
    const { work, answer: settle, output } = await rig.next();
    expect(work).toMatchObject({
      model: 'm',
      bytes: SECOND.length,
      audioDurationS: 1,
      payload: { kind: 'transcribe', filename: 'a.wav', durationS: 1, onSegment: undefined },
    });
    expect([output, rig.harmless]).toEqual([undefined, [['m', work.payload.audio]]]);
    expect(disposed).toBe(0);
    settle(transcriptOf('five'));
    const { payload, headers } = await answer;
    expect(JSON.parse(payload)).toMatchObject({ text: '5' });
    expect(headers).toMatchObject({
      'x-switchyard-model': 'm',
      'x-switchyard-ignored': 'prompt',
      'x-switchyard-batch-size': '2',
    });
    expect(disposed).toBe(1);
    const audio = work.payload.audio as SpooledUpload;
    await expect(audio.bytes()).rejects.toThrow();
  });

  it('is answered segment by segment, each once, as one text', async () => {
    const answer = send({ model: 'm', stream: 'true', itn: 'true' });
    const { work, answer: settle } = await rig.next();
    const segment = work.payload.onSegment as Segment;
    segment(segmentOf(0, ' One'), []);
    segment(segmentOf(1, ' five'), [{ token: '5', logprob: 0, bytes: Buffer.from('5') }]);
    segment(segmentOf(2, ' '), []);
    // Another worker begins anew.
    segment(segmentOf(0, ' One'), []);
    segment(segmentOf(1, ' five'), []);
    settle(transcriptOf('One five.'));
    const { payload, headers } = await answer;
    const events = eventsIn(payload);
    expect(events).toMatchObject([
      { type: 'transcript.text.delta', delta: 'One' },
      { type: 'transcript.text.delta', delta: ' 5', logprobs: [{ token: '5' }] },
      { type: 'transcript.text.done', text: 'One 5' },
      '[DONE]',
    ]);
    expect(events[0]).not.toHaveProperty('logprobs');
    expect(headers).toMatchObject({
      'cache-control': 'no-cache',
      'x-switchyard-model': 'm',
      'content-type': 'text/event-stream; charset=utf-8',
    });
    expect(disposed).toBe(1);
  });

  it('is answered at its end where no segment came before', async () => {
    const answer = send({ model: 'm', stream: 'true' });
    const { answer: settle } = await rig.next();
    settle(transcriptOf('One. Two.', [segmentOf(0, 'One.'), segmentOf(1, ' Two.')]));
    expect(eventsIn((await answer).payload).slice(0, 2)).toMatchObject([
      { delta: 'One.' },
      { delta: ' Two.' },
    ]);
  });

  it('names speakers where they are asked for', async () => {
    const answer = send({ model: 'm', stream: 'true', response_format: 'diarized_json' });
    const { work, answer: settle } = await rig.next();
    (work.payload.onSegment as Segment)(segmentOf(0, 'One'), []);
    settle(transcriptOf('One'));
    expect(eventsIn((await answer).payload)[1]).toMatchObject({ speaker: 'A', text: 'One' });
  });

  it('fails as a whole before its first segment, and in the stream after it', async () => {
    const error = new DomainError('engine_failed', 'cannot');
    const whole = send({ model: 'm', stream: 'true' });
    (await rig.next()).fail(error);
    expect((await whole).json()).toMatchObject({ code: 'engine_failed' });
    expect(disposed).toBe(1);
    const streamed = send({ model: 'm', stream: 'true' });
    const { work, fail } = await rig.next();
    (work.payload.onSegment as Segment)(segmentOf(0, 'One'), []);
    await new Promise(setImmediate);
    fail(error);
    expect(eventsIn((await streamed).payload)).toMatchObject([
      { delta: 'One' },
      { error: { code: 'engine_failed' } },
    ]);
    expect(disposed).toBe(2);
  });

  it('by URL has the time that the largest file takes', async () => {
    const answer = send({ model: 'm', file_url: 'https://example.com/a.mp3' }, null);
    const { work, answer: settle } = await rig.next();
    expect(work).toMatchObject({ bytes: 0, audioDurationS: 25 });
    settle(transcriptOf('hi'));
    expect((await answer).json()).toMatchObject({ text: 'hi' });
  });

  it.each([
    [{ model: 'voice' }, SECOND, 'model_kind_mismatch', 0],
    [{ model: 'm', temperature: '9' }, SECOND, 'invalid_value', 1],
    [{ model: 'm' }, pcmWav(Buffer.alloc(0), 16_000), 'audio_too_short', 1],
    [{ model: 'any', itn: 'true', language: 'fr' }, SECOND, 'unsupported_parameter', 1],
  ])('is refused, and nothing of it stays: %j', async (fields, file, code, stored) => {
    expect((await send(fields, file)).json()).toMatchObject({ code });
    expect(disposed).toBe(stored);
  });
});
