import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { openaiAt } from '../../support/openai-at.js';
import { audioForm, wav } from './audio-forms.js';
import { errorOf, GatewayRig } from './gateway-rig.js';
import { sttModel } from './models.js';

const PATH = '/v1/audio/transcriptions';
const ABLE = ['transcribe', 'word_timestamps', 'diarize', 'logprobs', 'hot_words'];

let rig: GatewayRig;
let client: OpenAI;
beforeAll(async () => {
  const able = {
    id: 'able',
    aliases: ['gpt-4o-transcribe-diarize'],
    capabilities: ABLE,
    replicas: 1,
  };
  const models = [sttModel(), sttModel({ ...able, options: { input: 'pcm' } })];
  rig = await GatewayRig.start({ models, launch: 'hosted' });
  client = openaiAt(rig.url);
});
afterAll(() => rig.close());

interface Diarized {
  readonly text: string;
  readonly segments: readonly { readonly text: string; readonly speaker: string }[];
}

const post = (fields: Record<string, string | readonly string[]>) =>
  rig.post(PATH, audioForm({ fields: { model: 'able', ...fields } }));
const json = async <T>(fields: Record<string, string | readonly string[]>): Promise<T> => {
  const response = await post(fields);
  const body: unknown = await response.json();
  if (response.status !== 200) throw new Error(JSON.stringify(body));
  return body as T;
};
const voice = (seconds: number) => `data:audio/wav;base64,${wav(seconds).toString('base64')}`;

describe('diarized_json', () => {
  it('says who said what, through a real worker', async () => {
    const { text, segments, ...rest } = await json<Diarized>({
      response_format: 'diarized_json',
    });
    expect(rest).toEqual({
      task: 'transcribe',
      duration: 1,
      usage: { type: 'duration', seconds: 1 },
    });
    expect(segments[0]).toEqual({
      ...{
        type: 'transcript.text.segment',
        id: 'seg_001',
        start: 0,
        end: expect.any(Number),
      },
      ...{ text: 'synthetic transcript', speaker: 'A' },
    });
    expect(segments.map(segment => segment.speaker)).toEqual(['A', 'B', 'A']);
    expect(segments.map(segment => segment.text).join(' ')).toBe(text);
  });

  it('calls known voices by their names, and hears the voices', async () => {
    const ask = (seconds: number) =>
      json<Diarized>({
        response_format: 'diarized_json',
        ...{
          'known_speaker_names[]': ['Ada', 'Bob'],
          'known_speaker_references[]': [voice(seconds), voice(10)],
        },
      });
    const { text, segments } = await ask(2);
    expect(segments.map(({ speaker }) => speaker)).toEqual(['Ada', 'Bob', 'Ada']);
    expect((await ask(3)).text).not.toBe(text);
  });

  it('is streamed as deltas, each with the segment that it is part of', async () => {
    const events = await client.audio.transcriptions.create({
      ...{
        file: await toFile(wav(1), 'a.wav'),
        model: 'gpt-4o-transcribe-diarize',
        stream: true as const,
      },
      response_format: 'diarized_json',
    });
    const seen: string[] = [];
    for await (const event of events) {
      if (event.type === 'transcript.text.delta')
        seen.push(`delta of ${event.segment_id ?? 'nothing'}`);
      else
        seen.push(
          event.type === 'transcript.text.segment' ? `${event.id} by ${event.speaker}` : event.type,
        );
    }
    expect(seen).toEqual([
      ...[
        'delta of seg_001',
        'seg_001 by A',
        'delta of seg_002',
        'seg_002 by B',
        'delta of seg_003',
        'seg_003 by A',
      ],
      'transcript.text.done',
    ]);
  });

  it.each([
    [
      '1 second',
      voice(1),
      'invalid_value',
      '`known_speaker_references[0]` must be 2 to 10 seconds long; got 1.00.',
    ],
    [
      '11 seconds',
      voice(11),
      'invalid_value',
      '`known_speaker_references[0]` must be 2 to 10 seconds long; got 11.00.',
    ],
    // prettier-ignore
    ['text', 'data:audio/wav;base64,bm8gYXVkaW8gYXQgYWxs', 'invalid_audio',
      '`known_speaker_references[0]`: The file cannot be decoded as audio'],
  ])('refuses a voice of %s, naming it', async (_what, reference, code, message) => {
    const error = await errorOf(
      post({
        response_format: 'diarized_json',
        ...{ 'known_speaker_names[]': 'Ada', 'known_speaker_references[]': reference },
      }),
    );
    expect(error).toMatchObject({
      status: 400,
      code,
      param: 'known_speaker_references',
    });
    expect(error.message).toContain(message);
  });

  it('of a model that cannot is a 400 that names the models that can', async () => {
    const error = await errorOf(post({ model: 'stt', response_format: 'diarized_json' }));
    expect(error).toMatchObject({
      status: 400,
      code: 'unsupported_parameter',
      param: 'response_format',
    });
    expect(error.message).toBe(
      'The model `stt` cannot honour `response_format=diarized_json`; ' +
        'models that can: able (gpt-4o-transcribe-diarize).',
    );
  });
});

describe('include[]=logprobs', () => {
  it('spells the text in tokens with their bytes', async () => {
    const { text, logprobs = [] } = await client.audio.transcriptions.create({
      ...{ file: await toFile(wav(1), 'a.wav'), model: 'able', include: ['logprobs'] },
    });
    expect(logprobs.map(({ token }) => token).join('')).toBe(text);
    expect(Buffer.from(logprobs.flatMap(({ bytes = [] }) => bytes)).toString()).toBe(text);
    expect(logprobs.every(({ logprob = 1 }) => logprob <= 0)).toBe(true);
    expect(await json<object>({})).not.toHaveProperty('logprobs');
  });

  it('is in the events of a stream', async () => {
    const events = (await client.audio.transcriptions.create({
      ...{
        file: await toFile(wav(1), 'a.wav'),
        model: 'able',
        include: ['logprobs'] as const,
        stream: true as const,
      },
    } as never)) as unknown as AsyncIterable<{
      type: string;
      logprobs?: readonly { token: string }[];
    }>;
    const seen: Record<string, string> = {};
    for await (const { type, logprobs } of events)
      seen[type] = logprobs?.map(({ token }) => token).join('') ?? '';
    expect(seen['transcript.text.delta']).toMatch(/^synthetic transcript/);
    expect(seen['transcript.text.done']).toBe(seen['transcript.text.delta']);
  });
});

describe('hot words', () => {
  it('reach the engine, repeated, with commas, and as keywords', async () => {
    const textOf = async (fields: Record<string, string | readonly string[]>) =>
      (await json<Diarized>(fields)).text;
    const heard = await textOf({ hot_words: 'Switchyard, aging' });
    expect(await textOf({ 'hot_words[]': ['Switchyard', 'aging'] })).toBe(heard);
    expect(await textOf({ 'keywords[]': ['Switchyard', 'aging'] })).toBe(heard);
    expect(await textOf({})).not.toBe(heard);
  });
});
