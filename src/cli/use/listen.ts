import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync } from 'node:fs';
import { type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { stdin } from 'node:process';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { WebSocket } from 'ws';
import { programFolders } from '../../platform/config/process-environment.js';
import { parseWholeNumber, readablePath } from '../shared/arguments.js';
import { CliError, EXIT, usageError } from '../shared/cli-error.js';
import { gatewayCommand, type OptionValues } from '../shared/command.js';
import { GatewayClient, refusal } from '../shared/gateway-client.js';
import { print, ProgressLine, say } from '../shared/terminal.js';

const OPTIONS = {
  '-m, --model <name>': ['model or alias', undefined, 'whisper-1'],
  '-l, --language <tag>': 'spoken language, such as en',
  '--raw <hertz>': [
    'the file holds 16 bit samples of one channel at this rate',
    parseWholeNumber(8000, 48_000),
  ],
} as const;

interface LiveEvent {
  readonly type: string;
  readonly item_id?: string;
  readonly delta?: string;
  readonly transcript?: string;
  readonly error?: { readonly message: string; readonly code?: string };
}

const RATE = 24_000;

const TEXT = 'conversation.item.input_audio_transcription.';

/** How long the last words of a recording are waited for, once no item is open. */
const QUIET_MS = 1500;

const PENDING_CODE = 'input_audio_buffer_commit_empty';

/** One live session of transcription. Every failure is a CliError. */
class LiveTranscription {
  readonly #open = new Set<string>();
  #committed = false;
  readonly #failed = Promise.withResolvers<never>();

  /** @param turns the gateway finds the pauses; else everything until `finish` is one item */
  constructor(
    private readonly socket: WebSocket,
    private readonly turns: boolean,
    private readonly onEvent: (event: LiveEvent) => void,
  ) {
    // What waits at that time is told; without a listener it is no unhandled rejection.
    this.#failed.promise.catch(() => undefined);
    socket.on('message', data =>
      this.#receive(parseBoundedJson((data as Buffer).toString()) as LiveEvent),
    );
    socket.on('close', (code, reason) => {
      this.#fail(
        `the gateway ended the session (${code}${reason.length > 0 ? `, ${reason.toString()}` : ''})`,
      );
    });
    socket.on('error', error => this.#fail(error.message));
  }

  begin({ language, raw: rate = RATE }: OptionValues<typeof OPTIONS>): void {
    const input = {
      format: { type: 'audio/pcm', rate },
      ...(language && { transcription: { language } }),
      ...(!this.turns && { turn_detection: null }),
    };
    this.#send({
      type: 'session.update',
      session: { type: 'transcription', audio: { input } },
    });
  }

  /**
   * Resolves when the bytes are on their way. @throws CliError once the
   * session has failed
   */
  send(chunk: Buffer): Promise<void> {
    const sent = new Promise<void>(resolve => this.socket.send(chunk, () => resolve()));
    return Promise.race([this.#failed.promise, sent]);
  }

  /** Waits for the text of all audio that was sent. */
  async finish(): Promise<void> {
    this.#send({ type: 'input_audio_buffer.commit' });
    if (!this.turns) await this.#until(() => this.#committed);
    do await this.#until(() => this.#open.size === 0);
    while (this.turns && (await this.#movesWithin(QUIET_MS)));
  }

  #send(event: object) {
    this.socket.send(writeJson(event));
  }

  #receive(event: LiveEvent) {
    const { type, item_id: item = '', error } = event;
    const isCommit = type === 'input_audio_buffer.committed';
    if (isCommit || type === 'input_audio_buffer.speech_started') this.#open.add(item);
    if ([`${TEXT}completed`, `${TEXT}failed`].includes(type)) this.#open.delete(item);
    if (isCommit || error?.code === PENDING_CODE) this.#committed = true;
    else if (error) this.#fail(`${error.message}${error.code ? ` [${error.code}]` : ''}`);
    if (type.startsWith(TEXT)) this.onEvent(event);
  }

  #fail(message: string) {
    this.#failed.reject(new CliError(message));
  }

  async #until(holds: () => boolean) {
    while (!holds()) await Promise.race([this.#failed.promise, this.#received()]);
  }

  /** Whether anything arrives within `ms`. */
  #movesWithin(ms: number) {
    const moves = () => true;
    return Promise.race([this.#received().then(moves, moves), pause(ms, false)]);
  }

  #received() {
    return once(this.socket, 'message');
  }
}

/** Connects. @throws CliError if no gateway answers, or it opens no session */
async function connected({ url, headers }: GatewayClient, model: string) {
  const query = new URLSearchParams({ model });
  const address = `${url.replace(/^http/, 'ws')}/v1/realtime?${query.toString()}`;
  const socket = new WebSocket(address, { headers });
  try {
    await Promise.race([once(socket, 'open'), refused(socket)]);
    return socket;
  } catch (error) {
    if (error instanceof CliError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CliError(`no gateway answers at ${url} (${code ?? message})`, EXIT.unreachable);
  }
}

/** @throws CliError once the gateway has answered with no session */
async function refused(socket: WebSocket): Promise<never> {
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  const { statusCode: status = 500 } = response;
  throw await refusal(new Response(await text(response), { status }));
}

/** Audio as samples of 16 bit, one channel; `stop` ends a recording. */
interface Source {
  readonly audio: AsyncIterable<Buffer>;
  readonly stop: () => void;
}

const FFMPEG = ['ffmpeg', '-hide_banner', '-loglevel', 'error'];

const RAW = ['-ac', '1', '-ar', String(RATE), '-f', 's16le', '-'];

const DEVICE =
  process.platform === 'darwin'
    ? ['-f', 'avfoundation', '-i', ':0']
    : ['-f', 'alsa', '-i', 'default'];

/** Programs that record the default microphone; the first installed one is used. */
const RECORDERS = [
  `arecord -q -t raw -f S16_LE -c 1 -r ${RATE}`.split(' '),
  `rec -q -t raw -b 16 -e signed -c 1 -r ${RATE} -`.split(' '),
  [...FFMPEG, ...DEVICE, ...RAW],
];

const NOTES = `Without a file the microphone is recorded by arecord, rec (SoX) or ffmpeg, whichever is installed.
Finished sentences go to stdout, a line each; unfinished ones are shown on a terminal only.
The first Ctrl-C ends the recording and waits for the last words.`;

export const listenCommand = gatewayCommand('listen [file]', {
  about: 'live text of the microphone, a file or stdin, over /v1/realtime',
  arg: 'an audio file, or - for stdin, instead of the microphone',
  examples: ['listen', 'listen talk.mp3', 'ffmpeg -i in.mkv -f wav - | switchyard listen -'],
  notes: NOTES,
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
  options: OptionValues<typeof OPTIONS>,
  turns: boolean,
) {
  using line = new ProgressLine();
  let spoken = '';
  const socket = await connected(client, options.model);
  const live = new LiveTranscription(socket, turns, event => {
    if (options.json) return print(writeJson(event));
    spoken += event.delta ?? '';
    if (event.transcript === undefined) {
      if (process.stderr.isTTY) line.show(spoken.slice(1 - process.stderr.columns));
      return;
    }
    line.clear();
    spoken = '';
    if (event.transcript !== '') print(event.transcript);
  });
  live.begin(options);
  if (turns) say(`Listening with ${options.model}; Ctrl-C ends.`);
  try {
    for await (const chunk of audio) await live.send(chunk);
    await live.finish();
  } finally {
    socket.close();
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
  const installed = (program: string) =>
    programFolders().some(folder => existsSync(join(folder, program)));
  const recorder = RECORDERS.find(([program = '']) => installed(program));
  if (recorder) return piped(recorder);
  throw usageError(
    'no program records the microphone; install alsa-utils, sox or ffmpeg, or name a file',
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
