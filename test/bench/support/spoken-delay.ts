import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { pause, until } from '../../support/waiting.js';

/** Speech by flite, heard by PocketSphinx; both come with the project. */
export const SPEAKING_MODELS = [
  syntheticModel(
    {},
    {
      ...{
        id: 'pocketsphinx-en',
        engine: 'pocketsphinx',
        languages: ['en'],
        replicas: 1,
      },
      capabilities: ['transcribe', 'word_timestamps', 'stream'],
    },
  ),
  syntheticModel(
    {},
    {
      ...{
        id: 'flite-en',
        kind: 'tts',
        engine: 'flite',
        capabilities: ['speech', 'speed'],
        languages: ['en'],
      },
      ...{ replicas: 1, voices: { alloy: 'rms' } },
    },
  ),
];

const SENTENCE = 'The quick brown fox jumps over the lazy dog.';
const FRAME_MS = 20;
/** 20 ms of PCM at 24 kHz. */
const FRAME_BYTES = 960;
const BYTES_PER_MS = 48;
/**
 * Quieter samples are no speech: the synthesiser ends its sentences with near silence.
 */
const QUIET = 300;
/** Longer than the silence that ends a turn, so that nothing waits for the microphone. */
const PAUSE_MS = 2000;

/**
 * Milliseconds from the last sample of speech, sent in real time, to the completed
 * transcript; the silence that the voice activity detection waits for (500 ms unless set
 * otherwise) is part of them.
 */
export async function finalDelays(url: string, utterances: number): Promise<number[]> {
  const speech = await spoken(url);
  const endMs = lastLoudByte(speech) / BYTES_PER_MS;
  const audio = Buffer.concat([
    Buffer.alloc(500 * BYTES_PER_MS),
    speech,
    Buffer.alloc(PAUSE_MS * BYTES_PER_MS),
  ]);
  const client = await RealtimeClient.open(url, { model: 'pocketsphinx-en' });
  const delays: number[] = [];
  for (let utterance = 0; utterance < utterances; utterance += 1) {
    const startMs = performance.now();
    const heard = client.next(`${TRANSCRIPTION}.completed`).then(() => performance.now());
    await sendInRealTime(client, audio, startMs);
    delays.push((await heard) - (startMs + 500 + endMs));
  }
  client.socket.close(1000);
  return delays;
}

/** Workers that are busy are not; so before the load. */
export async function untilReady(url: string): Promise<void> {
  if (!(await until(() => allReady(url)))) throw new Error('the models did not get ready');
}

async function allReady(url: string): Promise<boolean> {
  await pause(100);
  const { data } = (await (await fetch(`${url}/admin/v1/workers`)).json()) as {
    data: { state: string }[];
  };
  return data.every(({ state }) => state === 'ready');
}

export async function sendInRealTime(
  client: RealtimeClient,
  audio: Buffer,
  startMs: number,
): Promise<void> {
  for (let frame = 0; frame * FRAME_BYTES < audio.length; frame += 1) {
    await pause(Math.max(0, startMs + (frame + 1) * FRAME_MS - performance.now()));
    client.say(audio.subarray(frame * FRAME_BYTES, (frame + 1) * FRAME_BYTES));
  }
}

export async function spoken(url: string): Promise<Buffer> {
  const body = JSON.stringify({
    model: 'flite-en',
    voice: 'alloy',
    input: SENTENCE,
    response_format: 'pcm',
  });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers,
    body,
  });
  if (!answer.ok) throw new Error(`speech: ${answer.status} ${await answer.text()}`);
  return Buffer.from(await answer.arrayBuffer());
}

function lastLoudByte(pcm: Buffer): number {
  for (let at = pcm.length - 2; at >= 0; at -= 2)
    if (Math.abs(pcm.readInt16LE(at)) > QUIET) return at;
  return 0;
}
