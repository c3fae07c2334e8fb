const KEY_PROTOCOL = 'openai-insecure-api-key.';
/** Half a second of audio that the network has not taken: more is thrown away rather than spoken into the past. */
const MOST_BEHIND_BYTES = 24_000;
/** How long a stopped session may take for what was said last. */
const LAST_WORDS_MS = 15_000;

/** One session of `/v1/realtime`. Calls `on.state`, `on.partial`, `on.final`, `on.problem`. */
export class Transcription {
  #socket;
  #on;
  #texts = new Map();
  /** Items that were said and not yet settled. */
  #unsettled = new Set();
  #ended = false;

  constructor(on) {
    this.#on = on;
  }

  open({ key, model }) {
    const query = new URLSearchParams({ intent: 'transcription', ...(model && { model }) });
    const url = `${location.origin.replace(/^http/, 'ws')}/v1/realtime?${query}`;
    this.#on.state('idle', 'Connecting');
    this.#socket = new WebSocket(url, ['realtime', ...(key ? [KEY_PROTOCOL + key] : [])]);
    this.#socket.onmessage = ({ data }) => this.#hear(JSON.parse(data));
    this.#socket.onclose = ({ code, reason }) => this.#closed(code, reason);
  }

  send(audio) {
    const { readyState, bufferedAmount } = this.#socket;
    if (readyState === WebSocket.OPEN && bufferedAmount < MOST_BEHIND_BYTES) this.#socket.send(audio);
  }

  /** What was said until now is still answered; the session ends with its last sentence. */
  finish() {
    this.#ended = true;
    if (this.#socket.readyState !== WebSocket.OPEN) return this.#socket.close();
    this.#socket.send(JSON.stringify({ type: 'input_audio_buffer.commit' }));
    this.#on.state('idle', 'Finishing');
    setTimeout(() => this.#socket.close(), LAST_WORDS_MS);
  }

  #hear(event) {
    const { type, item_id: item } = event;
    if (type.endsWith('session.created')) this.#on.state('live', 'Listening');
    else if (type === 'input_audio_buffer.speech_started') this.#on.state('speech', 'Hearing you');
    else if (type === 'input_audio_buffer.speech_stopped' && !this.#ended) this.#on.state('live', 'Listening');
    else if (type.endsWith('input_audio_transcription.delta')) this.#partial(item, event.delta);
    else if (type === 'input_audio_buffer.committed') this.#unsettled.add(item);
    else if (type.endsWith('input_audio_transcription.completed')) this.#settle(item, event.transcript);
    else if (type.endsWith('input_audio_transcription.failed')) this.#settle(item, '', event.error.message);
    else if (type === 'session.warning') this.#on.problem(event.warning.message);
    else if (type === 'error') this.#err(event.error);
  }

  #settle(item, text, problem) {
    this.#on.final(item, text);
    if (problem) this.#on.problem(problem);
    this.#unsettled.delete(item);
    this.#closeWhenSettled();
  }

  /** Stopping in silence leaves nothing to commit: nothing to report. */
  #err({ code, message }) {
    if (this.#ended && code === 'input_audio_buffer_commit_empty') this.#closeWhenSettled();
    else this.#on.problem(message);
  }

  #closeWhenSettled() {
    if (this.#ended && this.#unsettled.size === 0) this.#socket.close();
  }

  #partial(item, delta) {
    const text = (this.#texts.get(item) ?? '') + delta;
    this.#texts.set(item, text);
    this.#on.partial(item, text);
  }

  #closed(code, reason) {
    if (this.#ended) return this.#on.state('idle', 'Stopped');
    const refused = 'The server refused the session. Is the API key right?';
    this.#on.problem(code === 1006 ? refused : `The session ended: ${reason || code}.`);
    this.#on.state('lost', 'Not connected');
  }
}
