import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Writable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { Command, Option } from 'commander';
import { SPEECH_FORMATS } from '../contracts/formats/speech.js';
import { parseNumber, writablePath } from './shared/arguments.js';
import { CliError, EXIT, interruptible } from './shared/cli-error.js';
import {
  GatewayClient,
  type GatewayClientOptions,
  withGatewayOptions,
} from './shared/gateway-client.js';
import { byteText } from './hub/disk-space.js';
import { RequestWatch } from './request-watch.js';
import { printJson, ProgressLine, say } from './shared/terminal.js';

interface SpeakOptions extends GatewayClientOptions {
  readonly model: string;
  readonly voice: string;
  readonly format?: string;
  readonly output?: string;
  readonly speed?: number;
  readonly instructions?: string;
  readonly priority?: string;
  readonly timings?: boolean;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  switchyard speak "Every request has a place in the queue." -o hello.mp3
  switchyard speak "Mind the gap." --voice nova --format wav -o - | aplay
  switchyard speak - --speed 1.2 -o chapter.opus < chapter.txt

The file is written during generation (default: speech.FORMAT in the current folder). Ctrl-C cancels the request.`;

export const speakCommand = (): Command =>
  withGatewayOptions(new Command('speak'))
    .description('text to speech by a running gateway')
    .argument('<text>', 'text to speak, or - for stdin')
    .option('-m, --model <name>', 'model or alias', 'tts-1')
    .option('-v, --voice <name>', 'voice of the model', 'alloy')
    .addOption(
      new Option(
        '-f, --format <format>',
        'audio format (default: the extension of the file, else mp3)',
      ).choices(SPEECH_FORMATS),
    )
    .option('-o, --output <file>', 'output file; - is stdout')
    .option('--speed <number>', '0.25 to 4', parseNumber(0.25, 4))
    .option('--instructions <text>', 'how to speak, for models that support it')
    .addOption(
      new Option('--priority <class>', 'queue class').choices(['realtime', 'batch']),
    )
    .option('--timings', 'report the time per phase on stderr')
    .option('--json', 'the file, its size and the request id as one JSON document')
    .addHelpText('after', EXAMPLES)
    .action((text: string, options: SpeakOptions) =>
      interruptible(signal => speak(text, options, signal)),
    );

async function speak(
  text: string,
  options: SpeakOptions,
  signal: AbortSignal,
): Promise<void> {
  const client = new GatewayClient(options);
  const id = `cli-${randomUUID()}`;
  const format = options.format ?? formatOf(options.output);
  const output = options.output ?? `speech.${format}`;
  if (options.json && output === '-')
    throw new CliError('--json and -o - both go to stdout; name a file', EXIT.usage);
  const path = output === '-' ? undefined : await writablePath(output);
  const { model, voice, instructions, speed, priority } = options;
  const body = JSON.stringify({
    ...{ model, voice, instructions, response_format: format },
    input: text === '-' ? await textOf(process.stdin) : text,
    ...(speed !== undefined && { speed }),
  });
  const headers = {
    'content-type': 'application/json',
    'x-request-id': id,
    ...(priority && { 'x-priority': priority }),
  };
  const line = new ProgressLine();
  const watch = new RequestWatch(client, id, line);
  try {
    const response = await client.request('/v1/audio/speech', {
      method: 'POST',
      body,
      headers,
      signal,
    });
    watch.stop();
    const bytes = await save(response, { output, path, signal, line });
    if (options.json)
      printJson({ file: path, format, bytes, model, voice, request_id: id });
    if (options.timings) say(await watch.timings());
  } finally {
    watch.stop();
  }
}

function formatOf(output: string | undefined): string {
  const extension = extname(output ?? '').slice(1);
  return SPEECH_FORMATS.find(known => known === extension) ?? 'mp3';
}

async function save(
  response: Response,
  {
    output,
    path,
    signal,
    line,
  }: {
    output: string;
    path: string | undefined;
    signal: AbortSignal;
    line: ProgressLine;
  },
): Promise<number> {
  let bytes = 0;
  const target: Writable = path === undefined ? process.stdout : createWriteStream(path);
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of response.body ?? []) {
      bytes += (chunk as Uint8Array).length;
      if (path !== undefined && process.stderr.isTTY)
        line.show(`${output}: ${byteText(bytes)}`);
      yield chunk as Uint8Array;
    }
  };
  try {
    await pipeline(counted, target, { signal, end: path !== undefined });
  } catch (error) {
    line.clear();
    // An incomplete recording must not stay under the name of a complete one.
    if (path !== undefined) await rm(path, { force: true });
    signal.throwIfAborted();
    throw new CliError(
      `the speech is incomplete: ${(error as Error).message}`,
      EXIT.failed,
      { cause: error },
    );
  }
  line.clear();
  if (path !== undefined) say(`${output}: ${byteText(bytes)}`);
  return bytes;
}
