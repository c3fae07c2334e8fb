import type { Tone } from '../../ui/parts';

/**
 * Half a second of audio that the network has not taken: more is thrown away rather than
 * spoken into the past.
 */
const MOST_BEHIND_BYTES = 24_000;
/** How long a stopped session may take for what was said last. */
const LAST_WORDS_MS = 15_000;

interface On {
  readonly state: (tone: Tone, text: string) => void;
  readonly partial: (item: string, text: string) => void;
  readonly final: (item: string, text: string) => void;
  readonly problem: (text: string) => void;
}

interface ServerEvent {
  readonly type: string;
  readonly item_id?: string;
  readonly delta?: string;
  readonly transcript?: string;
  readonly error?: { readonly code?: string; readonly message: string };
  readonly warning?: { readonly message: string };
}

/** One session of `/v1/realtime`. */
export class Transcription {
  #socket: WebSocket | undefined;
  readonly #texts = new Map<string, string>();
  /** Items that were said and not yet settled. */
  readonly #unsettled = new Set<string>();
  #ended = false;

  constructor(private readonly on: On) {}

  open(model: string): void {
    const query = new URLSearchParams({
      intent: 'transcription',
      ...(model && { model }),
    });
    this.on.state('info', 'Connecting');
    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/v1/realtime?${query}`, [
      'realtime',
    ]);
    socket.onmessage = ({ data }) => this.#hear(JSON.parse(String(data)) as ServerEvent);
    socket.onclose = ({ code, reason }) => this.#closed(code, reason);
    this.#socket = socket;
  }

  send(audio: ArrayBuffer): void {
    const socket = this.#socket;
    if (socket?.readyState === WebSocket.OPEN && socket.bufferedAmount < MOST_BEHIND_BYTES)
      socket.send(audio);
  }

  /**
   * What was said until now is still answered; the session ends with its last sentence.
   */
  finish(): void {
    this.#ended = true;
    if (this.#socket?.readyState !== WebSocket.OPEN) return this.#socket?.close();
    this.#socket.send(JSON.stringify({ type: 'input_audio_buffer.commit' }));
    this.on.state('info', 'Finishing');
    setTimeout(() => this.#socket?.close(), LAST_WORDS_MS);
  }

  #hear(event: ServerEvent): void {
    const { type, item_id: item = '' } = event;
    if (type.endsWith('session.created')) this.on.state('good', 'Listening');
    else if (type === 'input_audio_buffer.speech_started') this.on.state('info', 'Hearing you');
    else if (type === 'input_audio_buffer.speech_stopped' && !this.#ended)
      this.on.state('good', 'Listening');
    else if (type.endsWith('input_audio_transcription.delta'))
      this.#partial(item, event.delta ?? '');
    else if (type === 'input_audio_buffer.committed') this.#unsettled.add(item);
    else if (type.endsWith('input_audio_transcription.completed'))
      this.#settle(item, event.transcript ?? '');
    else if (type.endsWith('input_audio_transcription.failed'))
      this.#settle(item, '', event.error?.message);
    else if (type === 'session.warning') this.on.problem(event.warning?.message ?? '');
    else if (type === 'error' && event.error) this.#err(event.error);
  }

  #settle(item: string, text: string, problem?: string): void {
    this.on.final(item, text);
    if (problem) this.on.problem(problem);
    this.#unsettled.delete(item);
    this.#closeWhenSettled();
  }

  /** Stopping in silence leaves nothing to commit: nothing to report. */
  #err({ code, message }: NonNullable<ServerEvent['error']>): void {
    if (this.#ended && code === 'input_audio_buffer_commit_empty') this.#closeWhenSettled();
    else this.on.problem(message);
  }

  #closeWhenSettled(): void {
    if (this.#ended && this.#unsettled.size === 0) this.#socket?.close();
  }

  #partial(item: string, delta: string): void {
    const text = (this.#texts.get(item) ?? '') + delta;
    this.#texts.set(item, text);
    this.on.partial(item, text);
  }

  #closed(code: number, reason: string): void {
    if (this.#ended) return this.on.state('idle', 'Stopped');
    this.on.problem(
      code === 1006 ? 'The server refused the session.' : `The session ended: ${reason || code}.`,
    );
    this.on.state('bad', 'Not connected');
  }
}
