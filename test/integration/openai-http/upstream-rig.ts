import { type ItemOutcome } from '@switchyard/engine-api/engine.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { type RetryTiming } from '../../../src/platform/http/retry-after.js';
import { OpenAiHttpEmbedder } from '../../../src/worker/engines/openai-http/embedder.js';
import { OpenAiHttpGenerator } from '../../../src/worker/engines/openai-http/generator.js';
import {
  readOpenAiHttpOptions,
  readOpenAiHttpSpeechOptions,
} from '../../../src/worker/engines/openai-http/options.js';
import { OpenAiHttpRecognizer } from '../../../src/worker/engines/openai-http/recognizer.js';
import { OpenAiHttpSynthesizer } from '../../../src/worker/engines/openai-http/synthesizer.js';
import { modelSpec } from '../../contract/engines/engine-items.js';
import { OpenAiUpstream, type UpstreamOptions } from '../../support/openai-upstream.js';

/** Waits between attempts are noted, not waited for. */
export class NotedTiming implements RetryTiming {
  readonly waits: number[] = [];

  sleep(ms: number): Promise<void> {
    this.waits.push(ms);
    return Promise.resolve();
  }

  random(): number {
    return 0;
  }
}

/** Engines in front of one scripted upstream, all closed together. */
export class UpstreamRig implements AsyncDisposable {
  readonly timing = new NotedTiming();
  readonly #engines: { close(): Promise<void> }[] = [];

  private constructor(readonly upstream: OpenAiUpstream) {}

  static async start(options: UpstreamOptions = { models: ['m'] }): Promise<UpstreamRig> {
    return new UpstreamRig(await OpenAiUpstream.start(options));
  }

  async recognizer(
    options: ModelSpec['options'] = {},
    timing: RetryTiming = this.timing,
  ): Promise<OpenAiHttpRecognizer> {
    const spec = modelSpec('openai-http', 'stt', {
      baseUrl: this.upstream.baseUrl,
      model: 'm',
      ...options,
    });
    return this.#loaded(new OpenAiHttpRecognizer(readOpenAiHttpOptions(spec), timing));
  }

  async synthesizer(options: ModelSpec['options'] = {}): Promise<OpenAiHttpSynthesizer> {
    const spec = modelSpec('openai-http', 'tts', {
      baseUrl: this.upstream.baseUrl,
      model: 'm',
      ...options,
    });
    const read = readOpenAiHttpSpeechOptions({ ...spec, voices: { alloy: 'v1' } });
    return this.#loaded(new OpenAiHttpSynthesizer(read, this.timing));
  }

  async generator(
    options: ModelSpec['options'] = {},
    timing: RetryTiming = this.timing,
  ): Promise<OpenAiHttpGenerator> {
    const spec = modelSpec('openai-http', 'llm', {
      baseUrl: this.upstream.baseUrl,
      model: 'm',
      ...options,
    });
    return this.#loaded(new OpenAiHttpGenerator(readOpenAiHttpOptions(spec), timing));
  }

  async embedder(options: ModelSpec['options'] = {}): Promise<OpenAiHttpEmbedder> {
    const spec = modelSpec('openai-http', 'embedding', {
      baseUrl: this.upstream.baseUrl,
      model: 'm',
      ...options,
    });
    return this.#loaded(new OpenAiHttpEmbedder(readOpenAiHttpOptions(spec), this.timing));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const engine of this.#engines) await engine.close();
    await this.upstream[Symbol.asyncDispose]();
  }

  async #loaded<T extends { load(): Promise<void>; close(): Promise<void> }>(
    engine: T,
  ): Promise<T> {
    this.#engines.push(engine);
    await engine.load();
    return engine;
  }
}

export function errorOf(outcomes: readonly ItemOutcome<unknown>[]): Error {
  const [outcome] = outcomes;
  if (!outcome || outcome.ok) throw new Error(`expected a failure, got ${JSON.stringify(outcome)}`);
  return outcome.error;
}
