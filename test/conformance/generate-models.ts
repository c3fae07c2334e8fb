import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { freePort } from '../support/free-port.js';
import { llamaModel } from '../support/llama-model.js';

/**
 * Writes `models.yaml` into a folder, with the GGUF files that its models of llama.cpp
 * name, a free port for each model that has an address or a server behind it, and the
 * Python of FOLDER in each command; and `addresses.json`, which names those addresses.
 * Usage: node --import test/support/typescript-loader.mjs generate-models.ts FOLDER
 */
const SHAPES = {
  text: {},
  long: { contextTokens: 8192 },
  mean: { pooling: 'mean' },
  last: { pooling: 'last', seed: 2 },
} as const;

interface GivenModel {
  readonly id: string;
  readonly engine: string;
  readonly options?: { readonly modelFile: keyof typeof SHAPES };
  readonly addresses?: readonly string[];
  readonly command?: readonly string[];
}

const folder = process.argv[2]!;
const document = parseDocument(await readFile(new URL('models.yaml', import.meta.url), 'utf8'));
const { models } = document.toJS() as { models: GivenModel[] };
const addresses: Record<string, string> = {};
for (const [index, { id, engine, options, addresses: given, command }] of models.entries()) {
  if (engine === 'llama-cpp') {
    const file = join(folder, `${options!.modelFile}.gguf`);
    await copyFile(await llamaModel(SHAPES[options!.modelFile]), file);
    document.setIn(['models', index, 'options', 'modelFile'], file);
  }
  if (engine === 'openai-http') {
    addresses[id] = `127.0.0.1:${await freePort()}`;
    document.setIn(['models', index, 'options', 'baseUrl'], `http://${addresses[id]}/v1`);
  }
  if (command)
    document.setIn(['models', index, 'command', 0], join(folder, 'venv', 'bin', 'python'));
  if (given) {
    addresses[id] = `127.0.0.1:${await freePort()}`;
    document.setIn(['models', index, 'addresses'], [addresses[id]]);
  }
}
await writeFile(join(folder, 'addresses.json'), JSON.stringify(addresses));
await writeFile(join(folder, 'models.yaml'), document.toString());
