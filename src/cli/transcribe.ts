import { randomUUID } from 'node:crypto';
import { constants, openAsBlob, writeFileSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Command, Option } from 'commander';
import { launchDirectory } from '../platform/config/launch-directory.js';
import { CliError, EXIT, interruptible } from './cli-error.js';
import { GatewayClient, type GatewayOptions, serverEvents, withGatewayOptions } from './gateway-client.js';
import { RequestWatch } from './request-watch.js';
import { ProgressLine, say } from './terminal.js';

interface TranscribeOptions extends GatewayOptions {
  readonly model: string;
  readonly format: string;
  readonly output?: string;
  readonly stream?: boolean;
  readonly translate?: boolean;
  readonly timings?: boolean;
  readonly language?: string;
  readonly prompt?: string;
  readonly temperature?: string;
  readonly timestamps?: string[];
  readonly itn?: boolean;
  readonly priority?: string;
  readonly field: readonly string[];
}

const FORMATS = ['text', 'json', 'verbose_json', 'srt', 'vtt', 'diarized_json'];

const EXAMPLES = `
Examples:
  switchyard transcribe meeting.m4a
  switchyard transcribe talk.mp3 --format srt -o talk.srt
  switchyard transcribe call.wav --format verbose_json --timestamps word | jq .words
  ffmpeg -i video.mkv -f wav - | switchyard transcribe - --language en
  switchyard transcribe https://example.com/speech.mp3 --priority batch

Text appears as it comes; the position in the line and the end are told on stderr. Ctrl-C cancels the request.`;

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

export const transcribeCommand = (): Command =>
  withGatewayOptions(new Command('transcribe'))
    .description('audio to text, by a running gateway')
    .argument('<file>', 'an audio file, - for stdin, or a URL that the gateway may fetch')
    .option('-m, --model <name>', 'model or alias', 'whisper-1')
    .addOption(new Option('-f, --format <format>', 'response format').choices(FORMATS).default('text'))
    .option('-o, --output <file>', 'write the answer to a file')
    .option('--no-stream', 'wait for the whole text')
    .option('-l, --language <tag>', 'language spoken, such as en')
    .option('--prompt <text>', 'words to expect')
    .option('--temperature <number>', '0 to 1')
    .option('--timestamps <kinds...>', 'word, segment (with --format verbose_json)')
    .option('--itn', 'write "25%" for "twenty five percent"')
    .option('--no-itn', 'leave numbers as they were spoken')
    .option('--translate', 'into English text')
    .addOption(new Option('--priority <class>', 'which line to stand in').choices(['realtime', 'batch']))
    .option('--field <name=value>', 'any other field of the API; may be repeated', collect, [])
    .option('--timings', 'say on stderr where the time went')
    .addHelpText('after', EXAMPLES)
    .action((file: string, options: TranscribeOptions) => interruptible(signal => transcribe(file, options, signal)));

async function transcribe(file: string, options: TranscribeOptions, signal: AbortSignal): Promise<void> {
  const client = new GatewayClient(options);
  const id = `cli-${randomUUID()}`;
  const body = await formOf(file, options);
  const route = options.translate ? 'translations' : 'transcriptions';
  const headers = { 'x-request-id': id, ...(options.priority && { 'x-priority': options.priority }) };
  const watch = new RequestWatch(client, id, new ProgressLine());
  const sink = textSink(options);
  try {
    const response = await client.request(`/v1/audio/${route}`, { method: 'POST', body, headers, signal });
    if (streams(options)) await copyDeltas(response, text => (watch.stop(), sink.write(text)));
    else sink.write(await response.text());
    watch.stop();
    sink.end();
    if (options.timings) say(await watch.timings());
  } finally {
    watch.stop();
  }
}

/** Text streams unless told otherwise; the other formats are one document. */
const streams = ({ stream, format, translate }: TranscribeOptions): boolean =>
  stream !== false && format === 'text' && !translate;

async function copyDeltas(response: Response, write: (text: string) => void): Promise<void> {
  let ended = false;
  for await (const event of serverEvents(response)) {
    if (event.type === 'transcript.text.delta') write(String(event.delta));
    if (event.type === 'transcript.text.done') ended = true;
  }
  if (!ended) throw new CliError('the answer ended early; what was written is not all');
}

async function formOf(file: string, options: TranscribeOptions): Promise<FormData> {
  const form = new FormData();
  form.set('model', options.model);
  form.set('response_format', options.format);
  if (streams(options)) form.set('stream', 'true');
  for (const name of ['language', 'prompt', 'temperature'] as const) {
    const value = options[name];
    if (value !== undefined) form.set(name, value);
  }
  if (options.itn !== undefined) form.set('itn', String(options.itn));
  for (const kind of options.timestamps ?? []) form.append('timestamp_granularities[]', kind);
  for (const field of options.field) addField(form, field);
  // Last, so that the fields are judged before the audio is sent.
  if (/^https?:\/\//.test(file)) form.set('file_url', file);
  else form.set('file', await audio(file), file === '-' ? 'stdin' : basename(file));
  return form;
}

function addField(form: FormData, field: string): void {
  const at = field.indexOf('=');
  if (at < 1) throw new CliError(`--field ${field}: must be name=value`, EXIT.usage);
  form.append(field.slice(0, at), field.slice(at + 1));
}

async function audio(file: string): Promise<Blob> {
  if (file === '-') return new Blob([await buffer(process.stdin)]);
  const path = resolve(launchDirectory(), file);
  try {
    // openAsBlob does not say what is wrong.
    await access(path, constants.R_OK);
    return await openAsBlob(path);
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${(error as Error).message}`, EXIT.usage, { cause: error });
  }
}

/** To stdout as it comes, or into a file once it is whole. */
function textSink({ output }: TranscribeOptions): { write(text: string): void; end(): void } {
  let written = '';
  return {
    write: text => {
      written += text;
      if (output === undefined) process.stdout.write(text);
    },
    end: () => {
      if (!written.endsWith('\n')) {
        written += '\n';
        if (output === undefined) process.stdout.write('\n');
      }
      if (output !== undefined) writeFileSync(resolve(launchDirectory(), output), written);
    },
  };
}
