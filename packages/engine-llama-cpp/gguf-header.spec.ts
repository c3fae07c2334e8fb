import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { llamaModel } from '../../test/support/llama-model.js';
import { temporaryFolder } from '../../test/support/temporary-folder.js';
import { vocabularySizeOf } from './gguf-header.js';

describe('vocabularySizeOf', () => {
  it('is the number of tokens, behind whatever stands before them in the file', async () => {
    const small = vocabularySizeOf(await llamaModel())!;
    expect(small).toBeGreaterThan(256);
    expect(vocabularySizeOf(await llamaModel({ extraTokens: 5000 }))).toBe(small + 5000);
  });

  it('is unknown of what is not there, is no GGUF file, or ends before it', async () => {
    const model = await readFile(await llamaModel());
    const file = join(temporaryFolder(), 'model.gguf');
    const written = async (bytes: Buffer) => {
      await writeFile(file, bytes);
      return vocabularySizeOf(file);
    };
    expect(vocabularySizeOf(`${file}.none`)).toBeUndefined();
    expect(await written(Buffer.from('a text, not a model'))).toBeUndefined();
    for (const bytes of [0, 3, 10, 30, 60])
      expect(await written(model.subarray(0, bytes))).toBeUndefined();
    expect(await written(model.subarray(0, 60_000))).toBe(vocabularySizeOf(await llamaModel()));
  });
});
