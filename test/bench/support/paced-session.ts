import {
  RealtimeClient,
  type RealtimeEvent,
  TRANSCRIPTION,
} from '../../support/realtime-client.js';
import { pause } from '../../support/waiting.js';

const FRAME_MS = 100;
/** After the last sample, for the last words. */
const LAST_WORDS_MS = 60_000;

export interface Speech {
  /** 16 bits, one channel. */
  readonly data: Buffer;
  /** Hz. */
  readonly rate: number;
}

/** An event, and when it came: milliseconds after the first sample was spoken. */
export interface TimedEvent {
  readonly atMs: number;
  readonly event: RealtimeEvent;
}

export interface PacedSession {
  readonly events: readonly TimedEvent[];
  /** Of each utterance: from the beginning of its speech to its first words. */
  readonly firstWordsMs: readonly number[];
  /** Of each utterance, in order: from its last sample to its final text. */
  readonly lagMs: readonly number[];
  /** Where it was refused: the code of its error, or how its handshake ended. */
  readonly refused?: string;
}

/**
 * One live session that hears `speech` at the pace at which it is spoken.
 * @param language absent: the recogniser finds it out
 */
export async function pacedSession(
  url: string,
  model: string,
  { data, rate }: Speech,
  language?: string,
): Promise<PacedSession> {
  const opened = await RealtimeClient.open(url, { model }).catch((error: Error) => error);
  if (opened instanceof Error)
    return { events: [], firstWordsMs: [], lagMs: [], refused: opened.message };
  const client = opened;
  const events: TimedEvent[] = [];
  const startMs = performance.now();
  client.socket.on('message', message => {
    const event = JSON.parse((message as Buffer).toString()) as RealtimeEvent;
    events.push({ atMs: performance.now() - startMs, event });
  });
  client.update({
    ...{ format: { type: 'audio/pcm', rate }, turn_detection: { type: 'server_vad' } },
    ...(language !== undefined && { transcription: { model, language } }),
  });
  const frameBytes = (2 * rate * FRAME_MS) / 1000;
  for (let at = 0; at < data.length && isOpen(client); at += frameBytes) {
    client.say(data.subarray(at, at + frameBytes));
    const dueMs = ((at + frameBytes) / frameBytes) * FRAME_MS;
    await pause(Math.max(0, startMs + dueMs - performance.now()));
  }
  const refused = events.find(({ event }) => event.type === 'error')?.event.error as
    | { readonly code: string }
    | undefined;
  const endMs = performance.now() + LAST_WORDS_MS;
  while (!refused && open(events) && performance.now() < endMs) await pause(20);
  client.socket.close(1000);
  return { events, ...delaysOf(events), ...(refused && { refused: refused.code }) };
}

const isOpen = ({ socket }: RealtimeClient): boolean => socket.readyState === socket.OPEN;

const count = (events: readonly TimedEvent[], type: string): number =>
  events.filter(({ event }) => event.type === type).length;

/** Speech has begun whose final text is not there. */
const open = (events: readonly TimedEvent[]): boolean =>
  count(events, 'input_audio_buffer.speech_started') > count(events, `${TRANSCRIPTION}.completed`);

function delaysOf(events: readonly TimedEvent[]): Pick<PacedSession, 'firstWordsMs' | 'lagMs'> {
  const firstWordsMs: number[] = [];
  const lagMs: number[] = [];
  const begun = new Map<string, number>();
  const ended = new Map<string, number>();
  for (const { atMs, event } of events) {
    const item = String(event.item_id);
    if (event.type === 'input_audio_buffer.speech_started')
      begun.set(item, Number(event.audio_start_ms));
    if (event.type === 'input_audio_buffer.speech_stopped')
      ended.set(item, Number(event.audio_end_ms));
    if (event.type === `${TRANSCRIPTION}.delta` && begun.has(item)) {
      firstWordsMs.push(atMs - begun.get(item)!);
      begun.delete(item);
    }
    if (event.type === `${TRANSCRIPTION}.completed` && ended.has(item))
      lagMs.push(atMs - ended.get(item)!);
  }
  return { firstWordsMs, lagMs };
}
