import { Inject, Injectable } from '@nestjs/common';
import { type CallAudio } from '../../contracts/grpc/stt.codec.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { WORKER_SPEC, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { SafeFetch } from '../../platform/storage/safe-fetch.js';
import { abortError } from '../execution/work-item.js';

/**
 * The bytes of a call's audio: those it came with, or what its URL names. Downloads take no preparation place and no turn:
 * a slow one delays only itself. As many run at once as the gateway has slots here.
 */
@Injectable()
export class AudioDownload {
  readonly #fetch: SafeFetch | undefined;

  constructor(@Inject(WORKER_SPEC) { fetch }: WorkerSpec) {
    this.#fetch = fetch && new SafeFetch(fetch);
  }

  /** @throws DomainError as `SafeFetch` does, or the abort's own error. */
  async bytes(audio: CallAudio, signal: AbortSignal): Promise<Buffer> {
    if (Buffer.isBuffer(audio)) return audio;
    if (!this.#fetch) {
      throw new DomainError('file_url_refused', 'This worker fetches no audio by URL.', { param: 'file_url' });
    }
    try {
      return await this.#fetch.bytes(audio.url, signal);
    } catch (error) {
      throw signal.aborted ? abortError(signal) : error;
    }
  }
}

/** Decoders speak of `file`; the caller sent `file_url`. */
export function aboutUrl(error: unknown): unknown {
  if (!(error instanceof DomainError) || error.param !== 'file') return error;
  return new DomainError(error.code, error.message, { param: 'file_url', cause: error });
}
