import { type ClientDuplexStream, Metadata } from '@grpc/grpc-js';
import { PLAIN_TRANSCRIPTION } from '@switchyard/engine-api/speech-recognizer.js';
import { wavHeader } from '../../contracts/formats/speech.js';
import {
  encodeTranscribeCall,
  encodeUploadChunk,
  encodeUploadStart,
  type TranscribeFileResponse,
  type TranscribeUploadRequest,
  type TranscribeUploadResponse,
} from '../../contracts/grpc/stt.codec.js';
import { demand } from './check.js';
import { type Sample, type Samples } from './worker-client.js';

/** Noise in bursts, which no voice detector drops; the same at every run. */
const SOUND = Buffer.from(
  Int16Array.from(
    { length: 32_768 },
    (_, at) => ((at * at * 7919) % 16_384) * Math.sin(at / 2000),
  ).buffer,
);

interface WavForm {
  readonly seconds: number;
  readonly rate?: number;
  readonly channels?: number;
}

/**
 * A file of 16-bit samples (default: 16 kHz mono) in pieces of 64 KiB, the header first.
 */
function* wavPieces({
  seconds,
  rate = 16_000,
  channels = 1,
}: WavForm): Generator<Buffer> {
  const bytes = Math.round(seconds * rate) * channels * 2;
  yield wavHeader(rate, bytes, channels);
  for (let left = bytes; left > 0; left -= SOUND.length)
    yield SOUND.subarray(0, Math.min(left, SOUND.length));
}

export const wavFile = (form: WavForm): Buffer => Buffer.concat([...wavPieces(form)]);

type UploadStream = ClientDuplexStream<TranscribeUploadRequest, TranscribeUploadResponse>;

/** `isHeld`: all is sent but the half-close, until `complete`. */
export const upload = (
  form: WavForm,
  isHeld = false,
): Sample<TranscribeUploadResponse> => ({
  start(channel, call, options) {
    const stream = channel.stt.transcribeUpload(new Metadata(), options);
    stream.write(
      encodeUploadStart({ ...PLAIN_TRANSCRIPTION, ...call, filename: 'check.wav' }),
    );
    void sendAll(stream, wavPieces(form)).then(() => isHeld || stream.end());
    return stream;
  },
  complete: call => void (call as UploadStream).end(),
});

/** At the pace of the worker. The end of the call, whatever it is, ends the sending. */
async function sendAll(stream: UploadStream, pieces: Iterable<Buffer>): Promise<void> {
  const ended = new Promise<'ended'>(resolve =>
    stream.once('status', () => resolve('ended')),
  );
  for (const piece of pieces) {
    const sent = new Promise<void>(resolve =>
      stream.write(encodeUploadChunk(piece), () => resolve()),
    );
    if ((await Promise.race([sent, ended])) === 'ended') return;
  }
}

export const file = (audio: Buffer): Sample<TranscribeFileResponse> => ({
  start: (channel, call, options, reply) => {
    const message = encodeTranscribeCall({
      ...PLAIN_TRANSCRIPTION,
      ...call,
      audio,
      filename: 'check.wav',
    });
    return channel.stt.transcribeFile(message, new Metadata(), options, reply);
  },
});

const secondsOf = (n: number): number => 1 + n / 4;

export const stt: Samples<TranscribeFileResponse> = {
  plain: n => file(wavFile({ seconds: secondsOf(n) })),
  judge: ([answer], n) => judgeTranscript(answer, secondsOf(n)),
  broken: file(Buffer.from('This is a text, not audio. '.repeat(100))),
  lasting: upload({ seconds: 2 }, true),
  heavy: file(wavFile({ seconds: 30 })),
  execution: ([answer]) => answer?.execution,
};

/** @throws Verdict */
export function judgeTranscript(
  answer: TranscribeFileResponse | undefined,
  seconds: number,
): void {
  const { durationS = 0, segments = [] } = answer ?? {};
  const isLength = Math.abs(durationS - seconds) < 0.2;
  demand(
    isLength,
    `duration_s is ${durationS} for audio of ${seconds} s: it is not of this request's audio`,
  );
  const bad = segments.find(
    ({ start, end }) => !(start >= 0 && end >= start && end <= seconds + 1),
  );
  demand(
    bad === undefined,
    `a segment goes from ${bad?.start} to ${bad?.end} s in audio of ${seconds} s`,
  );
}
