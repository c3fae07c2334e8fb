import { type NativeSampler } from './llama-library.js';

/** A native sampler, and the seed that its generator was last started with. */
export interface PooledSampler {
  readonly native: NativeSampler;
  lastSeed: number | undefined;
}

/**
 * As many samplers as draws are under way at the same time. Each has a buffer as large as the vocabulary (1.5 MB for 128,000 tokens): one
 * per sequence would not stay in any cache.
 */
export class SamplerPool {
  readonly #make: () => NativeSampler;
  readonly #free: PooledSampler[] = [];
  readonly #waiting: ((sampler: PooledSampler) => void)[] = [];
  #left: number;

  constructor(most: number, make: () => NativeSampler) {
    this.#left = most;
    this.#make = make;
  }

  /** The sampler is the work's own until it ends; what the one before set up in it is void. */
  async use<T>(work: (sampler: PooledSampler) => Promise<T>): Promise<T> {
    const sampler = await this.#take();
    try {
      return await work(sampler);
    } finally {
      const next = this.#waiting.shift();
      if (next) next(sampler);
      else this.#free.push(sampler);
    }
  }

  #take(): PooledSampler | Promise<PooledSampler> {
    const free = this.#free.pop();
    if (free) return free;
    if (this.#left === 0) return new Promise(resolve => this.#waiting.push(resolve));
    this.#left -= 1;
    return { native: this.#make(), lastSeed: undefined };
  }
}
