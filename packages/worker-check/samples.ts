import { Metadata } from '@grpc/grpc-js';
import { type ModelKind } from '@switchyard/engine-api/engine.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import {
  type EmbedResponse,
  encodeEmbedCall,
  encodeGenerateCall,
  type GenerateResponse,
} from '@switchyard/worker-protocol/generation.codec.js';
import {
  encodeSynthesizeCall,
  type SynthesizeResponse,
} from '@switchyard/worker-protocol/tts.codec.js';
import { STT_SAMPLES as stt } from './audio-checks.js';
import { demand } from './check.js';
import type { Sample, Samples } from './worker-client.js';

const speak =
  (voice: string, text: string, format = 'wav'): Sample<SynthesizeResponse> =>
  (channel, call, options) => {
    const order = { ...call, text, voice, speed: 1, format: 'wav' } as const;
    const message = { ...encodeSynthesizeCall(order), format };
    return channel.tts.synthesize(message, new Metadata(), options);
  };

const AGAIN = 'A sentence that is said again and again. ';

const ttsSamples = (voice: string): Samples<SynthesizeResponse> => ({
  plain: n => speak(voice, `This is sentence number ${n}.`),
  broken: speak(voice, 'This format does not exist.', 'no-such-format'),
  lasting: speak(voice, AGAIN.repeat(20)),
  heavy: speak(voice, AGAIN.repeat(10)),
  judge(messages) {
    const kinds = messages.map(({ message }) => message?.$case);
    demand(
      kinds[0] === 'header' && kinds[1] === 'audio' && kinds.indexOf('done') === kinds.length - 1,
      'speech must be one header, then audio, then one done',
    );
    const audio = messages[1]?.message;
    const head = audio?.$case === 'audio' && audio.value.toString('latin1', 0, 4);
    demand(head === 'RIFF', 'the audio is not the WAV file that was asked for');
    const done = messages.at(-1)?.message;
    demand(
      done?.$case === 'done' && done.value.durationS > 0,
      'done must hold the seconds of speech made',
    );
    return done.value.execution;
  },
});

const chat =
  (content: string, maxTokens: number, body?: Buffer): Sample<GenerateResponse> =>
  (channel, call, options) => {
    const json = {
      model: 'check',
      messages: [{ role: 'user', content }],
      max_tokens: maxTokens,
      stream: true,
    };
    const message = encodeGenerateCall({
      ...call,
      form: 'chat',
      body: body ?? Buffer.from(writeJson(json)),
      stream: true,
      maxTokens,
      n: 1,
      tenant: 'check',
      tenantWeight: 1,
    });
    return channel.text.generate(message, new Metadata(), options);
  };

const COUNT = 'Count from one to ten thousand, in words.';

const llm: Samples<GenerateResponse> = {
  plain: n => chat(`Say the number ${n}.`, 8),
  broken: chat('', 8, Buffer.from('{"messages": [')),
  lasting: chat(COUNT, 4096),
  heavy: chat(COUNT, 64),
  judge(messages) {
    const chunks = messages.findIndex(({ message }) => message?.$case === 'done');
    demand(chunks > 0 && chunks === messages.length - 1, 'text must be chunks, then one done');
    for (const { message } of messages)
      demand(
        message?.$case !== 'chunk' || message.value.toString().startsWith('{'),
        'a chunk is not one JSON object',
      );
    return undefined;
  },
};

const embed =
  (inputs: readonly string[], body?: Buffer): Sample<EmbedResponse> =>
  (channel, call, options, reply) => {
    const json = Buffer.from(writeJson({ model: 'check', input: inputs }));
    const message = encodeEmbedCall({
      ...call,
      body: body ?? json,
      inputs: inputs.length,
      tenant: 'check',
    });
    return channel.text.embed(message, new Metadata(), options, reply);
  };

const texts = (count: number) =>
  Array.from({ length: count }, (_, at) => `This is text number ${at}.`);

const embedding: Samples<EmbedResponse> = {
  plain: n => embed(texts(n + 1)),
  broken: embed(['x'], Buffer.from('{"input": [')),
  lasting: embed(texts(1000)),
  heavy: embed(texts(64)),
  judge([answer], n) {
    const { vectors = Buffer.alloc(0), dimensions = 0 } = answer ?? {};
    demand(
      dimensions > 0 && vectors.length === 4 * dimensions * (n + 1),
      `vectors has ${vectors.length} bytes for ${n + 1} inputs and ${dimensions} dimensions`,
    );
    return answer?.execution;
  },
};

/** @param voice a voice of the worker; kind tts only */
export function checkSamples(kind: ModelKind, voice: string): Samples {
  return { stt, tts: ttsSamples(voice), llm, embedding }[kind];
}
