import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { llamaModel } from '../support/llama-model.js';

/**
 * Writes `models.yaml` into a folder, with the GGUF files that its models of llama.cpp name.
 * Usage: node --import test/support/typescript-loader.mjs generate-models.ts FOLDER
 */
const SHAPES = { text: {}, mean: { pooling: 'mean' }, last: { pooling: 'last', seed: 2 } } as const;

const folder = process.argv[2]!;
const document = parseDocument(await readFile(new URL('models.yaml', import.meta.url), 'utf8'));
const { models } = document.toJS() as { models: { engine: string; options?: { modelFile: keyof typeof SHAPES } }[] };
for (const [index, { engine, options }] of models.entries()) {
  if (engine !== 'llama-cpp') continue;
  const file = join(folder, `${options!.modelFile}.gguf`);
  await copyFile(await llamaModel(SHAPES[options!.modelFile]), file);
  document.setIn(['models', index, 'options', 'modelFile'], file);
}
await writeFile(join(folder, 'models.yaml'), document.toString());
