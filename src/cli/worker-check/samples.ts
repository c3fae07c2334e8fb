import { Metadata } from '@grpc/grpc-js';
import {
  decodeGenerationMessage,
  type EmbedResponse,
  encodeEmbedCall,
  encodeGenerateCall,
  type GenerateResponse,
} from '../../contracts/grpc/generation.codec.js';
import { decodeSpeechChunk, encodeSynthesizeCall, type SynthesizeResponse } from '../../contracts/grpc/tts.codec.js';
import { type ModelKind } from '../../platform/config/model-spec.js';
import { demand } from './check.js';
import { stt } from './transcription-samples.js';

import { type Sample, type Samples } from './worker-client.js';

const speak = (voice: string, text: string, format = 'wav'): Sample<SynthesizeResponse> => ({
  start(channel, call, options) {
    const message = encodeSynthesizeCall({ ...call, text, voice, speed: 1, format: 'wav' });
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
    const parts = messages.map(decodeSpeechChunk);
    const kinds = parts.map(part => part?.kind);
    const isOrdered = kinds[0] === 'header' && kinds[1] === 'audio' && kinds.indexOf('done') === kinds.length - 1;
    demand(isOrdered, 'speech must be one header, then audio, then one done');
    const [, audio] = parts;
    const isWav = audio?.kind === 'audio' && audio.bytes.subarray(0, 4).toString('latin1') === 'RIFF';
    demand(isWav, 'the audio is not the WAV file that was asked for');
    const done = parts.at(-1);
    demand(done?.kind === 'done' && done.durationS > 0, 'done must hold the seconds of speech made');
  },
  execution: messages => messages.map(decodeSpeechChunk).find(chunk => chunk?.kind === 'done')?.execution,
});

const chat = (content: string, maxTokens: number, body?: Buffer): Sample<GenerateResponse> => ({
  start(channel, call, options) {
    const json = { model: 'check', messages: [{ role: 'user', content }], max_tokens: maxTokens, stream: true };
    const fields = { form: 'chat', body: body ?? Buffer.from(JSON.stringify(json)), stream: true } as const;
    const message = encodeGenerateCall({ ...call, ...fields, maxTokens, n: 1, tenant: 'check', tenantWeight: 1 });
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
    const parts = messages.map(decodeGenerationMessage);
    const done = parts.findIndex(part => part?.kind === 'done');
    demand(done > 0 && done === parts.length - 1, 'text must be chunks, then one done');
    const isJson = parts.every(part => part?.kind !== 'chunk' || part.json.toString().startsWith('{'));
    demand(isJson, 'a chunk is not one JSON object');
  },
  execution: () => undefined,
};

const embed = (inputs: readonly string[], body?: Buffer): Sample<EmbedResponse> => ({
  start(channel, call, options, reply) {
    const json = Buffer.from(JSON.stringify({ model: 'check', input: inputs }));
    const message = encodeEmbedCall({ ...call, body: body ?? json, inputs: inputs.length, tenant: 'check' });
    return channel.text.embed(message, new Metadata(), options, reply);
  },
});

const texts = (count: number): string[] => Array.from({ length: count }, (_, at) => `This is text number ${at}.`);

const embedding: Samples<EmbedResponse> = {
  plain: n => embed(texts(n + 1)),
  broken: embed(['x'], Buffer.from('{"input": [')),
  lasting: embed(texts(1000)),
  heavy: embed(texts(64)),
  judge([answer], n) {
    const { vectors = Buffer.alloc(0), dimensions = 0 } = answer ?? {};
    const isFull = dimensions > 0 && vectors.length === 4 * dimensions * (n + 1);
    demand(isFull, `vectors has ${vectors.length} bytes for ${n + 1} inputs and ${dimensions} dimensions`);
  },
  execution: ([answer]) => answer?.execution,
};

/** @param voice of the worker; kind tts only */
export function checkSamples(kind: ModelKind, voice: string): Samples {
  return { stt, tts: ttsSamples(voice), llm, embedding }[kind];
}
