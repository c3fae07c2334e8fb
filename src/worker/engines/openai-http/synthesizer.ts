import { type IncomingMessage } from 'node:http';
import { samplesOf } from '@switchyard/engine-api/audio/pcm.js';
import { type ItemOutcome } from '@switchyard/engine-api/engine.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import {
  checkSpeechItem,
  nothingToSpeak,
  type SpeechSynthesizer,
  type SynthesizeItem,
} from '@switchyard/engine-api/speech-synthesizer.js';
import { type RetryTiming } from '../../../platform/http/retry-after.js';
import { type readOpenAiHttpSpeechOptions } from './options.js';
import { UpstreamEngine } from './upstream-engine.js';
import { jsonBody, type RequestBody } from './upstream-exchange.js';
import { unusableAnswer } from './upstream-failure.js';

/**
 * Containers by their first bytes: a server that does not know `pcm` sends what
 * it always sends.
 */
const CONTAINERS: readonly (readonly [start: string, name: string])[] = [
  ['RIFF', 'WAV'],
  ['ID3', 'MP3'],
  ['OggS', 'Ogg'],
  ['fLaC', 'FLAC'],
];
const LONGEST_START = 4;
/**
 * Seconds of audio that are taken for a text: 30 and one for each of its characters, about 15
 * times what speech takes. What a slow reader has not taken waits in memory, so an upstream that
 * never ends must not go on until the time limit of the request.
 */
const MOST_S = { text: 30, perCharacter: 1 };
const OTHER_CONTENT =
  /^(text\/|application\/(json|xml)|audio\/(x-)?(wav|wave|mpeg|mp3|ogg|opus|flac|aac|mp4)\b)/i;

/** Names what an answer is when its header says that it is not raw PCM. */
export function otherContentIn(contentType: string | undefined): string | undefined {
  return OTHER_CONTENT.exec(contentType ?? '') ? contentType : undefined;
}

/**
 * The bytes of a PCM s16le body as samples, however the network cut them. An odd last byte
 * is no sample.
 * @throws UpstreamFailure naming the container that the bytes are
 */
export async function* speechIn(
  body: AsyncIterable<Uint8Array>,
  modelId: string,
): AsyncGenerator<Int16Array> {
  let kept: Uint8Array = new Uint8Array(0);
  let begun = false;
  for await (const chunk of body) {
    const bytes = kept.byteLength === 0 ? chunk : Buffer.concat([kept, chunk]);
    // A body shorter than the longest container's name is audio, too.
    if (!begun && bytes.byteLength >= LONGEST_START) {
      refuseContainer(bytes, modelId);
      begun = true;
    }
    const whole: number = begun ? bytes.byteLength & ~1 : 0;
    kept = bytes.slice(whole);
    yield samplesOf(bytes.subarray(0, whole));
  }
  yield samplesOf(kept);
}

function refuseContainer(bytes: Uint8Array, modelId: string): void {
  const start = Buffer.from(bytes.subarray(0, LONGEST_START)).toString('latin1');
  const container = CONTAINERS.find(([magic]) => start.startsWith(magic));
  if (container)
    throw unusableAnswer(modelId, `sent ${container[1]} although response_format was pcm.`);
}

/** Synthesis at an OpenAI-compatible server: raw PCM, passed on as it comes in. */
export class OpenAiHttpSynthesizer extends UpstreamEngine implements SpeechSynthesizer {
  readonly kind = 'tts';
  readonly sampleRate: number;
  readonly voices: SpeechSynthesizer['voices'];

  constructor(options: ReturnType<typeof readOpenAiHttpSpeechOptions>, timing?: RetryTiming) {
    super(options, ['speech', 'speed'], timing);
    this.sampleRate = options.sampleRate;
    this.voices = options.voices.map(id => ({ id, name: id, language: '', gender: '' }));
  }

  synthesize(
    batch: readonly SynthesizeItem[],
  ): Promise<readonly ItemOutcome<{ readonly durationS: number }>[]> {
    const voices = this.voices.map(({ id }) => id);
    return this.each(batch, async item => {
      // What needs no upstream to be refused.
      checkSpeechItem(item, voices);
      if (item.text.trim() === '') throw nothingToSpeak();
      return { durationS: (await this.#speak(item)) / this.sampleRate };
    });
  }

  /** @returns the number of samples emitted */
  #speak(item: SynthesizeItem): Promise<number> {
    const request = {
      path: '/audio/speech',
      accept: 'audio/pcm, application/octet-stream, */*;q=0.1',
      body: orderOf(item, this.options.model),
      signal: item.signal,
      traceparent: item.traceparent,
    };
    return this.call(request, (body, answer) => this.#passOn(item, body, answer));
  }

  async #passOn(
    item: SynthesizeItem,
    body: AsyncIterable<Buffer>,
    answer: IncomingMessage,
  ): Promise<number> {
    const { modelId } = this.options;
    const other = otherContentIn(answer.headers['content-type']);
    if (other !== undefined)
      throw unusableAnswer(modelId, `sent ${other} although response_format was pcm.`);
    const mostS = MOST_S.text + (MOST_S.perCharacter * item.text.length) / item.speed;
    let emitted = 0;
    for await (const samples of speechIn(body, modelId)) {
      item.signal.throwIfAborted();
      if (emitted + samples.length > mostS * this.sampleRate)
        throw unusableAnswer(
          modelId,
          `sent more than ${Math.round(mostS)} s of audio for the text.`,
        );
      if (samples.length > 0) item.emit(samples);
      emitted += samples.length;
    }
    if (emitted === 0) throw unusableAnswer(modelId, 'answered without audio.');
    return emitted;
  }
}

/** speed 1 is left out: a server that does not know the field may refuse it. */
function orderOf({ text, voice, speed }: SynthesizeItem, model: string): RequestBody {
  const order = {
    model,
    input: text,
    voice,
    response_format: 'pcm',
    ...(speed !== 1 && { speed }),
  };
  return jsonBody(Buffer.from(writeJson(order)));
}
