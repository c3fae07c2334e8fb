import { HandshakeRefused, RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { type Entry } from './ledger.js';
import { heardLive } from './models.js';
import { expectSame, type Operation, opened, type Turn, uniqueWords } from './operation.js';

const HANDSHAKE_MS = 10_000;
/** A session whose worker is replaced waits `realtime.recovery_ms` (30 s) at most. */
const ANSWER_MS = 45_000;

const WHAT = 'its live session';

/** Share of callers who vanish: their sessions could be resumed for a while. */
const DROPPED = 0.3;

/**
 * Three utterances of one live session, each heard as it was said; a session that breaks
 * is begun again.
 */
export const realtime: Operation = async turn => {
  const { client } = turn;
  const said = Array.from({ length: 3 }, (_, index) =>
    evenBytes(uniqueWords({ ...turn, id: `${turn.id}-${index}` })),
  );
  const entry = opened(turn, 'realtime');
  const heard = await client.repeated(entry, WHAT, () => session(turn, said, entry));
  const wanted = said.map(heardLive).join(' | ');
  if (heard !== undefined && expectSame(client.ledger, entry, heard.join(' | '), wanted))
    client.ledger.settle(entry);
};

/** Samples of 16 bits. */
const evenBytes = (text: string): string => (text.length % 2 === 0 ? text : `${text} `);

async function session(
  { client, random }: Turn,
  said: readonly string[],
  entry: Entry,
): Promise<readonly string[] | undefined | 'broken'> {
  const { url } = client.options;
  const options = { headers: client.authorization, handshakeTimeout: HANDSHAKE_MS };
  let live: RealtimeClient | undefined;
  const sinceMs = client.ledger.nowMs;
  try {
    live = await RealtimeClient.open(url, { model: 'synthetic' }, options);
    live.update({ format: { type: 'audio/pcm', rate: 16_000 }, turn_detection: null });
    await inTime(live.next('session.updated'));
    const heard: string[] = [];
    for (const words of said) {
      live.append(words);
      live.commit();
      heard.push(String((await inTime(live.next(`${TRANSCRIPTION}.completed`))).transcript));
    }
    return heard;
  } catch (error) {
    if (error instanceof HandshakeRefused) {
      client.noteLost(WHAT, error, sinceMs);
      client.expectCalm(entry, WHAT, { ...error, attempts: 1 });
      return client.mayRepeat(entry, WHAT, error) ? undefined : 'broken';
    }
    const heard = live ? ` after ${live.types().join(', ')}` : '';
    client.noteUnanswered(`the live session of ${client.tenant}${heard}`, sinceMs, error);
    return undefined;
  } finally {
    if (random() < DROPPED) live?.drop();
    else live?.socket.close();
  }
}

/** Rejects when nothing comes. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('nothing came in time')), ANSWER_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
