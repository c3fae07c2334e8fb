import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Writable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { SPEECH_FORMATS } from '@switchyard/worker-protocol/speech-format.js';
import { parseNumber, writablePath } from '../shared/arguments.js';
import { CliError, EXIT, usageError } from '../shared/cli-error.js';
import { gatewayCommand } from '../shared/command.js';
import { ProgressLine, say, byteText } from '../shared/terminal.js';
import { watchedRequest } from './request-watch.js';

const HELP = `
Examples:
  switchyard speak "Every request has a place in the queue." -o hello.mp3
  switchyard speak "Mind the gap." --voice nova --format wav -o - | aplay
  switchyard speak - --speed 1.2 -o chapter.opus < chapter.txt

The file is written during generation (default: speech.FORMAT in the current folder). Ctrl-C cancels the request.`;

export const speakCommand = gatewayCommand('speak <text>', {
  about: 'text to speech by a running gateway',
  arg: 'text to speak, or - for stdin',
  help: HELP,
  options: {
    '-m, --model <name>': ['model or alias', undefined, 'tts-1'],
    '-v, --voice <name>': ['voice of the model', undefined, 'alloy'],
    '-f, --format <format>': [
      'audio format (default: the extension of the file, else mp3)',
      SPEECH_FORMATS,
    ],
    '-o, --output <file>': 'output file; - is stdout',
    '--speed <number>': ['0.25 to 4', parseNumber(0.25, 4)],
    '--instructions <text>': 'how to speak, for models that support it',
    '--priority <class>': ['queue class', ['realtime', 'batch']],
    '--timings': 'report the time per phase on stderr',
  },
  json: 'the file, its size and the request id as one JSON document',
  async run({ client, signal, arg: text, options }) {
    const { model, voice, instructions, speed, priority, timings, json } = options;
    const format = options.format ?? formatOf(options.output);
    const output = options.output ?? `speech.${format}`;
    if (json && output === '-') throw usageError('--json and -o - both go to stdout; name a file');
    const path = output === '-' ? undefined : await writablePath(output);
    const body = {
      model,
      voice,
      instructions,
      response_format: format,
      input: text === '-' ? await textOf(process.stdin) : text,
      speed,
    };
    using watch = watchedRequest(client);
    const response = await watch.post('/v1/audio/speech', body, priority);
    watch.stop();
    const bytes = await save(response, output, path, signal);
    if (timings) say(await watch.timings());
    return { file: path, format, bytes, model, voice, request_id: watch.id };
  },
});

function formatOf(output = ''): string {
  const extension = extname(output).slice(1);
  return SPEECH_FORMATS.find(known => known === extension) ?? 'mp3';
}

/** @param path undefined: stdout @returns the number of bytes written */
async function save(
  response: Response,
  output: string,
  path: string | undefined,
  signal: AbortSignal,
) {
  using line = new ProgressLine();
  const target: Writable = path === undefined ? process.stdout : createWriteStream(path);
  let bytes = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (path !== undefined && process.stderr.isTTY) line.show(`${output}: ${byteText(bytes)}`);
      yield chunk;
    }
  };
  try {
    await pipeline(counted, target, { signal, end: path !== undefined });
  } catch (error) {
    // An incomplete recording must not stay under the name of a complete one.
    if (path !== undefined) await rm(path, { force: true });
    signal.throwIfAborted();
    const message = `the speech is incomplete: ${(error as Error).message}`;
    throw new CliError(message, EXIT.failed, { cause: error });
  }
  line.clear();
  if (path !== undefined) say(`${output}: ${byteText(bytes)}`);
  return bytes;
}
