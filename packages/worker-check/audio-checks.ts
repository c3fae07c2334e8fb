import { setTimeout as pause } from 'node:timers/promises';
import { type ClientDuplexStream, Metadata, status } from '@grpc/grpc-js';
import { streamedWavHeader, wavHeader } from '@switchyard/engine-api/audio/wav-header.js';
import { PLAIN_TRANSCRIPTION } from '@switchyard/engine-api/speech-recognizer.js';
import {
  STREAM_COMMIT,
  audioMessage,
  streamConfigMessage,
} from '@switchyard/worker-protocol/call.codec.js';
import { maxWholeAudioBytes } from '@switchyard/worker-protocol/message-size.js';
import {
  encodeTranscribeCall,
  encodeUploadStart,
  type TranscribeFileResponse,
  type TranscribeStreamResponse,
  type TranscribeUploadRequest,
  type TranscribeUploadResponse,
} from '@switchyard/worker-protocol/stt.codec.js';
import { type Check, checkedAnswer, demand, endOf, notJudged } from './check.js';
import type { CheckedCall, Sample, Samples } from './worker-client.js';

const AUDIO = {
  anchor: '8-long-audio-and-streaming',
  needs: 'group',
  kinds: ['stt'],
} as const;

/**
 * So many seconds of 192 kHz stereo are nearly 32 MiB; those that need no file of their
 * own are less than 60.
 */
const STUDIO = { seconds: 43.6, rate: 192_000, channels: 2 } as const;

const STUDIO_BYTES_PER_S = STUDIO.rate * STUDIO.channels * 2;

const MIB = 1_048_576;

const LONG_S = 61;

/** Checks of recognisers only. */
export const AUDIO_CHECKS: readonly Check[] = [
  {
    ...AUDIO,
    name: 'message-size',
    about: 'the largest file that is sent as one message',
    /**
     * The largest file that a gateway sends as one message to a worker that
     * reports this limit.
     */
    async run(context) {
      const fits = maxWholeAudioBytes(context.report.maxMessageBytes) / STUDIO_BYTES_PER_S;
      const seconds = Math.min(STUDIO.seconds, Math.floor(fits));
      const size = `${Math.round((seconds * STUDIO_BYTES_PER_S) / MIB)} MiB`;
      const call = context.client.start(file(wavFile({ ...STUDIO, seconds })));
      return `${size} ${await demandTaken(call, `TranscribeFile with ${size} of audio`)}`;
    },
  },
  {
    ...AUDIO,
    name: 'streamed-wav',
    about: 'a WAV file whose header does not know its length',
    /** As ffmpeg and recorders write it into a pipe: the length fields hold ffffffff. */
    async run({ client }) {
      const seconds = 2;
      const audio = Buffer.concat([streamedWavHeader(16_000), wavFile({ seconds }).subarray(44)]);
      const { messages } = await checkedAnswer(
        client.start(file(audio)),
        'a WAV file of unknown length',
      );
      judgeTranscript(messages[0], seconds);
      return 'answered';
    },
  },
  {
    ...AUDIO,
    name: 'large-audio',
    about: 'audio beyond 60 s and 32 MiB, in pieces',
    /** Longer than 60 s, then larger than 32 MiB. */
    async run({ client }) {
      const { messages } = await checkedAnswer(
        client.start(upload({ seconds: LONG_S })),
        `TranscribeUpload of ${LONG_S} s`,
      );
      const done = messages.at(-1)?.message;
      demand(done?.$case === 'done', 'the last message of TranscribeUpload must be done');
      judgeTranscript(done.value, LONG_S);
      const segments = done.value.segments.length;
      demand(
        messages.length === segments + 1,
        `TranscribeUpload sent ${messages.length - 1} segments before done, which holds ${segments}`,
      );
      const large = client.start(upload({ ...STUDIO, seconds: LONG_S }));
      return `${LONG_S} s answered, 45 MiB ${await demandTaken(large, 'TranscribeUpload of 45 MiB')}`;
    },
  },
  {
    ...AUDIO,
    name: 'stream',
    about: 'a live stream gives one final for a commit',
    async run(context) {
      if (context.report.streams === 0) throw notJudged('its Health offers no live streams');
      const call = context.client.start(liveStream);
      const finals = () =>
        call.messages.flatMap(({ event }) =>
          event?.$case === 'final' ? [event.value.utterance] : [],
        );
      const untilMs = performance.now() + 10_000;
      while (finals().length === 0 && !call.hasEnded && performance.now() < untilMs)
        await pause(20);
      if (finals().length === 0) call.reset();
      demand(finals().length > 0, 'a commit in a live stream gets no final within 10 s');
      call.complete();
      await checkedAnswer(call, 'a live stream after its half-close', 'fail');
      // The half-close may end another utterance, with nothing in it.
      demand(
        finals().every((utterance, at) => utterance === at) && finals().length <= 2,
        `one commit must give one final, of utterance 0; got utterances ${finals().join(', ')}`,
      );
      return 'one final for one commit';
    },
  },
];

