import { Injectable } from '@nestjs/common';
import { type TranscribeCallFields } from '@switchyard/worker-protocol/stt.codec.js';
import { abortError } from '../../core/errors/abort-error.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { SafeFetch } from '../../platform/http/safe-fetch.js';

/**
 * The audio of a call: what it came with, or what its URL names. Downloads take no
 * preparation place and no turn: a slow one delays only itself. As many run at once as
 * the gateway has slots here.
 */
@Injectable()
export class AudioDownload {
  readonly #fetch: SafeFetch | undefined;

  constructor({ fetch }: WorkerSpec) {
    this.#fetch = fetch && new SafeFetch(fetch);
  }

  /** @throws DomainError as `SafeFetch` does, or the abort's own error. */
  async bytes(audio: TranscribeCallFields['audio'], signal: AbortSignal): Promise<Buffer> {
    if (Buffer.isBuffer(audio)) return audio;
    return Buffer.concat(await Array.fromAsync(this.pieces(audio.url, signal)));
  }

  /** As `bytes`, but in pieces, read only as they are consumed. */
  async *pieces(url: string, signal: AbortSignal): AsyncGenerator<Buffer> {
    if (!this.#fetch) {
      throw new DomainError('file_url_refused', 'This worker fetches no audio by URL.', {
        param: 'file_url',
      });
    }
    try {
      yield* this.#fetch.chunks(url, signal);
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
