import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '@switchyard/engine-api/error-message.js';
import { type ModelFolder, PREPARED } from './model-files.js';

const TOKENIZER = 'tokenizer.bin';

interface PublishedMoonshine {
  readonly encoder: string;
  readonly mergedDecoder: string;
  /** Path of the token file for sherpa-onnx, which `prepareTokens` writes. */
  readonly tokens: string;
}

/**
 * The files of a Moonshine model as its makers publish it; undefined: the folder holds
 * another model.
 */
export function publishedMoonshineIn(folder: ModelFolder): PublishedMoonshine | undefined {
  const mergedDecoder = folder.named('decoder_model_merged.ort');
  if (mergedDecoder === undefined) return undefined;
  const encoder = folder.required('encoder_model.ort', folder.named('encoder_model.ort'));
  folder.required(TOKENIZER, folder.named(TOKENIZER));
  return { encoder, mergedDecoder, tokens: join(folder.path, PREPARED, 'tokens.txt') };
}

/** Writes `tokens.txt` beside the model, once, whole or not at all. @throws Error that names the folder */
export async function prepareTokens({ path }: ModelFolder): Promise<void> {
  const file = join(path, PREPARED, 'tokens.txt');
  if (existsSync(file)) return;
  const partial = `${file}.${process.pid}`;
  try {
    const tokens = tokensIn(await readFile(join(path, TOKENIZER)));
    await mkdir(join(path, PREPARED), { recursive: true });
    const lines = tokens.map((token, id) => `${token.toString('base64')} ${id}\n`);
    await writeFile(partial, lines.join(''));
    await rename(partial, file);
  } catch (cause) {
    const why = errorMessage(cause);
    throw new Error(`${TOKENIZER} of '${path}' cannot be prepared: ${why}`, { cause });
  } finally {
    await rm(partial, { force: true });
  }
}

/**
 * Each token behind its length, which takes two bytes from 128 on. @throws Error when the
 * file is cut off
 */
export function tokensIn(file: Buffer): readonly Buffer[] {
  const tokens: Buffer[] = [];
  for (let at = 0; at < file.length;) {
    const short = file[at++]!;
    const length = short < 128 ? short : short - 128 + 128 * (file[at++] ?? 0);
    if (at + length > file.length) throw new Error(`it is cut off after ${file.length} bytes`);
    tokens.push(file.subarray(at, at + length));
    at += length;
  }
  return tokens;
}
