import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../test/support/temporary-folder.js';
import { ModelFolder } from './model-files.js';
import { prepareTokens, publishedMoonshineIn, tokensIn } from './published-moonshine.js';

const long = 'x'.repeat(300);
const TOKENIZER = Buffer.concat([
  ...[Buffer.from([5]), Buffer.from('<unk>'), Buffer.from([1, 0])],
  ...[Buffer.from([128 + (300 % 128), Math.floor(300 / 128)]), Buffer.from(long)],
]);

function folderWith(...names: readonly string[]): string {
  const path = temporaryFolder();
  for (const name of names)
    writeFileSync(join(path, name), name === 'tokenizer.bin' ? TOKENIZER : '');
  return path;
}

describe('a Moonshine model as it is published', () => {
  it('has tokens of one byte, of bytes and of more than 127 bytes', () => {
    expect(tokensIn(TOKENIZER).map(String)).toEqual(['<unk>', '\0', long]);
    expect(() => tokensIn(TOKENIZER.subarray(0, -1))).toThrow('cut off after 309 bytes');
  });

  it('is prepared: the library reads its tokens in base64', async () => {
    const path = folderWith('encoder_model.ort', 'decoder_model_merged.ort', 'tokenizer.bin');
    const folder = ModelFolder.open(path, 'int8');
    const { tokens } = publishedMoonshineIn(folder)!;
    await prepareTokens(folder);
    expect(readFileSync(tokens, 'utf8')).toBe(`${btoa('<unk>')} 0\nAA== 1\n${btoa(long)} 2\n`);
  });

  it('is told from other folders by its decoder, and says what is missing', () => {
    expect(publishedMoonshineIn(ModelFolder.open(folderWith('x.onnx'), 'int8'))).toBeUndefined();
    const half = ModelFolder.open(folderWith('decoder_model_merged.ort'), 'int8');
    expect(() => publishedMoonshineIn(half)).toThrow('encoder_model.ort is missing');
  });
});
