import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type RecognizedTranscript } from '../../../src/worker/engines/speech-recognizer.js';
import { type WeightTypes, type WhisperOnnxOptions } from '../../../src/worker/engines/whisper-onnx/options.js';
import { pcm, transcribeItem } from '../../contract/engines/engine-items.js';
import { valuesOf } from '../../contract/engines/recognizer-contract.js';
import { rhythm, whisperEngine, whisperFolder } from '../../support/whisper-model.js';

const VARIANTS = fileURLToPath(new URL('../../fixtures/whisper/random-variants', import.meta.url));
const HALF: WeightTypes = { encoder: 'fp16', decoder: 'fp16' };
const items = () => [7, 8, 9].map(seed => transcribeItem(pcm(rhythm(3, seed))));

describe('whisper-onnx on other exports of the same weights', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'whisper-'));
    cpSync(whisperFolder('random'), folder, { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const use = (variant: string) => cpSync(join(VARIANTS, variant), join(folder, 'onnx'), { recursive: true });

  async function heard(
    changes: Partial<WhisperOnnxOptions> = {},
  ): Promise<{ revision: string; texts: RecognizedTranscript[] }> {
    const engine = whisperEngine({ modelDir: folder, ...changes });
    try {
      await engine.load();
      return { revision: engine.info.revision, texts: valuesOf(await engine.transcribe(items())) };
    } finally {
      await engine.close();
    }
  }
  const problem = (changes: Partial<WhisperOnnxOptions> = {}) =>
    heard(changes).then(
      () => 'loaded',
      (error: unknown) => (error as Error).message,
    );

  it('takes 16 bit inputs, and hears what the export with keep_io_types hears', async () => {
    use('half');
    const half = await heard({ dtype: HALF });
    expect(half.texts.map(({ text }) => text).join('')).not.toBe('');
    expect(half.revision).toMatch(/^whisper fp16 /);
    use('half-keep-io');
    const kept = await heard({ dtype: HALF });
    expect(kept.texts.map(({ text }) => text)).toEqual(half.texts.map(({ text }) => text));
  });

  it('hears three files at once in 16 bit as each alone', async () => {
    use('half');
    const engine = whisperEngine({ modelDir: folder, dtype: HALF });
    await engine.load();
    const together = valuesOf(await engine.transcribe(items()));
    const alone = [];
    for (const item of items()) alone.push(...valuesOf(await engine.transcribe([item])));
    await engine.close();
    expect(together.map(({ text }) => text)).toEqual(alone.map(({ text }) => text));
  });

  it.each([
    [{ encoder: 'fp16', decoder: 'fp32' } as const, 'half', 'whisper fp16+fp32 '],
    [{ encoder: 'fp32', decoder: 'fp16' } as const, 'half', 'whisper fp32+fp16 '],
    [{ encoder: 'fp16', decoder: 'fp32' } as const, 'half-keep-io', 'whisper fp16+fp32 '],
  ])('takes %j of %s', async (dtype, variant, revision) => {
    use(variant);
    const mixed = await heard({ dtype });
    expect(mixed.revision.startsWith(revision)).toBe(true);
    expect(mixed.texts.every(({ segments }) => segments.length > 0)).toBe(true);
  });

  it('gives newer exports their cache_position, and hears the same', async () => {
    const { texts } = await heard();
    use('cache-position');
    expect((await heard()).texts).toEqual(texts);
  });

  it('names an input that it cannot fill', async () => {
    use('cache-position');
    const file = join(folder, 'onnx/decoder_model_merged.onnx');
    const bytes = readFileSync(file, 'latin1').replaceAll('cache_position', 'cache_unknowns');
    writeFileSync(file, bytes, 'latin1');
    expect(await problem()).toContain(
      'decoder_model_merged.onnx does not fit config.json or is no public Whisper export: ' +
        'it has the unknown input cache_unknowns.',
    );
  });

  it('reads weights from files of their own, which are part of the revision', async () => {
    const { texts } = await heard();
    use('external-data');
    const external = await heard();
    expect(external.texts).toEqual(texts);
    const data = join(folder, 'onnx/decoder_model_merged.onnx_data');
    const bytes = readFileSync(data);
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(data, bytes);
    expect((await heard()).revision).not.toBe(external.revision);
  });

  it('says before it loads which file of weights is missing or incomplete', async () => {
    use('external-data');
    const data = join(folder, 'onnx/decoder_model_merged.onnx_data');
    const bytes = readFileSync(data);
    writeFileSync(data, bytes.subarray(0, 50_000));
    const incomplete = `${data} is incomplete: it has 50000 bytes, decoder_model_merged.onnx needs `;
    expect(() => whisperEngine({ modelDir: folder }).checkFiles()).toThrow(incomplete);
    expect(await problem()).toContain(incomplete);
    rmSync(data);
    expect(await problem()).toBe(`${data} is missing; decoder_model_merged.onnx keeps its weights there.`);
  });

  it('says that an .onnx file is cut off, or is something else', async () => {
    const file = join(folder, 'onnx/encoder_model.onnx');
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, 20_000));
    expect(await problem()).toMatch(/encoder_model\.onnx is cut off: it has 20000 bytes and needs at least \d{5}\./);
    writeFileSync(file, '<!doctype html>');
    expect(await problem()).toMatch(/encoder_model\.onnx is (no ONNX file|cut off)/);
  });

  it('refuses what does not fit into its memory, with what would', async () => {
    const engine = whisperEngine({ modelDir: folder });
    expect(engine.checkFiles()).toMatch(/^needs 1 MB: weights 1 MB, 8 rows of 1 MB for the audio and up to 1 MB for/);
    const rows = 64;
    expect(await problem({ maxBatch: rows, memoryMb: 1 })).toMatch(
      /^needs \d MB: weights 1 MB, 64 rows of .*, but options\.memoryMb allows 1 MB: set maxBatch to at most \d\d/,
    );
  });

  it('refuses a graph that loads and cannot compute', async () => {
    const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as { vocab_size: number };
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, vocab_size: config.vocab_size + 1 }));
    expect(await problem()).toMatch(/cannot compute a window: it scores \d+ tokens; config\.json has vocab_size \d+/);
  });
});
