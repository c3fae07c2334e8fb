import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { externalModel } from '../../support/external-model.js';
import { pcmWav } from '../../support/pcm-wav.js';
import { isReady } from '../../support/pool-harness.js';
import { DIARIZATION, speakerAt, TALK, TALK_RATE, talkPause, voice } from '../../support/talk.js';
import { audioForm } from './audio-forms.js';
import { errorOf, GatewayRig, until } from './gateway-rig.js';

interface Segment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly speaker: string;
}
interface Diarized {
  readonly task: string;
  readonly text: string;
  readonly segments: readonly Segment[];
}

const capabilities = ['transcribe', 'translate', 'diarize', 'prompt'];
const external = externalModel(['--strict', '--segment-s', '1'], {
  id: 'external',
  capabilities,
  options: DIARIZATION,
});

let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start({ models: [external], launch: 'hosted' });
  await until(() => rig.pool.workers().every(isReady));
}, 120_000);
afterAll(() => rig.close());

const post = (
  model: string,
  fields: Record<string, string>,
  route = 'transcriptions',
  audio = TALK,
) => {
  const form = {
    file: pcmWav(audio, TALK_RATE),
    fields: { model, response_format: 'diarized_json', ...fields },
  };
  return rig.post(`/v1/audio/${route}`, audioForm(form));
};
async function json(...request: Parameters<typeof post>): Promise<Diarized> {
  const response = await post(...request);
  const body = (await response.json()) as Diarized;
  if (response.status !== 200) throw new Error(JSON.stringify(body));
  return body;
}
const speakers = ({ segments }: Diarized) => segments.map(({ speaker }) => speaker);
const expected = ({ segments }: Diarized, high = 'B') =>
  segments.map(({ start, end }) => speakerAt((start + end) / 2, high));

describe.each(['external'])(
  'diarized_json of %s, whose speakers are told apart beside it',
  model => {
    it('names the speaker of each segment', async () => {
      const answer = await json(model, {});
      expect(speakers(answer)).toEqual(expected(answer));
      expect(new Set(speakers(answer))).toEqual(new Set(['A', 'B']));
      expect(answer.segments.length).toBeGreaterThan(2);
    });

    it('does so in translations', async () => {
      const answer = await json(model, {}, 'translations');
      expect(speakers(answer)).toEqual(expected(answer));
      expect(answer).toMatchObject({ task: 'translate', text: expect.any(String) });
    });

    it('calls a known voice by its name', async () => {
      const reference = `data:audio/wav;base64,${pcmWav(voice(2600, 2), TALK_RATE).toString('base64')}`;
      const answer = await json(model, {
        'known_speaker_names[]': 'Ann',
        'known_speaker_references[]': reference,
      });
      expect(speakers(answer)).toEqual(expected(answer, 'Ann'));
      expect(speakers(answer)).toContain('Ann');
    });

    it('is consistent over 72 seconds, which are an upload, and streams segments with their speakers', async () => {
      const long = Buffer.concat(Array.from({ length: 6 }, () => [TALK, talkPause]).flat());
      const response = await post(model, { stream: 'true' }, 'transcriptions', long);
      const events = (await response.text())
        .split('\n\n')
        .flatMap(each => /^data: (\{.*)/s.exec(each)?.[1] ?? []);
      const segments = events
        .map(event => JSON.parse(event) as Segment & { readonly type: string })
        .filter(({ type, start, end }) => type === 'transcript.text.segment' && end - start < 4);
      const answer = { task: '', text: '', segments };
      expect(segments.length).toBeGreaterThan(6);
      expect(speakers(answer)).toEqual(expected(answer));
    });

    it('fails a file that is no audio, with its field', async () => {
      const form = {
        file: Buffer.from('no audio at all'),
        fields: { model, response_format: 'diarized_json' },
      };
      const failure = await errorOf(rig.post('/v1/audio/transcriptions', audioForm(form)));
      expect(failure).toMatchObject({
        status: 400,
        code: 'invalid_audio',
        param: 'file',
      });
    });
  },
);

it('an external worker is asked for no speakers, and plain requests pass by the diarizer', async () => {
  const { text } = await json('external', { response_format: 'json' });
  expect(JSON.parse(text.split(' ')[0] ?? '')).toMatchObject({
    bytes: TALK.length + 44,
    together: 1,
  });
});
