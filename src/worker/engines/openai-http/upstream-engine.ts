import { type RetryTiming } from '../../../platform/http/retry-timing.js';
import { type EngineCapability, type EngineInfo } from '../engine.js';
import { type OpenAiHttpOptions } from './openai-http-options.js';
import { Upstream } from './upstream.js';
import { loadedInfo, unloadedInfo } from './upstream-info.js';

/** The life of an engine that is another server: opened at load, asked what it has, closed at the end. */
export abstract class UpstreamEngine<Options extends OpenAiHttpOptions = OpenAiHttpOptions> {
  protected readonly upstream: Upstream;
  #info: EngineInfo;

  /** `carried`: what the protocol can ask an upstream of this kind for. */
  constructor(
    protected readonly options: Options,
    carried: readonly EngineCapability[],
    timing?: RetryTiming,
  ) {
    this.upstream = new Upstream(options, timing);
    this.#info = unloadedInfo(options, carried);
  }

  get info(): EngineInfo {
    return this.#info;
  }

  async load(): Promise<void> {
    this.#info = await loadedInfo(this.#info, this.upstream, this.options);
  }

  close(): Promise<void> {
    this.upstream.close();
    return Promise.resolve();
  }
}
