import { type IncomingMessage } from 'node:http';
import { type RetryTiming } from '../../../platform/http/retry-after.js';
import { samplesOf } from '@switchyard/engine-api/audio/pcm.js';
import { type ItemOutcome } from '@switchyard/engine-api/engine.js';
import {
  checkSpeechItem,
  nothingToSpeak,
  type SpeechSynthesizer,
  type SynthesizeItem,
} from '@switchyard/engine-api/speech-synthesizer.js';
import { type OpenAiHttpSpeechOptions } from './options.js';
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
const OTHER_CONTENT =
  /^(text\/|application\/(json|xml)|audio\/(x-)?(wav|wave|mpeg|mp3|ogg|opus|flac|aac|mp4)\b)/i;

/** Names what an answer is when its header says that it is not raw PCM. */
export function otherContentIn(contentType: string | undefined): string | undefined {
  return OTHER_CONTENT.exec(contentType ?? '') ? contentType : undefined;
}

/** Bytes of a PCM s16le body as samples, however the network cut them. */
export class SpeechSamples {
  #kept: Uint8Array = new Uint8Array(0);
  #begun = false;

  constructor(private readonly modelId: string) {}

  /**
   * Whole samples of what has come; the rest waits for more.
   * @throws UpstreamFailure naming the container that the bytes are.
   */
  take(chunk: Uint8Array): Int16Array {
    const bytes =
      this.#kept.byteLength === 0 ? chunk : Buffer.concat([this.#kept, chunk]);
    if (!this.#begun && bytes.byteLength < LONGEST_START) return this.#keep(bytes, 0);
    if (!this.#begun) refuseContainer(bytes, this.modelId);
    this.#begun = true;
    return this.#keep(bytes, bytes.byteLength & ~1);
  }

  /** A body shorter than the longest container's name. An odd last byte is no sample. */
  end(): Int16Array {
    return samplesOf(this.#kept);
  }

  #keep(bytes: Uint8Array, taken: number): Int16Array {
    this.#kept = bytes.slice(taken);
    return samplesOf(bytes.subarray(0, taken));
  }
}

function refuseContainer(bytes: Uint8Array, modelId: string): void {
  const start = Buffer.from(bytes.subarray(0, LONGEST_START)).toString('latin1');
  const container = CONTAINERS.find(([magic]) => start.startsWith(magic));
  if (container)
    throw unusableAnswer(
      modelId,
      `sent ${container[1]} although response_format was pcm.`,
    );
}

/** Synthesis at an OpenAI-compatible server: raw PCM, passed on as it comes in. */
export class OpenAiHttpSynthesizer
  extends UpstreamEngine<OpenAiHttpSpeechOptions>
  implements SpeechSynthesizer
{
  readonly kind = 'tts';
  readonly sampleRate: number;
  readonly voices: SpeechSynthesizer['voices'];

  constructor(options: OpenAiHttpSpeechOptions, timing?: RetryTiming) {
    super(options, ['speech', 'speed'], timing);
    this.sampleRate = options.sampleRate;
    this.voices = options.voices.map(id => ({ id, name: id, language: '', gender: '' }));
  }

  synthesize(
    batch: readonly SynthesizeItem[],
  ): Promise<readonly ItemOutcome<{ readonly durationS: number }>[]> {
    return this.each(batch, async item => {
      // What needs no upstream to be refused.
      checkSpeechItem(item, this.options.voices);
      if (item.text.trim() === '') throw nothingToSpeak();
      return { durationS: (await this.#speak(item)) / this.sampleRate };
    });
  }

  /** Samples emitted. */
  #speak(item: SynthesizeItem): Promise<number> {
    return this.upstream.call({
      path: '/audio/speech',
      accept: 'audio/pcm, application/octet-stream, */*;q=0.1',
      body: orderOf(item, this.options.model),
      signal: item.signal,
      traceparent: item.traceparent,
      read: (body, answer) => this.#passOn(item, body, answer),
    });
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
    const speech = new SpeechSamples(modelId);
    let emitted = 0;
    const emit = (samples: Int16Array): void => {
      item.signal.throwIfAborted();
      if (samples.length > 0) item.emit(samples);
      emitted += samples.length;
    };
    for await (const chunk of body) emit(speech.take(chunk));
    emit(speech.end());
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
  return jsonBody(Buffer.from(JSON.stringify(order)));
}
