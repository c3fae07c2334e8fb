import { type ClientDuplexStream, Metadata, status } from '@grpc/grpc-js';
import { setTimeout as pause } from 'node:timers/promises';
import { streamedWavHeader } from '../../contracts/formats/speech.js';
import {
  STREAM_COMMIT,
  streamAudioMessage,
  streamConfigMessage,
} from '../../contracts/grpc/call.codec.js';
import type {
  TranscribeStreamRequest,
  TranscribeStreamResponse,
} from '../../contracts/grpc/stt.codec.js';
import { maxWholeAudioBytes } from '../../platform/config/worker-spec.js';
import { checkedAnswer, type CheckContext, demand, endOf, notJudged } from './check.js';
import { file, judgeTranscript, upload, wavFile } from './samples.js';
import { type CheckedCall, endText, type Sample } from './worker-client.js';
import { ERROR_REGISTRY, isErrorCode } from '../../contracts/errors/error-registry.js';
import { startGroup } from './health-checks.js';

export async function answer({ client, samples }: CheckContext): Promise<string> {
  const { messages, ms } = await checkedAnswer(
    client.start(samples.plain(0)),
    'a well-formed request',
    'fail',
  );
  samples.judge(messages, 0);
  return `${Math.round(ms)} ms`;
}

/** Members of the groups that are sent here. */
const membersOf = (context: CheckContext) =>
  Math.max(3, Math.min(8, context.report.maxBatch));

export async function group(context: CheckContext): Promise<string> {
  const { samples } = context;
  const plain = Array.from({ length: membersOf(context) }, (_, n) => samples.plain(n));
  const calls = startGroup(context, plain).map((call, n) =>
    checkedAnswer(call, `member ${n + 1} of a group`),
  );
  const answers = (await Promise.all(calls)).map(({ messages }) => messages);
  answers.forEach((messages, n) => samples.judge(messages, n));
  const told = answers
    .flatMap(messages => samples.execution(messages) ?? [])
    .filter(({ batchId }) => batchId !== '');
  for (const { batchId, batchSize } of told) {
    const sharing = told.filter(other => other.batchId === batchId).length;
    demand(
      sharing <= batchSize,
      `${sharing} answers name one engine call, whose batch_size is ${batchSize}`,
    );
  }
  const count = new Set(told.map(({ batchId }) => batchId)).size;
  return `${answers.length} answered, ${count === 0 ? 'without Execution' : `in ${count} engine calls`}`;
}

export async function badItem(context: CheckContext): Promise<string> {
  const { samples } = context;
  const members = Array.from({ length: membersOf(context) }, (_, n) => samples.plain(n));
  const [bad, ...calls] = startGroup(context, [samples.broken, ...members.slice(1)]);
  const answers = calls.map(call =>
    checkedAnswer(call, 'a well-formed request beside a bad one in its group'),
  );
  await Promise.all(answers);
  const end = bad && (await endOf(bad, 'a bad request'));
  demand(
    end?.code !== status.OK,
    'a request that cannot be computed was answered as if it were right',
  );
  return `${calls.length} answered, one failed`;
}

