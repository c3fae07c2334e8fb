import { type RealModels, wavSamples } from '../../support/real-models.js';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';

export type Device = 'speech' | 'text' | 'voice' | 'vectors';

/** One call of a route. Ends when its answer is whole, or when `signal` breaks it off. */
type Call = (url: string, signal: AbortSignal) => Promise<void>;

export interface Route {
  /** That answers it. */
  readonly device: Device;
  readonly call: Call;
}

const QUESTION = 'Tell a long story about a train that leaves from the second platform.';
/** What SmolLM2 goes on from for long. */
const STORY = 'Once upon a time there was a train that left from the second platform. It';
const TOKENS = 64;
const EMBEDDED_TEXTS = 4;
/** One utterance: Switchyard cuts longer ones, and the first answer would not be the last. */
const UTTERANCE_S = 14;
const SPOKEN = Array.from(
  { length: 12 },
  () => 'The train to the north leaves from the second platform at nine.',
).join(' ');

/** The twelve routes, each with an input that keeps the device at work for half a second or more. */
export async function abandonedRoutes(
  real: RealModels,
  models: Readonly<Record<Device, string>>,
): Promise<Readonly<Record<string, Route>>> {
  const clip = await real.speech('moonshine_voice/assets/two_cities.wav');
  const { data, rate } = wavSamples(clip);
  const heard = (path: string, more: Readonly<Record<string, string>> = {}): Route => ({
    device: 'speech',
    call: (url, signal) => {
      const form = new FormData();
      form.set('file', new Blob([Uint8Array.from(clip)]), 'speech.wav');
      for (const [name, value] of Object.entries({ model: models.speech, ...more }))
        form.set(name, value);
      return read(url + path, { body: form, signal });
    },
  });
  const json = (device: Device, path: string, fields: object): Route => {
    const body = JSON.stringify({ model: models[device], ...fields });
    const headers = { 'content-type': 'application/json' };
    return { device, call: (url, signal) => read(url + path, { headers, body, signal }) };
  };
  const messages = [{ role: 'user', content: QUESTION }];
  const chat = { messages, max_tokens: TOKENS };
  const responses = { input: QUESTION, max_output_tokens: TOKENS, store: false };
  const inputs = Array.from({ length: EMBEDDED_TEXTS }, (_, index) => `${index} ${SPOKEN}`);
  const audio = { data: data.subarray(0, 2 * rate * UTTERANCE_S), rate };
  return {
    transcription: heard('/v1/audio/transcriptions'),
    'transcription, streamed': heard('/v1/audio/transcriptions', { stream: 'true' }),
    translation: heard('/v1/audio/translations'),
    speech: json('voice', '/v1/audio/speech', { voice: 'alloy', input: SPOKEN }),
    chat: json('text', '/v1/chat/completions', chat),
    'chat, streamed': json('text', '/v1/chat/completions', { ...chat, stream: true }),
    completions: json('text', '/v1/completions', { prompt: STORY, max_tokens: TOKENS }),
    responses: json('text', '/v1/responses', responses),
    messages: json('text', '/v1/messages', chat),
    'Ollama chat': json('text', '/api/chat', { messages, options: { num_predict: TOKENS } }),
    embeddings: json('vectors', '/v1/embeddings', { input: inputs }),
    'live session': {
      device: 'speech',
      call: (url, signal) => session(url, models.speech, audio, signal),
    },
  };
}

async function read(url: string, init: RequestInit): Promise<void> {
  const response = await fetch(url, { method: 'POST', ...init });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  for await (const piece of response.body!) void piece;
}

/** One utterance, all of it at once, a second in each frame; it closes its session. */
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
  } catch (cause) {
    const error = client.events.find(({ type }) => type === 'error');
    throw new Error(JSON.stringify(error), { cause });
  } finally {
    signal.removeEventListener('abort', cut);
    cut();
  }
}
