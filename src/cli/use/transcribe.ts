import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { buffer } from 'node:stream/consumers';
import {
  fileBlob,
  namedValue,
  parseNumber,
  repeatable,
  writablePath,
} from '../shared/arguments.js';
import { usageError } from '../shared/cli-error.js';
import { gatewayCommand, type OptionValues } from '../shared/command.js';
import { serverEvents } from '../shared/gateway-client.js';
import { say } from '../shared/terminal.js';
import { watchedRequest } from './request-watch.js';

const JSON_FORMATS = ['json', 'verbose_json', 'diarized_json'];

const HELP = `
Examples:
  switchyard transcribe meeting.m4a
  switchyard transcribe talk.mp3 --format srt -o talk.srt
  switchyard transcribe call.wav --format verbose_json --timestamps word | jq .words
  ffmpeg -i video.mkv -f wav - | switchyard transcribe - --language en
  switchyard transcribe https://example.com/speech.mp3 --priority batch

Text is printed as it arrives; the queue position is reported on stderr. Ctrl-C cancels the request.`;

const OPTIONS = {
  '-m, --model <name>': ['model or alias', undefined, 'whisper-1'],
  '-f, --format <format>': ['response format', ['text', ...JSON_FORMATS, 'srt', 'vtt'], 'text'],
  '-o, --output <file>': 'write the answer to a file (default: stdout)',
  '--no-stream': 'wait for the whole text',
  '-l, --language <tag>': 'spoken language, such as en',
  '--prompt <text>': 'words and context to expect',
  '--temperature <number>': ['0 to 1', parseNumber(0, 1)],
  '--timestamps <kinds...>': 'word, segment (with --format verbose_json)',
  '--itn': 'write "25%" for "twenty five percent"',
  '--no-itn': 'leave numbers as they were spoken',
  '--translate': 'translate into English',
  '--priority <class>': ['queue class', ['realtime', 'batch']],
  '--field <name=value>': repeatable('any other field of the API'),
  '--timings': 'report the time per phase on stderr',
} as const;

export const transcribeCommand = gatewayCommand('transcribe <file>', {
  about: 'audio to text by a running gateway',
  arg: 'an audio file, - for stdin, or a URL that the gateway may fetch',
  help: HELP,
  options: OPTIONS,
  json: 'the answer as one JSON document: --format json, unless another JSON format is named',
  async run({ client, arg: file, options }) {
    const { translate, stream, priority, timings, output } = options;
    const format = formatOf(options);
    // Every other format is one document.
    const streams = stream !== false && format === 'text' && !translate;
    const path = output === undefined ? undefined : await writablePath(output);
    const body = await formOf(file, options, { format, streams });
    const route = `/v1/audio/${translate ? 'translations' : 'transcriptions'}`;
    using watch = watchedRequest(client);
    const response = await watch.post(route, body, priority);
    let written = '';
    const write = (text: string) => {
      watch.stop();
      written += text;
      if (path === undefined) process.stdout.write(text);
    };
    if (streams) await copyDeltas(response, write);
    else write(await response.text());
    watch.stop();
    const rest = written.endsWith('\n') ? '' : '\n';
    if (path === undefined) process.stdout.write(rest);
    else writeFileSync(path, written + rest);
    if (timings) say(await watch.timings());
  },
});

type Options = OptionValues<typeof OPTIONS>;

/** @throws CliError exit code 2 for `--json` with a format that is none */
function formatOf({ json, format }: Options) {
  if (!json || JSON_FORMATS.includes(format)) return format;
  if (format === 'text') return 'json';
  throw usageError(`--json goes with the formats ${JSON_FORMATS.join(', ')}, not ${format}`);
}

async function copyDeltas(response: Response, write: (text: string) => void) {
  for await (const { type, delta } of serverEvents<{
    readonly type: string;
    readonly delta: string;
  }>(response))
    if (type === 'transcript.text.delta') write(delta);
}

async function formOf(
  file: string,
  options: Options,
  { format, streams }: { readonly format: string; readonly streams: boolean },
) {
  const form = new FormData();
  form.set('model', options.model);
  form.set('response_format', format);
  if (streams) form.set('stream', 'true');
  for (const name of ['language', 'prompt', 'temperature', 'itn'] as const)
    if (options[name] !== undefined) form.set(name, String(options[name]));
  for (const kind of options.timestamps ?? []) form.append('timestamp_granularities[]', kind);
  for (const field of options.field) form.append(...namedValue('--field', field));
  // Last: the gateway checks the fields before it reads the audio.
  if (/^https?:\/\//.test(file)) form.set('file_url', file);
  else if (file === '-') form.set('file', new Blob([await buffer(process.stdin)]), 'stdin');
  else form.set('file', await fileBlob(file), basename(file));
  return form;
}
