import { existsSync, globSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { errorMessage } from '@switchyard/engine-api/error-message.js';
import { installCommand } from '@switchyard/engine-api/install-command.js';
import { z } from 'zod';
import { type ModelFolder, PREPARED } from './model-files.js';
import { onnxField } from './onnx-file.js';
import { stoppableVoice } from './stoppable-voice.js';

/** `NAME.onnx.json`, as Piper writes it beside a voice. */
const DESCRIPTION = z.object({
  audio: z.object({ sample_rate: z.number().int().positive() }),
  espeak: z.object({ voice: z.string() }),
  phoneme_id_map: z.record(z.string(), z.tuple([z.number().int()], z.number())),
  num_speakers: z.number().int().positive().default(1),
  speaker_id_map: z.record(z.string(), z.number().int()).default({}),
  language: z.object({ name_english: z.string() }).partial().default({}),
});

interface PiperVoice {
  /** Path of the .onnx file. */
  readonly model: string;
  readonly description: z.output<typeof DESCRIPTION>;
  /** Names of the speakers by number; empty for a single speaker. */
  readonly speakers: readonly string[];
}

const ESPEAK_DATA = 'espeak-ng-data';
/** Where Debian's package espeak-ng-data and other systems have the data. */
const SYSTEM_DATA = ['/usr/lib/*', '/usr/share', '/opt/homebrew/share', '/usr/local/share'].map(
  folder => `${folder}/espeak-ng-data`,
);

/**
 * The voice of a folder as Piper publishes it: `NAME.onnx`, `NAME.onnx.json` and no
 * tokens.txt. Undefined: it is in the form of sherpa-onnx, or no voice.
 * @throws Error that names the file that cannot be read
 */
export function piperVoiceIn(folder: ModelFolder): PiperVoice | undefined {
  const model = folder.tokens === undefined ? folder.model('.onnx') : undefined;
  const path = `${model}.json`;
  if (model === undefined || !existsSync(path)) return undefined;
  try {
    const description = DESCRIPTION.parse(parseBoundedJson(readFileSync(path, 'utf8')));
    const byNumber = Object.entries(description.speaker_id_map).sort(([, a], [, b]) => a - b);
    return { model, description, speakers: byNumber.map(([name]) => name) };
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : errorMessage(cause);
    throw new Error(`${path} is not what Piper writes: ${why}`, { cause });
  }
}

/** @throws Error that says how to get it */
export function espeakDataFor({ path }: ModelFolder): string {
  const own = join(path, ESPEAK_DATA);
  if (existsSync(own)) return own;
  const [found] = SYSTEM_DATA.flatMap(pattern => globSync(pattern)).sort();
  if (found !== undefined) return found;
  throw new Error(
    `The voice in '${path}' needs espeak-ng-data, which is not here: ` +
      `${installCommand([ESPEAK_DATA])}, or put that folder beside the voice.`,
  );
}

/**
 * A folder that sherpa-onnx loads: the model, which a `VoiceStop` can end, with the metadata
 * that its exporters write, tokens.txt and espeak-ng-data. Made once, whole or not at all.
 */
export async function prepareVoice(
  folder: ModelFolder,
  { model, description }: PiperVoice,
): Promise<string> {
  const prepared = join(folder.path, `${PREPARED}-voice`);
  const espeakData = espeakDataFor(folder);
  if (existsSync(join(prepared, 'tokens.txt'))) return prepared;
  let partial = '';
  try {
    partial = await mkdtemp(`${prepared}.`);
    const pieces = stoppableVoice(model, await readFile(model));
    // An entry of a repeated field may stand anywhere in a protobuf message.
    await writeFile(join(partial, 'model.onnx'), [...pieces, metadataBytes(description)]);
    await symlink(espeakData, join(partial, ESPEAK_DATA));
    const tokens = Object.entries(description.phoneme_id_map);
    const lines = tokens.map(([symbol, [id]]) => `${symbol} ${id}\n`);
    await writeFile(join(partial, 'tokens.txt'), lines.join(''));
    // mkdtemp makes it for its owner only; the models beside it are for everybody.
    await chmod(partial, 0o755);
    await rename(partial, prepared);
  } catch (cause) {
    // Another worker of the model was first.
    if (!existsSync(join(prepared, 'tokens.txt')))
      throw new Error(
        `The voice in '${folder.path}' is prepared in that folder once, which failed: ${errorMessage(cause)}`,
        { cause },
      );
  } finally {
    if (partial) await rm(partial, { recursive: true, force: true });
  }
  return prepared;
}

/**
 * What sherpa-onnx reads of a voice, as `metadata_props` of ModelProto (onnx.proto): field
 * 14, entries of key 1 and value 2.
 */
function metadataBytes(description: PiperVoice['description']): Buffer {
  const { audio, espeak, num_speakers: speakers, language } = description;
  const entries = {
    model_type: 'vits',
    comment: 'piper',
    has_espeak: '1',
    language: language.name_english ?? '',
    voice: espeak.voice,
    n_speakers: String(speakers),
    sample_rate: String(audio.sample_rate),
  };
  const fields = Object.entries(entries).map(([key, value]) =>
    Buffer.concat([onnxField(1, key), onnxField(2, value)]),
  );
  return Buffer.concat(fields.map(bytes => onnxField(14, bytes)));
}
