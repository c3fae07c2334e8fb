import { type IncomingMessage } from 'node:http';
import { DomainError } from '../../../core/shared/domain-error.js';
import {
  type EngineInfo,
  type EngineVoice,
  type ItemOutcome,
  type SpeechSynthesizer,
  type SynthesizeItem,
} from '../engine.js';
import { cancelledError, failed, succeeded } from '../item-outcome.js';
import { type OpenAiHttpSpeechOptions } from './openai-http-options.js';
import { type RetryTiming } from '../../../platform/http/retry-timing.js';
import { otherContentIn, SpeechSamples } from './speech-samples.js';
import { Upstream } from './upstream.js';
import { type RequestBody } from './upstream-exchange.js';
import { unusableAnswer } from './upstream-failure.js';
import { loadedInfo, unloadedInfo } from './upstream-info.js';

type Spoken = ItemOutcome<{ readonly durationS: number }>;

/** Synthesis at an OpenAI-compatible server: raw PCM, passed on as it comes in. */
export class OpenAiHttpSynthesizer implements SpeechSynthesizer {
  readonly kind = 'tts';
  readonly sampleRate: number;
  readonly voices: readonly EngineVoice[];
  readonly #upstream: Upstream;
  #info: EngineInfo;

  constructor(
    private readonly options: OpenAiHttpSpeechOptions,
    timing?: RetryTiming,
  ) {
    this.#upstream = new Upstream(options, timing);
    this.#info = unloadedInfo(options, ['speech', 'speed']);
    this.sampleRate = options.sampleRate;
    this.voices = options.voices.map(id => ({ id, name: id, language: '', gender: '' }));
  }

  get info(): EngineInfo {
    return this.#info;
  }

  async load(): Promise<void> {
    this.#info = await loadedInfo(this.#info, this.#upstream, this.options);
  }

  close(): Promise<void> {
    this.#upstream.close();
    return Promise.resolve();
  }

  synthesize(batch: readonly SynthesizeItem[]): Promise<readonly Spoken[]> {
    return Promise.all(batch.map(item => this.#outcome(item)));
  }

  async #outcome(item: SynthesizeItem): Promise<Spoken> {
    try {
      item.signal.throwIfAborted();
      this.#check(item);
      return succeeded({ durationS: (await this.#speak(item)) / this.sampleRate });
    } catch (error) {
      return failed(item.signal.aborted ? cancelledError(item.requestId) : error);
    }
  }

  /** What needs no upstream to be refused. */
  #check({ text, voice, speed }: SynthesizeItem): void {
    if (!this.options.voices.includes(voice)) {
      const message = `No voice '${voice}'; voices: ${this.options.voices.join(', ')}`;
      throw new DomainError('voice_not_found', message, { param: 'voice' });
    }
    if (!(speed >= 0.25 && speed <= 4)) {
      throw new DomainError('invalid_value', `speed is ${speed}; allowed: 0.25 to 4`, { param: 'speed' });
    }
    if (text.trim() === '') throw new DomainError('invalid_value', 'input has nothing to speak', { param: 'input' });
  }

  /** Samples emitted. */
  #speak(item: SynthesizeItem): Promise<number> {
    return this.#upstream.call({
      path: '/audio/speech',
      accept: 'audio/pcm, application/octet-stream, */*;q=0.1',
      body: orderOf(item, this.options.model),
      signal: item.signal,
      read: (body, answer) => this.#passOn(item, body, answer),
    });
  }

  async #passOn(item: SynthesizeItem, body: AsyncIterable<Buffer>, answer: IncomingMessage): Promise<number> {
    const { modelId } = this.options;
    const other = otherContentIn(answer.headers['content-type']);
    if (other !== undefined) throw unusableAnswer(modelId, `sent ${other} although response_format was pcm.`);
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
  const order = { model, input: text, voice, response_format: 'pcm', ...(speed !== 1 && { speed }) };
  return { contentType: 'application/json', parts: [Buffer.from(JSON.stringify(order))] };
}