/** What a worker finds too large it refuses with a code; gRPC's own limits have none. */
async function demandTaken(call: CheckedCall<unknown>, what: string) {
  const end = await endOf(call, what);
  const { code } = end.trailers;
  demand(
    end.code === status.OK || code !== undefined,
    `${what} failed with ${end.text}, without switchyard-code`,
  );
  return code === undefined ? 'answered' : `refused with ${code}`;
}

/** Sends one second of sound and a commit, without the half-close. */
const liveStream: Sample<TranscribeStreamResponse> = (channel, { requestId: sessionId }) => {
  const stream = channel.stt.transcribeStream(new Metadata());
  stream.write(
    streamConfigMessage({
      sessionId,
      language: '',
      prompt: '',
      sampleRate: 16_000,
      partials: true,
    }),
  );
  const samples = wavFile({ seconds: 1 }).subarray(44);
  for (let at = 0; at < samples.length; at += 3200)
    stream.write(audioMessage(samples.subarray(at, at + 3200)));
  stream.write(STREAM_COMMIT);
  return stream;
};

/** Noise in bursts, which no voice detector drops; the same at every run. */
const SOUND = Buffer.from(
  Int16Array.from({ length: 32_768 }, (_, at) => ((at * at * 7919) % 16_384) * Math.sin(at / 2000))
    .buffer,
);

interface WavForm {
  readonly seconds: number;
  readonly rate?: number;
  readonly channels?: number;
}

/**
 * A file of 16-bit samples (default: 16 kHz mono) in pieces of 64 KiB, the header first.
 */
function* wavPieces({ seconds, rate = 16_000, channels = 1 }: WavForm): Generator<Buffer> {
  const bytes = Math.round(seconds * rate) * channels * 2;
  yield wavHeader(rate, bytes, channels);
  for (let left = bytes; left > 0; left -= SOUND.length)
    yield SOUND.subarray(0, Math.min(left, SOUND.length));
}

const wavFile = (form: WavForm): Buffer => Buffer.concat([...wavPieces(form)]);

/** @param isHeld everything but the half-close is sent */
const upload =
  (form: WavForm, isHeld = false): Sample<TranscribeUploadResponse> =>
  (channel, call, options) => {
    const stream = channel.stt.transcribeUpload(new Metadata(), options);
    stream.write(encodeUploadStart({ ...PLAIN_TRANSCRIPTION, ...call, filename: 'check.wav' }));
    void sendAll(stream, wavPieces(form)).then(() => isHeld || stream.end());
    return stream;
  };

/** At the pace of the worker. The end of the call, whatever it is, ends the sending. */
async function sendAll(
  stream: ClientDuplexStream<TranscribeUploadRequest, TranscribeUploadResponse>,
  pieces: Iterable<Buffer>,
) {
  const ended = new Promise<'ended'>(resolve => stream.once('status', () => resolve('ended')));
  for (const piece of pieces) {
    const sent = new Promise<void>(resolve => stream.write(audioMessage(piece), () => resolve()));
    if ((await Promise.race([sent, ended])) === 'ended') return;
  }
}

const file =
  (audio: Buffer): Sample<TranscribeFileResponse> =>
  (channel, call, options, reply) => {
    const order = { ...PLAIN_TRANSCRIPTION, ...call, audio, filename: 'check.wav' };
    const message = encodeTranscribeCall(order);
    return channel.stt.transcribeFile(message, new Metadata(), options, reply);
  };

const secondsOf = (n: number) => 1 + n / 4;

export const STT_SAMPLES: Samples<TranscribeFileResponse> = {
  plain: n => file(wavFile({ seconds: secondsOf(n) })),
  judge: ([answer], n) => {
    judgeTranscript(answer, secondsOf(n));
    return answer?.execution;
  },
  broken: file(Buffer.from('This is a text, not audio. '.repeat(100))),
  lasting: upload({ seconds: 2 }, true),
  heavy: file(wavFile({ seconds: 30 })),
};

/** @throws Verdict */
function judgeTranscript(answer: TranscribeFileResponse | undefined, seconds: number) {
  const { durationS = 0, segments = [] } = answer ?? {};
  demand(
    Math.abs(durationS - seconds) < 0.2,
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
