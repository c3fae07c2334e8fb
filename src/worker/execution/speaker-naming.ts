import { addAbortListener } from 'node:events';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import {
  type KnownVoice,
  type SpeechRecognizer,
  type KnownSpeaker,
  type Transcript,
} from '@switchyard/engine-api/speech-recognizer.js';
import { type TranscribeCallFields } from '@switchyard/worker-protocol/stt.codec.js';
import { abortError } from '../../core/errors/abort-error.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { aboutUrl } from '../audio/audio-download.js';
import { decodeAudio } from '../audio/decode.js';
import { type SegmentSink, type TranscriptAnswer } from './transcript-stitcher.js';

const PARAM = 'known_speaker_references';
const SHORTEST_S = 2;
const LONGEST_S = 10;
/**
 * Decoded at most, so that the error can name the length of a reference that is a
 * little too long.
 */
const DECODED_S = 30;
/**
 * Tolerance: encoders pad to whole frames, so ten seconds of speech are 10.03 s of mp3.
 */
const SLACK_S = 0.1;

/**
 * Decodes the reference voices of a request, one after the other, as part
 * of its preparation.
 * @throws DomainError with `param` known_speaker_references: what cannot be decoded, or
 *   is not 2 to 10 seconds long;
 * entries
 *   are counted from 0, as in the request. The abort's own error.
 */
export async function knownVoices(
  speakers: readonly KnownSpeaker[],
  signal: AbortSignal,
): Promise<KnownVoice[]> {
  const voices: KnownVoice[] = [];
  for (const [index, { name, reference }] of speakers.entries()) {
    const { samples, durationS } = await decodeAudio(reference, signal, DECODED_S).catch(
      (error: unknown) => {
        throw aboutReference(error, index);
      },
    );
    if (durationS < SHORTEST_S - SLACK_S || durationS > LONGEST_S + SLACK_S) {
      const length = `must be ${SHORTEST_S} to ${LONGEST_S} seconds long; got ${durationS.toFixed(2)}`;
      throw invalidField(PARAM, `\`${PARAM}[${index}]\` ${length}.`);
    }
    voices.push({ name, samples });
  }
  return voices;
}

/** Decoders name the field `file`. */
function aboutReference(error: unknown, index: number): unknown {
  if (!(error instanceof DomainError) || error.param !== 'file') return error;
  return new DomainError(error.code, `\`${PARAM}[${index}]\`: ${error.message}`, {
    param: PARAM,
    cause: error,
  });
}

/** True for a call whose speakers are told apart beside recognition, not by it. */
export const isDiarizedBeside = (
  engine: Pick<SpeechRecognizer, 'speakersOf'>,
  { diarize }: TranscribeCallFields,
): boolean => diarize && engine.speakersOf !== undefined;

interface NamedRun {
  readonly engine: Pick<SpeechRecognizer, 'speakersOf'>;
  readonly call: TranscribeCallFields;
  /** The whole file: "A" of one part of it would not be "A" of the next. */
  readonly bytes: () => Promise<Buffer>;
  /** Seconds decoded at most. */
  readonly mostS: number;
  readonly signal: AbortSignal;
  /** Receives the segments; with speakers, once all of them are known. */
  readonly sink?: SegmentSink | undefined;
}

/**
 * Recognises a file and, where that is asked for and not the recogniser's own, tells its
 * speakers apart, both at once; each segment is its longest speaker's. The failure of one
 * ends the other. @throws DomainError the first failure, which names the field of the
 * audio as the caller sent it; or the abort's error
 */
export async function recognisedWithSpeakers(
  run: NamedRun,
  recognise: Recognise,
): Promise<TranscriptAnswer> {
  const { engine, call, signal, sink } = run;
  try {
    return isDiarizedBeside(engine, call)
      ? await namedBeside(run, recognise)
      : await recognise(call, signal, sink);
  } catch (error) {
    throw Buffer.isBuffer(call.audio) ? error : aboutUrl(error);
  }
}

type Recognise = (
  call: TranscribeCallFields,
  signal: AbortSignal,
  sink?: SegmentSink,
) => Promise<TranscriptAnswer>;

async function namedBeside(
  { engine, call, bytes, mostS, signal, sink }: NamedRun,
  recognise: Recognise,
): Promise<TranscriptAnswer> {
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const naming = (async () => {
    const known = await knownVoices(call.knownSpeakers, stop);
    const { samples } = await decodeAudio(await bytes(), stop, mostS);
    return engine.speakersOf?.(samples, known, stop);
  })();
  naming.catch((error: unknown) => failed.abort(error));
  const held: Parameters<SegmentSink>[] = [];
  try {
    const plain = { ...call, diarize: false, knownSpeakers: [] };
    const answer = await recognise(plain, stop, (...segment) => held.push(segment));
    const speakerOf = await Promise.race([naming, aborted(stop)]);
    const named = (segment: Transcript['segments'][number]) => ({
      ...segment,
      speaker: speakerOf?.(segment) ?? '',
    });
    for (const [segment, ...rest] of held) sink?.(named(segment), ...rest);
    return {
      ...answer,
      transcript: {
        ...answer.transcript,
        segments: answer.transcript.segments.map(named),
      },
    };
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    addAbortListener(signal, () => reject(abortError(signal)));
  });
