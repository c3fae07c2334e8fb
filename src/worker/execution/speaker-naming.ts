import { type Transcript } from '@switchyard/engine-api/transcript.js';
import { type TranscribeCallFields } from '../../contracts/grpc/stt.codec.js';
import { abortError } from '../../core/errors/abort-error.js';
import { decodeAudio } from '../audio/decode.js';
import { type SpeechRecognizer } from '@switchyard/engine-api/speech-recognizer.js';
import { knownVoices } from './recognition-lane.js';
import { type SegmentSink } from './transcript-stitcher.js';

type Diarizing = Pick<SpeechRecognizer, 'speakersOf'>;

/** True for a call whose speakers are told apart beside recognition, not by it. */
export const isDiarizedBeside = (
  engine: Diarizing,
  { diarize }: TranscribeCallFields,
): boolean => diarize && engine.speakersOf !== undefined;

interface NamedRun {
  readonly engine: Diarizing;
  readonly call: TranscribeCallFields;
  /** The whole file: "A" of one part of it would not be "A" of the next. */
  readonly bytes: () => Promise<Buffer>;
  /** Seconds decoded at most. */
  readonly mostS: number;
  readonly signal: AbortSignal;
  /** Gets the segments when all are known. */
  readonly sink?: SegmentSink | undefined;
}

type Recognise<Answer> = (
  call: TranscribeCallFields,
  signal: AbortSignal,
  sink: SegmentSink,
) => Promise<Answer>;

/**
 * Recognises a file and tells its speakers apart, both at once; each segment is its
 * longest speaker's. The failure of one ends the other. @throws DomainError the first
 * failure, or the abort's error
 */
export async function recognisedWithSpeakers<
  Answer extends { readonly transcript: Transcript },
>(
  { engine, call, bytes, mostS, signal, sink }: NamedRun,
  recognise: Recognise<Answer>,
): Promise<Answer> {
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
    const stop = (): void => reject(abortError(signal));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
