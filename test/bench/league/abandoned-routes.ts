import { type RealModels, wavSamples } from '../../support/real-models.js';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';

/** One call of a route. Ends when its answer is whole, or when `signal` breaks it off. */
export type Route = (url: string, signal: AbortSignal) => Promise<void>;

const QUESTION = 'Tell a long story about a train that leaves from the second platform.';
const TOKENS = 200;
const EMBEDDED_TEXTS = 48;
const SPOKEN = Array.from(
  { length: 12 },
  () => 'The train to the north leaves from the second platform at nine.',
).join(' ');

/** The twelve routes, each with an input that keeps the device at work for about a second. */
export async function abandonedRoutes(
  real: RealModels,
  models: Readonly<Record<'speech' | 'text' | 'voice' | 'vectors', string>>,
): Promise<Readonly<Record<string, Route>>> {
  const clip = await real.speech('moonshine_voice/assets/two_cities.wav');
  const { data, rate } = wavSamples(clip);
  const chat = {
    model: models.text,
    messages: [{ role: 'user', content: QUESTION }],
    max_tokens: TOKENS,
  };
  const heard =
    (path: string, more: Readonly<Record<string, string>> = {}): Route =>
    (url, signal) => {
      const form = new FormData();
      form.set('file', new Blob([Uint8Array.from(clip)]), 'speech.wav');
      for (const [name, value] of Object.entries({ model: models.speech, ...more }))
        form.set(name, value);
      return read(url + path, { body: form, signal });
    };
  const json =
    (path: string, body: object): Route =>
    (url, signal) =>
      read(url + path, {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal,
      });
  return {
    transcription: heard('/v1/audio/transcriptions'),
    'transcription, streamed': heard('/v1/audio/transcriptions', { stream: 'true' }),
    translation: heard('/v1/audio/translations'),
    speech: json('/v1/audio/speech', { model: models.voice, voice: 'alloy', input: SPOKEN }),
    chat: json('/v1/chat/completions', chat),
    'chat, streamed': json('/v1/chat/completions', { ...chat, stream: true }),
    completions: json('/v1/completions', {
      model: models.text,
      prompt: QUESTION,
      max_tokens: TOKENS,
    }),
    responses: json('/v1/responses', {
      model: models.text,
      input: QUESTION,
      max_output_tokens: TOKENS,
      store: false,
    }),
    messages: json('/v1/messages', chat),
    'Ollama chat': json('/api/chat', {
      ...{ model: models.text, messages: chat.messages },
      options: { num_predict: TOKENS },
    }),
    embeddings: json('/v1/embeddings', {
      model: models.vectors,
      input: Array.from({ length: EMBEDDED_TEXTS }, (_, index) => `${index} ${SPOKEN}`),
    }),
    'live session': (url, signal) => session(url, models.speech, { data, rate }, signal),
  };
}

async function read(url: string, init: RequestInit): Promise<void> {
  const response = await fetch(url, { method: 'POST', ...init });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  for await (const piece of response.body!) void piece;
}

/** All of the audio at once, a second in each frame, as one utterance; it closes its session. */
async function session(
  url: string,
  model: string,
  { data, rate }: { readonly data: Buffer; readonly rate: number },
  signal: AbortSignal,
): Promise<void> {
  const client = await RealtimeClient.open(url, { model });
  const cut = (): void => client.socket.close(1000);
  signal.addEventListener('abort', cut, { once: true });
  client.update({ format: { type: 'audio/pcm', rate }, turn_detection: null });
  for (let at = 0; at < data.length; at += 2 * rate) client.say(data.subarray(at, at + 2 * rate));
  client.commit();
  try {
    await client.next(`${TRANSCRIPTION}.completed`);
  } finally {
    signal.removeEventListener('abort', cut);
    cut();
  }
}
