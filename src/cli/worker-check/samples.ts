import { Metadata, type ClientDuplexStream } from '@grpc/grpc-js';
import { PLAIN_TRANSCRIPTION } from '@switchyard/engine-api/speech-recognizer.js';
import { wavHeader } from '../../contracts/formats/speech.js';
import {
  type EmbedResponse,
  encodeEmbedCall,
  encodeGenerateCall,
  type GenerateResponse,
} from '../../contracts/grpc/generation.codec.js';
import {
  encodeTranscribeCall,
  encodeUploadChunk,
  encodeUploadStart,
  type TranscribeFileResponse,
  type TranscribeUploadRequest,
  type TranscribeUploadResponse,
} from '../../contracts/grpc/stt.codec.js';
import {
  encodeSynthesizeCall,
  type SynthesizeResponse,
} from '../../contracts/grpc/tts.codec.js';
import { type ModelKind } from '../../platform/config/model-spec.js';
import { demand } from './check.js';
import type { Sample, Samples } from './worker-client.js';

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
async function sendAll(stream: UploadStream, pieces: Iterable<Buffer>) {
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

const secondsOf = (n: number) => 1 + n / 4;

const stt: Samples<TranscribeFileResponse> = {
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

const speak = (
  voice: string,
  text: string,
  format = 'wav',
): Sample<SynthesizeResponse> => ({
  start(channel, call, options) {
    const message = encodeSynthesizeCall({
      ...call,
      text,
      voice,
      speed: 1,
      format: 'wav',
    });
    return channel.tts.synthesize({ ...message, format }, new Metadata(), options);
  },
});

const AGAIN = 'A sentence that is said again and again. ';

const ttsSamples = (voice: string): Samples<SynthesizeResponse> => ({
  plain: n => speak(voice, `This is sentence number ${n}.`),
  broken: speak(voice, 'This format does not exist.', 'no-such-format'),
  lasting: speak(voice, AGAIN.repeat(20)),
  heavy: speak(voice, AGAIN.repeat(10)),
  judge(messages) {
    const kinds = messages.map(({ message }) => message?.$case);
    const isOrdered =
      kinds[0] === 'header' &&
      kinds[1] === 'audio' &&
      kinds.indexOf('done') === kinds.length - 1;
    demand(isOrdered, 'speech must be one header, then audio, then one done');
    const audio = messages[1]?.message;
    const head = audio?.$case === 'audio' && audio.value.toString('latin1', 0, 4);
    demand(head === 'RIFF', 'the audio is not the WAV file that was asked for');
    const done = messages.at(-1)?.message;
    demand(
      done?.$case === 'done' && done.value.durationS > 0,
      'done must hold the seconds of speech made',
    );
  },
  execution(messages) {
    const done = messages.at(-1)?.message;
    return done?.$case === 'done' ? done.value.execution : undefined;
  },
});

const chat = (
  content: string,
  maxTokens: number,
  body?: Buffer,
): Sample<GenerateResponse> => ({
  start(channel, call, options) {
    const json = {
      model: 'check',
      messages: [{ role: 'user', content }],
      max_tokens: maxTokens,
      stream: true,
    };
    const fields = {
      form: 'chat',
      body: body ?? Buffer.from(JSON.stringify(json)),
      stream: true,
    } as const;
    const message = encodeGenerateCall({
      ...call,
      ...fields,
      maxTokens,
      n: 1,
      tenant: 'check',
      tenantWeight: 1,
    });
    return channel.text.generate(message, new Metadata(), options);
  },
});

const COUNT = 'Count from one to ten thousand, in words.';

const llm: Samples<GenerateResponse> = {
  plain: n => chat(`Say the number ${n}.`, 8),
  broken: chat('', 8, Buffer.from('{"messages": [')),
  lasting: chat(COUNT, 4096),
  heavy: chat(COUNT, 64),
  judge(messages) {
    const chunks = messages.findIndex(({ message }) => message?.$case === 'done');
    demand(
      chunks > 0 && chunks === messages.length - 1,
      'text must be chunks, then one done',
    );
    for (const { message } of messages)
      demand(
        message?.$case !== 'chunk' || message.value.toString().startsWith('{'),
        'a chunk is not one JSON object',
      );
  },
  execution: () => undefined,
};

const embed = (inputs: readonly string[], body?: Buffer): Sample<EmbedResponse> => ({
  start(channel, call, options, reply) {
    const json = Buffer.from(JSON.stringify({ model: 'check', input: inputs }));
    const message = encodeEmbedCall({
      ...call,
      body: body ?? json,
      inputs: inputs.length,
      tenant: 'check',
    });
    return channel.text.embed(message, new Metadata(), options, reply);
  },
});

const texts = (count: number) =>
  Array.from({ length: count }, (_, at) => `This is text number ${at}.`);

const embedding: Samples<EmbedResponse> = {
  plain: n => embed(texts(n + 1)),
  broken: embed(['x'], Buffer.from('{"input": [')),
  lasting: embed(texts(1000)),
  heavy: embed(texts(64)),
  judge([answer], n) {
    const { vectors = Buffer.alloc(0), dimensions = 0 } = answer ?? {};
    const isFull = dimensions > 0 && vectors.length === 4 * dimensions * (n + 1);
    demand(
      isFull,
      `vectors has ${vectors.length} bytes for ${n + 1} inputs and ${dimensions} dimensions`,
    );
  },
  execution: ([answer]) => answer?.execution,
};

/** @param voice of the worker; kind tts only */
export function checkSamples(kind: ModelKind, voice: string): Samples {
  return { stt, tts: ttsSamples(voice), llm, embedding }[kind];
}