export async function trailers({ client, kind, samples }: CheckContext): Promise<string> {
  const end = await endOf(client.start(samples.broken), 'a bad request');
  const { code, param = '' } = end.trailers;
  if (end.code === status.OK) throw notJudged('no request fails here');
  demand(
    code !== undefined,
    `a bad request ended with ${endText(end)}, without the trailer switchyard-code`,
  );
  demand(
    isErrorCode(code),
    `switchyard-code is "${code}", which the gateway does not know`,
  );
  // What is no audio, and a format that is none, are faults of the caller; a text engine
  // may report its own.
  const mayBeOwn = kind === 'llm' || kind === 'embedding';
  demand(
    mayBeOwn || ERROR_REGISTRY[code].status < 500,
    `a bad request ended with ${code}: the caller gets 500, not 400`,
  );
  demand(
    /^([\w.~!*'()-]|%[0-9A-F]{2})*$/i.test(param),
    `switchyard-param "${param}" is not percent-encoded`,
  );
  return [code, param].filter(Boolean).join(', ');
}

/**
 * So many seconds of 192 kHz stereo are nearly 32 MiB; those that need no file of their
 * own are less than 60.
 */
const STUDIO = { seconds: 43.6, rate: 192_000, channels: 2 } as const;

const STUDIO_BYTES_PER_S = STUDIO.rate * STUDIO.channels * 2;

const MIB = 1_048_576;

const LONG_S = 61;

/** What a worker finds too large it refuses with a code; gRPC's own limits have none. */
async function demandTaken(call: CheckedCall<unknown>, what: string): Promise<string> {
  const end = await endOf(call, what);
  const { code } = end.trailers;
  demand(
    end.code === status.OK || code !== undefined,
    `${what} failed with ${endText(end)}, without switchyard-code`,
  );
  return code === undefined ? 'answered' : `refused with ${code}`;
}

/**
 * The largest file that a gateway sends as one message to a worker that
 * reports this limit.
 */
export async function messageSize(context: CheckContext): Promise<string> {
  const fits = maxWholeAudioBytes(context.report.maxMessageBytes) / STUDIO_BYTES_PER_S;
  const seconds = Math.min(STUDIO.seconds, Math.floor(fits));
  const size = `${Math.round((seconds * STUDIO_BYTES_PER_S) / MIB)} MiB`;
  const call = context.client.start(file(wavFile({ ...STUDIO, seconds })));
  return `${size} ${await demandTaken(call, `TranscribeFile with ${size} of audio`)}`;
}

/** As ffmpeg and recorders write it into a pipe: the length fields hold ffffffff. */
export async function streamedWav({ client }: CheckContext): Promise<string> {
  const seconds = 2;
  const audio = Buffer.concat([
    streamedWavHeader(16_000),
    wavFile({ seconds }).subarray(44),
  ]);
  const { messages } = await checkedAnswer(
    client.start(file(audio)),
    'a WAV file of unknown length',
  );
  judgeTranscript(messages[0], seconds);
  return 'answered';
}

/** Longer than 60 s, then larger than 32 MiB. */
export async function largeAudio({ client }: CheckContext): Promise<string> {
  const { messages } = await checkedAnswer(
    client.start(upload({ seconds: LONG_S })),
    `TranscribeUpload of ${LONG_S} s`,
  );
  const done = messages.at(-1)?.message;
  demand(done?.$case === 'done', 'the last message of TranscribeUpload must be done');
  judgeTranscript(done.value, LONG_S);
  const segments = done.value.segments.length;
  const isTold = messages.length === segments + 1;
  demand(
    isTold,
    `TranscribeUpload sent ${messages.length - 1} segments before done, which holds ${segments}`,
  );
  const large = client.start(upload({ ...STUDIO, seconds: LONG_S }));
  return `${LONG_S} s answered, 45 MiB ${await demandTaken(large, 'TranscribeUpload of 45 MiB')}`;
}

type LiveStream = ClientDuplexStream<TranscribeStreamRequest, TranscribeStreamResponse>;

/** One second of sound, then a commit. `complete` half-closes. */
const liveStream: Sample<TranscribeStreamResponse> = {
  start(channel, { requestId: sessionId }) {
    const stream: LiveStream = channel.stt.transcribeStream(new Metadata());
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
      stream.write(streamAudioMessage(samples.subarray(at, at + 3200)));
    stream.write(STREAM_COMMIT);
    return stream;
  },
  complete: call => void (call as LiveStream).end(),
};

export async function stream(context: CheckContext): Promise<string> {
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
  const isCounted =
    finals().every((utterance, at) => utterance === at) && finals().length <= 2;
  demand(
    isCounted,
    `one commit must give one final, of utterance 0; got utterances ${finals().join(', ')}`,
  );
  return 'one final for one commit';
}
