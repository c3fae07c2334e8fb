import { fileURLToPath } from 'node:url';
import { RECOGNISER_RATE } from '@switchyard/engine-api/audio/pcm.js';
import {
  FRAME_SAMPLES,
  VoiceActivityTracker,
  type VoiceEvent,
} from '@switchyard/engine-api/audio/voice-activity-tracker.js';
import { EngineError, invalidValue } from '@switchyard/engine-api/coded-error.js';
import { errorMessage } from '@switchyard/engine-api/error-message.js';
import { type VoiceActivityOptions } from '@switchyard/engine-api/speech-recognizer.js';
import { loadSherpa, toFloats, type VoiceDetector } from './library.js';

const LIMITS = [
  ['threshold', 1],
  ['prefixPaddingMs', 5000],
  ['silenceDurationMs', 10_000],
] as const;

/** The library rejects thresholds beyond these. */
const LOWEST_THRESHOLD = 0.01;
const HIGHEST_THRESHOLD = 0.99;
/**
 * The tracker decides how long speech and silence must last, so the library reports each
 * frame as it is.
 */
const AT_ONCE_S = 1e-5;
/**
 * The model judges a frame together with the samples before it; without them the library
 * is a frame late.
 */
const CONTEXT_SAMPLES = 64;
/** Longer than any stream: utterances are cut by the stream itself. */
const UNLIMITED_S = 1e6;
/** First size of the library's buffer, which grows. */
const BUFFER_S = 20;

/**
 * A session of Silero's voice activity model.
 * @throws EngineError `invalid_value` that names the option, `engine_failed` with
 *   what to install
 */
export function openVoiceActivity(options: VoiceActivityOptions): VoiceActivitySession {
  for (const [name, most] of LIMITS) {
    const value = options[name];
    if (value >= 0 && value <= most) continue;
    const param = name.replaceAll(/[A-Z]/g, capital => `_${capital.toLowerCase()}`);
    throw invalidValue(`${param} must be 0 to ${most}, not ${value}.`, param);
  }
  return new VoiceActivitySession(options);
}

/**
 * Detectors of ended sessions, by threshold: one takes about 0.1 s of this thread to
 * load, and 10 MB. A frame costs 0.1 ms, so detectors run on the serving loop: messages
 * to a thread cost as much.
 */
const idleDetectors = new Map<number, VoiceDetector[]>();

function loadDetector(threshold: number): VoiceDetector {
  try {
    const model = fileURLToPath(new URL('./silero-vad/silero_vad_v5.onnx', import.meta.url));
    const durations = {
      minSpeechDuration: AT_ONCE_S,
      minSilenceDuration: AT_ONCE_S,
      maxSpeechDuration: UNLIMITED_S,
    };
    const sileroVad = { model, threshold, windowSize: FRAME_SAMPLES, ...durations };
    return new (loadSherpa().Vad)(
      { sileroVad, sampleRate: RECOGNISER_RATE, numThreads: 1 },
      BUFFER_S,
    );
  } catch (cause) {
    const message = `Voice activity detection cannot load. ${errorMessage(cause)}`;
    throw new EngineError('engine_failed', message, { cause });
  }
}

/**
 * One stream's voice activity. Its model state is its own: streams do not
 * affect one another.
 */
class VoiceActivitySession {
  readonly #tracker: VoiceActivityTracker;
  readonly #threshold: number;
  readonly #frame = new Int16Array(FRAME_SAMPLES);
  #detector: VoiceDetector | undefined;
  /** Samples of the frame that is being filled. */
  #filled = 0;

  constructor(options: VoiceActivityOptions) {
    // The library reports speech at its second loud frame, and silence at its
    // second quiet one.
    this.#tracker = new VoiceActivityTracker(options, FRAME_SAMPLES);
    this.#threshold = Math.min(HIGHEST_THRESHOLD, Math.max(LOWEST_THRESHOLD, options.threshold));
    this.#detector = idleDetectors.get(this.#threshold)?.pop() ?? loadDetector(this.#threshold);
    this.#detector.acceptWaveform(new Float32Array(CONTEXT_SAMPLES));
  }

  /** Samples judged so far; up to one frame less than were pushed. */
  get position(): number {
    return this.#tracker.position;
  }

  /**
   * First sample of the stream that may still belong to an utterance; earlier ones
   * can be discarded.
   */
  get claimableFrom(): number {
    return this.#tracker.claimableFrom;
  }

  /** Mono s16 at 16 kHz, any number. Nothing after `close`. */
  push(samples: Int16Array): VoiceEvent[] {
    const events: VoiceEvent[] = [];
    for (let at = 0; at < samples.length && this.#detector;) {
      const taken = samples.subarray(at, at + FRAME_SAMPLES - this.#filled);
      this.#frame.set(taken, this.#filled);
      this.#filled += taken.length;
      at += taken.length;
      if (this.#filled < FRAME_SAMPLES) continue;
      const event = this.#tracker.next(isSpeech(this.#detector, this.#frame) ? 1 : 0);
      if (event) events.push(event);
      this.#filled = 0;
    }
    return events;
  }

  /**
   * Ends the utterance, if there is one, with all audio pushed so far: a commit, or the
   * end of the stream.
   */
  end(): VoiceEvent[] {
    return this.#tracker.finish(this.position + this.#filled);
  }

  /** Speech continues in another utterance from sample `at`. */
  split(at: number): VoiceEvent[] {
    // The library keeps the samples of current speech.
    this.#detector?.flush();
    this.#detector?.clear();
    return this.#tracker.split(at);
  }

  close(): void {
    const detector = this.#detector;
    if (!detector) return;
    this.#detector = undefined;
    detector.reset();
    const idle = idleDetectors.get(this.#threshold) ?? [];
    idleDetectors.set(this.#threshold, [...idle, detector]);
  }
}

function isSpeech(detector: VoiceDetector, frame: Int16Array): boolean {
  detector.acceptWaveform(toFloats(frame));
  // Segments that the library has cut by itself are not used.
  if (!detector.isEmpty()) detector.clear();
  return detector.isDetected();
}
