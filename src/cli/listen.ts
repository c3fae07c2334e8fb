import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { stdin } from 'node:process';
import { type Readable, type Writable } from 'node:stream';
import { programFolders } from '../platform/config/process-environment.js';
import { parseWholeNumber, readablePath } from './shared/arguments.js';
import { CliError, EXIT } from './shared/cli-error.js';
import { command, type OptionValues } from './shared/command.js';
import { GatewayClient } from './shared/gateway-client.js';
import { LiveTranscription } from './shared/live-transcription.js';
import { print, ProgressLine, say } from './shared/terminal.js';

/** Audio as samples of 16 bit, one channel; `stop` ends a recording. */
interface Source {
  readonly audio: AsyncIterable<Buffer>;
  readonly stop: () => void;
}

const RATE = 24_000;
const FFMPEG = ['ffmpeg', '-hide_banner', '-loglevel', 'error'];
const RAW = ['-ac', '1', '-ar', String(RATE), '-f', 's16le', '-'];
const DEVICE =
  process.platform === 'darwin'
    ? ['-f', 'avfoundation', '-i', ':0']
    : ['-f', 'alsa', '-i', 'default'];
/** The first one that is installed records the default microphone. */
const RECORDERS = [
  `arecord -q -t raw -f S16_LE -c 1 -r ${RATE}`.split(' '),
  `rec -q -t raw -b 16 -e signed -c 1 -r ${RATE} -`.split(' '),
  [...FFMPEG, ...DEVICE, ...RAW],
];

const NOTES = `Without a file the microphone is recorded by arecord, rec (SoX) or ffmpeg, whichever is installed.
Finished sentences go to stdout, a line each; what is being spoken is shown on a terminal only.
The first Ctrl-C ends the recording and waits for the last words.`;

const OPTIONS = {
  '-m, --model <name>': ['model or alias', undefined, 'whisper-1'],
  '-l, --language <tag>': 'spoken language, such as en',
  '--raw <hertz>': [
    'the file holds 16 bit samples of one channel at this rate',
    parseWholeNumber(8000, 48_000),
  ],
} as const;

export const listenCommand = command({
  name: 'listen',
  about: 'live text of the microphone, a file or stdin, over /v1/realtime',
  arg: ['[file]', 'an audio file, or - for stdin, instead of the microphone'],
  examples: [
    'listen',
    'listen talk.mp3',
    'ffmpeg -i in.mkv -f wav - | switchyard listen -',
  ],
  notes: NOTES,
  gateway: true,
  options: OPTIONS,
  json: 'each event of the gateway as one line of JSON',
  async run({ command: own, arg: file, options }) {
    // Of its own: the first Ctrl-C ends the recording, not the session.
    const client = new GatewayClient(own.opts());
    const source = file === undefined ? recording() : await played(file, options.raw);
    process.once('SIGINT', source.stop);
    try {
      await listen(client, source.audio, options, file === undefined);
    } finally {
      process.off('SIGINT', source.stop);
      source.stop();
    }
  },
});

async function listen(
  client: GatewayClient,
  audio: AsyncIterable<Buffer>,
  { model, language, raw: rate = RATE, json }: OptionValues<typeof OPTIONS>,
  turns: boolean,
): Promise<void> {
  const line = new ProgressLine();
  let spoken = '';
  const live = await LiveTranscription.open(client, { model, rate, turns, language });
  live.onEvent = event => {
    if (json) return print(JSON.stringify(event));
    spoken += event.delta ?? '';
    if (event.transcript === undefined) {
      if (process.stderr.isTTY) line.show(spoken.slice(1 - process.stderr.columns));
      return;
    }
    line.clear();
    spoken = '';
    if (event.transcript !== '') print(event.transcript);
  };
  if (turns) say(`Listening with ${model}; Ctrl-C ends.`);
  try {
    for await (const chunk of audio) await live.send(chunk);
    await live.finish();
  } finally {
    line.clear();
    live.close();
  }
}

async function played(file: string, raw: number | undefined): Promise<Source> {
  const input = file === '-' ? stdin : createReadStream(await readablePath(file));
  if (raw !== undefined)
    return { audio: input as AsyncIterable<Buffer>, stop: () => input.destroy() };
  const source = piped([...FFMPEG, '-i', 'pipe:0', ...RAW]);
  // ffmpeg may end before its input does; its own exit says whether that was an error.
  input.on('error', () => undefined).pipe(source.input.on('error', () => undefined));
  return source;
}

function recording(): Source {
  const installed = (program: string): boolean =>
    programFolders().some(folder => existsSync(join(folder, program)));
  const recorder = RECORDERS.find(([program = '']) => installed(program));
  if (recorder) return piped(recorder);
  throw new CliError(
    'no program records the microphone; install alsa-utils, sox or ffmpeg, or name a file',
    EXIT.usage,
  );
}

function piped([program = '', ...args]: readonly string[]) {
  // Its own group: Ctrl-C ends the recording through `stop`, so that the last words
  // are still read.
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  return {
    audio: outputOf(child, program),
    input: child.stdin,
    stop: () => void child.kill('SIGTERM'),
  };
}

/** @throws CliError when the program fails by itself */
async function* outputOf(
  child: ChildProcessByStdio<Writable, Readable, null>,
  program: string,
): AsyncGenerator<Buffer> {
  const ended = once(child, 'exit').catch((error: Error) => {
    throw new CliError(`${program}: ${error.message}`);
  });
  for await (const chunk of child.stdout) yield chunk as Buffer;
  const [code] = (await ended) as [number | null];
  if (code && !child.killed)
    throw new CliError(`${program} ended with code ${code}; its message is above`);
}
