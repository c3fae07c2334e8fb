import { closeSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs';
import { mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { STOP_FILE } from './stoppable-voice.js';

/**
 * Ends the run of a `stoppableVoice` when nobody wants its speech. The loaded model maps a file
 * of its own that is written here. One call runs at a time, so that no abort reaches another one.
 */
export class VoiceStop {
  readonly #file: number;
  #last: Promise<unknown> = Promise.resolve();
  #ended = false;

  private constructor(private readonly folder: string) {
    this.#file = openSync(join(folder, STOP_FILE.name), 'w');
    ftruncateSync(this.#file, STOP_FILE.bytes);
  }

  /** @param model path of the file, which is to be loaded from `path` instead */
  static async beside(model: string): Promise<VoiceStop> {
    const stop = new VoiceStop(await mkdtemp(join(tmpdir(), 'switchyard-voice-')));
    await symlink(resolve(model), stop.path);
    return stop;
  }

  get path(): string {
    return join(this.folder, 'model.onnx');
  }

  /** The model is in memory and the file mapped, or neither will be: their names are removed. */
  loaded(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Runs `call`; its computation ends within milliseconds when the signal aborts. */
  during<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    const called = this.#last.then(() => this.#during(signal, call));
    this.#last = called.catch(() => undefined);
    return called;
  }

  /** Ends the computation that runs, and all that follow. */
  end(): void {
    this.#write(true);
    this.#ended = true;
  }

  /** To be called after the model is closed. */
  close(): void {
    closeSync(this.#file);
  }

  async #during<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    const stop = (): void => this.#write(true);
    signal.addEventListener('abort', stop, { once: true });
    // It may have waited for the call before, and a signal tells of its abort once.
    if (signal.aborted) stop();
    try {
      return await call();
    } finally {
      signal.removeEventListener('abort', stop);
      if (signal.aborted) this.#write(false);
    }
  }

  #write(stop: boolean): void {
    if (!this.#ended) writeSync(this.#file, Buffer.of(stop ? 1 : 0), 0, 1, 0);
  }
}
