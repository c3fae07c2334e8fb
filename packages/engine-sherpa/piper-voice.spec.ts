import { cpSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../test/support/temporary-folder.js';
import { ModelFolder } from './model-files.js';
import { readOnnxMetadata } from './onnx-file.js';
import { piperVoiceIn, prepareVoice } from './piper-voice.js';

const MODEL = 'test/fixtures/sherpa/vits/model.onnx';
const DESCRIPTION = {
  audio: { sample_rate: 16_000, quality: 'low' },
  espeak: { voice: 'en-us' },
  phoneme_id_map: { _: [0], '^': [1], $: [2], a: [6], ə: [10] },
  num_speakers: 2,
  speaker_id_map: { ann: 1, bob: 0 },
  language: { name_english: 'English' },
};

describe('a voice as Piper publishes it', () => {
  let path: string;
  beforeEach(() => {
    path = temporaryFolder();
    cpSync(MODEL, join(path, 'en_US-x-low.onnx'));
    describeAs(DESCRIPTION);
  });

  const describeAs = (description: object) =>
    writeFileSync(join(path, 'en_US-x-low.onnx.json'), JSON.stringify(description));
  const folder = () => ModelFolder.open(path, 'float32');

  it('gets tokens, metadata and pronunciation beside it once; the file itself stays', async () => {
    const before = readOnnxMetadata(MODEL).get('comment');
    const voice = piperVoiceIn(folder())!;
    expect(voice.speakers).toEqual(['bob', 'ann']);
    const prepared = await prepareVoice(folder(), voice);
    const files = ModelFolder.open(prepared, 'float32');
    expect(files.listing).toBe('espeak-ng-data, model.onnx, tokens.txt');
    expect(Object.fromEntries(readOnnxMetadata(join(prepared, 'model.onnx')))).toMatchObject({
      model_type: 'vits',
      comment: 'piper',
      has_espeak: '1',
      voice: 'en-us',
      n_speakers: '2',
      sample_rate: '16000',
      language: 'English',
    });
    expect(readOnnxMetadata(join(path, 'en_US-x-low.onnx')).get('comment')).toBe(before);
    expect(await prepareVoice(folder(), voice)).toBe(prepared);
    expect(existsSync(join(prepared, 'espeak-ng-data', 'phontab'))).toBe(true);
    // Other users may have to load it: in an image it was made by root.
    expect(statSync(prepared).mode & 0o777).toBe(0o755);
  });

  it('is prepared by one of several workers that start together', async () => {
    const voice = piperVoiceIn(folder())!;
    const made = await Promise.all([1, 2, 3].map(() => prepareVoice(folder(), voice)));
    expect(new Set(made).size).toBe(1);
  });

  it('is another one with tokens.txt, and an error names what its description lacks', () => {
    describeAs({ ...DESCRIPTION, audio: {} });
    expect(() => piperVoiceIn(folder())).toThrow(
      /x-low\.onnx\.json is not what Piper writes: [^]*audio\.sample_rate/,
    );
    writeFileSync(join(path, 'tokens.txt'), '_ 0\n');
    expect(piperVoiceIn(folder())).toBeUndefined();
  });
});
