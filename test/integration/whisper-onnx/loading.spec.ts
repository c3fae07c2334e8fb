import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type WhisperOnnxOptions } from '../../../src/worker/engines/whisper-onnx/options.js';
import { endlessRhythm, whisperEngine, whisperFolder } from '../../support/whisper-model.js';
import { pcm, transcribeItem } from '../../contract/engines/engine-items.js';

describe('whisper-onnx load()', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'whisper-'));
    cpSync(whisperFolder('random'), folder, { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const edit = (name: string, changes: object) => {
    const content = JSON.parse(readFileSync(join(folder, name), 'utf8')) as object;
    writeFileSync(join(folder, name), JSON.stringify({ ...content, ...changes }));
  };
  async function problem(changes: Partial<WhisperOnnxOptions> = {}): Promise<string> {
    const engine = whisperEngine({ modelDir: folder, ...changes });
    const message = await engine.load().then(
      () => 'loaded',
      (error: unknown) => (error as Error).message,
    );
    await engine.close();
    return message;
  }

  it('takes the weights from onnx/ or from the folder itself', async () => {
    for (const name of ['encoder_model.onnx', 'decoder_model_merged.onnx']) {
      renameSync(join(folder, 'onnx', name), join(folder, name));
    }
    expect(await problem()).toBe('loaded');
  });

  it.each([
    ['tokenizer.json', 'has no tokenizer.json'],
    ['config.json', 'has no config.json'],
    ['onnx/decoder_model_merged.onnx', 'has no onnx/decoder_model_merged.onnx'],
  ])('names a missing %s', async (name, expected) => {
    rmSync(join(folder, name));
    expect(await problem()).toContain(expected);
  });

  it('names the folder, the weights of a dtype, and the field that does not fit', async () => {
    expect(await problem({ modelDir: join(folder, 'nowhere') })).toContain('nowhere does not exist (options.modelDir)');
    expect(await problem({ dtype: { encoder: 'q8', decoder: 'q8' } })).toContain('encoder_model_quantized.onnx');
    edit('config.json', { decoder_layers: 3 });
    expect(await problem()).toContain('no input past_key_values.2.decoder.key');
    edit('config.json', { model_type: 'bert' });
    expect(await problem()).toContain('model_type is "bert"');
  });

  it('refuses features that it does not compute', async () => {
    edit('preprocessor_config.json', { hop_length: 320 });
    expect(await problem()).toContain('hop_length is 320');
  });

  it('says what a CUDA device needs instead of falling back to the CPU', async () => {
    expect(await problem({ device: 'cuda:0' })).toMatch(/cannot open .* on cuda:0: .*switchyard gpu check/s);
  });

  it('cancels what runs on close, and closes once', async () => {
    const engine = whisperEngine();
    await engine.load();
    const running = engine.transcribe([
      transcribeItem(pcm(endlessRhythm(5)), { onSegment: () => void engine.close() }),
    ]);
    expect(await running).toMatchObject([{ ok: false, error: { code: 'request_cancelled' } }]);
    await engine.close();
  });
});
