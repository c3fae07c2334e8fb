import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Command, Option } from 'commander';
import {
  fileBlob,
  namedValue,
  parseNumber,
  repeatable,
  writablePath,
} from './shared/arguments.js';
import { CliError, EXIT, interruptible } from './shared/cli-error.js';
import {
  GatewayClient,
  type GatewayClientOptions,
  withGatewayOptions,
} from './shared/gateway-client.js';
import { serverEvents } from './shared/server-events.js';
import { RequestWatch } from './request-watch.js';
import { ProgressLine, say } from './shared/terminal.js';

interface TranscribeOptions extends GatewayClientOptions {
  readonly model: string;
  readonly format: string;
  readonly output?: string;
  readonly stream?: boolean;
  readonly translate?: boolean;
  readonly timings?: boolean;
  readonly language?: string;
  readonly prompt?: string;
  readonly temperature?: number;
  readonly timestamps?: string[];
  readonly itn?: boolean;
  readonly priority?: string;
  readonly json?: boolean;
  readonly field: readonly string[];
}

const JSON_FORMATS: readonly string[] = ['json', 'verbose_json', 'diarized_json'];
const FORMATS = ['text', ...JSON_FORMATS, 'srt', 'vtt'];

const EXAMPLES = `
Examples:
  switchyard transcribe meeting.m4a
  switchyard transcribe talk.mp3 --format srt -o talk.srt
  switchyard transcribe call.wav --format verbose_json --timestamps word | jq .words
  ffmpeg -i video.mkv -f wav - | switchyard transcribe - --language en
  switchyard transcribe https://example.com/speech.mp3 --priority batch

Text is printed as it arrives; the queue position is reported on stderr. Ctrl-C cancels the request.`;

export const transcribeCommand = (): Command =>
  withGatewayOptions(new Command('transcribe'))
    .description('audio to text by a running gateway')
    .argument('<file>', 'an audio file, - for stdin, or a URL that the gateway may fetch')
    .option('-m, --model <name>', 'model or alias', 'whisper-1')
    .addOption(
      new Option('-f, --format <format>', 'response format')
        .choices(FORMATS)
        .default('text'),
    )
    .option('-o, --output <file>', 'write the answer to a file (default: stdout)')
    .option('--no-stream', 'wait for the whole text')
    .option('-l, --language <tag>', 'spoken language, such as en')
    .option('--prompt <text>', 'words and context to expect')
    .option('--temperature <number>', '0 to 1', parseNumber(0, 1))
    .option('--timestamps <kinds...>', 'word, segment (with --format verbose_json)')
    .option('--itn', 'write "25%" for "twenty five percent"')
    .option('--no-itn', 'leave numbers as they were spoken')
    .option('--translate', 'translate into English')
    .addOption(
      new Option('--priority <class>', 'queue class').choices(['realtime', 'batch']),
    )
    .addOption(repeatable('--field <name=value>', 'any other field of the API'))
    .option('--timings', 'report the time per phase on stderr')
    .option(
      '--json',
      'the answer as one JSON document: --format json, unless another JSON format is named',
    )
    .addHelpText('after', EXAMPLES)
    .action((file: string, options: TranscribeOptions) =>
      interruptible(signal => transcribe(file, withFormat(options), signal)),
    );

/** @throws CliError exit code 2 for `--json` with a format that is none */
function withFormat(options: TranscribeOptions): TranscribeOptions {
  if (!options.json || JSON_FORMATS.includes(options.format)) return options;
  if (options.format === 'text') return { ...options, format: 'json' };
  throw new CliError(
    `--json goes with the formats ${JSON_FORMATS.join(', ')}, not ${options.format}`,
    EXIT.usage,
  );
}

async function transcribe(
  file: string,
  options: TranscribeOptions,
  signal: AbortSignal,
): Promise<void> {
  const client = new GatewayClient(options);
  const id = `cli-${randomUUID()}`;
  const sink = textSink(
    options.output === undefined ? undefined : await writablePath(options.output),
  );
  const body = await formOf(file, options);
  const route = options.translate ? 'translations' : 'transcriptions';
  const headers = {
    'x-request-id': id,
    ...(options.priority && { 'x-priority': options.priority }),
  };
  const watch = new RequestWatch(client, id, new ProgressLine());
  try {
    const response = await client.request(`/v1/audio/${route}`, {
      method: 'POST',
      body,
      headers,
      signal,
    });
    if (streams(options))
      await copyDeltas(response, text => (watch.stop(), sink.write(text)));
    else sink.write(await response.text());
    watch.stop();
    sink.end();
    if (options.timings) say(await watch.timings());
  } finally {
    watch.stop();
  }
}

/** Text is streamed by default; every other format is one document. */
const streams = ({ stream, format, translate }: TranscribeOptions): boolean =>
  stream !== false && format === 'text' && !translate;

async function copyDeltas(
  response: Response,
  write: (text: string) => void,
): Promise<void> {
  for await (const event of serverEvents(response)) {
    if (event.type === 'transcript.text.delta') write(String(event.delta));
  }
}

async function formOf(file: string, options: TranscribeOptions): Promise<FormData> {
  const form = new FormData();
  form.set('model', options.model);
  form.set('response_format', options.format);
  if (streams(options)) form.set('stream', 'true');
  for (const name of ['language', 'prompt', 'temperature'] as const) {
    const value = options[name];
    if (value !== undefined) form.set(name, String(value));
  }
  if (options.itn !== undefined) form.set('itn', String(options.itn));
  for (const kind of options.timestamps ?? [])
    form.append('timestamp_granularities[]', kind);
  for (const field of options.field) form.append(...namedValue('--field', field));
  // Last: the gateway checks the fields before it reads the audio.
  if (/^https?:\/\//.test(file)) form.set('file_url', file);
  else form.set('file', await audio(file), file === '-' ? 'stdin' : basename(file));
  return form;
}

const audio = async (file: string): Promise<Blob> =>
  file === '-' ? new Blob([await buffer(process.stdin)]) : fileBlob(file);

/** Writes to stdout as text arrives, or into a file once the text is complete. */
function textSink(path: string | undefined): { write(text: string): void; end(): void } {
  let written = '';
  return {
    write: text => {
      written += text;
      if (path === undefined) process.stdout.write(text);
    },
    end: () => {
      const rest = written.endsWith('\n') ? '' : '\n';
      if (path === undefined) process.stdout.write(rest);
      else writeFileSync(path, written + rest);
    },
  };
}
