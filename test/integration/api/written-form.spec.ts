import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import { audioForm, type FormOptions } from './audio-forms.js';
import { expectError, GatewayRig } from './gateway-rig.js';
import { sttModel } from './models.js';

const TRANSCRIPTIONS = '/v1/audio/transcriptions';
const SAID = script.say('it cost twenty five dollars', 'on may fifth at three thirty p m');
const SPOKEN = 'it cost twenty five dollars on may fifth at three thirty p m';
const WRITTEN = 'it cost $25 on May 5 at 3:30 p.m.';

const workers: FixtureWorker[] = [];
let rig: GatewayRig;
beforeAll(async () => {
  const capabilities = ['transcribe', 'word_timestamps', 'prompt', 'translate'];
  const specs = [
    { id: 'spoken', languages: [] },
    { id: 'writing', languages: ['en'], itn: true },
    { id: 'german', languages: ['de'], itn: true },
  ];
  const models = await Promise.all(
    specs.map(async spec => {
      const worker = new FixtureWorker({ model: spec.id });
      workers.push(worker);
      return sttModel({
        ...spec,
        capabilities,
        aliases: [],
        addresses: [`127.0.0.1:${await worker.start()}`],
      });
    }),
  );
  rig = await GatewayRig.start({ models });
  await Promise.all(specs.map(({ id }) => rig.ready(id)));
});
afterAll(async () => {
  await rig.close();
  for (const worker of workers) worker.stop();
});

type Fields = NonNullable<FormOptions['fields']>;
const post = (fields: Fields, path = TRANSCRIPTIONS) =>
  rig.post(
    path,
    audioForm({ fields: { model: 'spoken', prompt: SAID, language: 'en', ...fields } }),
  );
const bodyOf = async (fields: Fields, path?: string) => (await post(fields, path)).text();
const textOf = async (fields: Fields, path?: string) =>
  ((await (await post(fields, path)).json()) as { text: string }).text;

describe('itn on a model that does not say', () => {
  it.each([
    ['absent', {}, SPOKEN],
    ['true', { itn: 'true' }, WRITTEN],
    ['1', { itn: '1' }, WRITTEN],
    ['false', { itn: 'false' }, SPOKEN],
  ])('%s', async (_, fields: Fields, text) => {
    expect(await textOf(fields)).toBe(text);
  });

  it('is text, subtitles, events and verbose segments alike; words stay spoken', async () => {
    expect(await bodyOf({ itn: 'true', response_format: 'text' })).toBe(`${WRITTEN}\n`);
    for (const response_format of ['srt', 'vtt']) {
      const cues = await bodyOf({ itn: 'true', response_format });
      expect(cues).toContain('\nit cost $25\n');
      expect(cues).toContain('\non May 5 at 3:30 p.m.\n');
    }
    expect(await bodyOf({ itn: 'true', stream: 'true' })).toContain(
      'data: {"type":"transcript.text.delta","delta":"it cost $25"}\n\n' +
        'data: {"type":"transcript.text.delta","delta":" on May 5 at 3:30 p.m."}\n\n' +
        `data: {"type":"transcript.text.done","text":"${WRITTEN}"`,
    );
    const verbose = {
      itn: 'true',
      response_format: 'verbose_json',
      'timestamp_granularities[]': ['word', 'segment'],
    };
    const { text, segments, words } = JSON.parse(await bodyOf(verbose)) as Record<string, never> & {
      segments: { text: string }[];
      words: { word: string }[];
    };
    expect(text).toBe(WRITTEN);
    expect(segments.map(segment => segment.text)).toEqual(['it cost $25', 'on May 5 at 3:30 p.m.']);
    expect(words.map(({ word }) => word).join(' ')).toBe(SPOKEN);
  });

  it('is known for translations, whose text is English', async () => {
    expect(await textOf({ itn: 'true' }, '/v1/audio/translations')).toBe(WRITTEN);
    expect(await textOf({}, '/v1/audio/translations')).toBe(SPOKEN);
  });

  it.each(['yes', 'Yes', '2'])('is refused as %j', async itn => {
    await expectError(post({ itn }), {
      ...{ status: 400, code: 'invalid_value', param: 'itn' },
      message: `\`itn\` must be true or false; got "${itn}".`,
    });
  });

  it('is refused for a language without a normaliser, and only when asked for', async () => {
    await expectError(post({ itn: 'true', language: 'de' }), {
      ...{ status: 400, code: 'unsupported_parameter', param: 'itn' },
      message: '`itn` knows these languages: en; the text will be in de.',
    });
    expect((await post({ itn: 'false', language: 'de' })).status).toBe(200);
  });
});

describe('itn on a model whose spec says true', () => {
  it.each([
    ['absent', {}, WRITTEN],
    ['false', { itn: 'false' }, SPOKEN],
  ])('%s', async (_, fields: Fields, text) => {
    expect(await textOf({ model: 'writing', ...fields })).toBe(text);
  });

  it('does nothing in a language without a normaliser', async () => {
    expect(await textOf({ model: 'german', language: 'de' })).toBe(SPOKEN);
  });
});
