import { once } from 'node:events';
import { type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import { CliError, EXIT } from './cli-error.js';
import { type GatewayClient, refusal } from './gateway-client.js';

interface LiveEvent {
  readonly type: string;
  readonly item_id?: string;
  readonly delta?: string;
  readonly transcript?: string;
  readonly error?: { readonly message: string; readonly code?: string };
}

interface LiveOptions {
  readonly model: string;
  /** Samples per second. */
  readonly rate: number;
  readonly language?: string | undefined;
  /** The gateway finds the pauses; else everything until `finish` is one item. */
  readonly turns: boolean;
}

const TEXT = 'conversation.item.input_audio_transcription.';
/** How long the last words of a recording are waited for, once no item is open. */
const QUIET_MS = 1500;
const PENDING_CODE = 'input_audio_buffer_commit_empty';

/** One live session of transcription. Every failure is a CliError. */
export class LiveTranscription {
  onEvent: (event: LiveEvent) => void = () => undefined;
  readonly #open = new Set<string>();
  #failure: CliError | undefined;
  #changed: () => void = () => undefined;

  private constructor(
    private readonly socket: WebSocket,
    private readonly options: LiveOptions,
  ) {
    socket.on('message', data =>
      this.#receive(JSON.parse((data as Buffer).toString()) as LiveEvent),
    );
    socket.on('close', (code, reason) => {
      this.#fail(
        `the gateway ended the session (${code}${reason.length > 0 ? `, ${reason.toString()}` : ''})`,
      );
    });
    socket.on('error', error => this.#fail(error.message));
  }

  static async open(
    client: GatewayClient,
    options: LiveOptions,
  ): Promise<LiveTranscription> {
    const query = new URLSearchParams({ model: options.model });
    const url = `${client.url.replace(/^http/, 'ws')}/v1/realtime?${query.toString()}`;
    const socket = new WebSocket(url, { headers: client.headers });
    try {
      await Promise.race([once(socket, 'open'), refused(socket)]);
    } catch (error) {
      if (error instanceof CliError) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      throw new CliError(
        `no gateway answers at ${client.url} (${code ?? message})`,
        EXIT.unreachable,
      );
    }
    const live = new LiveTranscription(socket, options);
    live.#configure();
    return live;
  }

  /**
   * Resolves when the bytes are on their way. @throws CliError once the
   * session has failed
   */
  async send(chunk: Buffer): Promise<void> {
    if (this.#failure) throw this.#failure;
    await new Promise<void>(resolve => this.socket.send(chunk, () => resolve()));
  }

  /** Waits for the text of everything that was sent. */
  async finish(): Promise<void> {
    this.#event({ type: 'input_audio_buffer.commit' });
    if (!this.options.turns) await this.#until(() => this.#committed);
    do await this.#until(() => this.#open.size === 0);
    while (this.options.turns && (await this.#movesWithin(QUIET_MS)));
  }

  close(): void {
    this.#failure ??= new CliError('closed');
    this.socket.close();
  }

  #committed = false;

  #configure(): void {
    const { rate, language, turns } = this.options;
    const input = {
      format: { type: 'audio/pcm', rate },
      ...(language && { transcription: { language } }),
      ...(!turns && { turn_detection: null }),
    };
    this.#event({
      type: 'session.update',
      session: { type: 'transcription', audio: { input } },
    });
  }

  #event(event: object): void {
    this.socket.send(JSON.stringify(event));
  }

  #receive(event: LiveEvent): void {
    const { type, item_id: item = '', error } = event;
    switch (type) {
      case 'input_audio_buffer.speech_started':
        this.#open.add(item);
        break;
      case 'input_audio_buffer.committed':
        this.#open.add(item);
        this.#committed = true;
        break;
      case `${TEXT}completed`:
      case `${TEXT}failed`:
        this.#open.delete(item);
    }
    if (type === 'error' && error?.code === PENDING_CODE) this.#committed = true;
    else if (error) this.#fail(`${error.message}${error.code ? ` [${error.code}]` : ''}`);
    if (type.startsWith(TEXT)) this.onEvent(event);
    this.#changed();
  }

  #fail(message: string): void {
    this.#failure ??= new CliError(message);
    this.#changed();
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.#failure) throw this.#failure;
      await new Promise<void>(resolve => (this.#changed = resolve));
    }
  }

  /** Whether anything is received within that time. */
  #movesWithin(ms: number): Promise<boolean> {
    return new Promise(resolve => {
      const timer = setTimeout(() => resolve(false), ms);
      this.#changed = () => (clearTimeout(timer), resolve(true));
    });
  }
}

/** @throws CliError once the gateway has answered with no session */
async function refused(socket: WebSocket): Promise<never> {
  const [, message] = (await once(socket, 'unexpected-response')) as [
    unknown,
    IncomingMessage,
  ];
  const { statusCode: status = 500 } = message;
  throw await refusal(new Response(await text(message), { status }));
}
