import { describe, expect, it } from '@jest/globals';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import { GenerateRequest, GenerateRequest_Form } from './generated/switchyard/v1/generation.js';
import {
  decodeEmbedCall,
  decodeEmbedded,
  decodeGenerateCall,
  encodeEmbedCall,
  encodeEmbedded,
  encodeGenerateCall,
  type GenerationMessage,
  textGenerationDefinition,
} from './generation.codec.js';

const envelope = { requestId: 'r', priority: RequestPriority.BATCH, group: { id: 'g', size: 2 } };
const execution = {
  prepMs: 0,
  readyWaitMs: 1,
  deviceMs: 2,
  batchSize: 1,
  batchId: 'b',
  shareMs: 2,
};
const { generate, embed } = textGenerationDefinition;

describe('generation codec', () => {
  it('carries a body byte by byte, also what is no valid UTF-8', () => {
    const body = Buffer.concat([
      Buffer.from('{"seed": 12345678901234567890, "x": "'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ]);
    const call = {
      ...envelope,
      form: 'chat' as const,
      body,
      stream: true,
      maxTokens: 7,
      n: 2,
      tenant: 't',
      tenantWeight: 3,
    };
    const wire = generate.requestSerialize(encodeGenerateCall(call));
    expect(decodeGenerateCall(generate.requestDeserialize(wire))).toEqual(call);
  });

  it.each([
    ['none, of an older gateway', 0, 1],
    ['one beyond all bounds', 4_000_000_000, 1000],
  ])('takes the weight of a tenant within bounds: %s', (_, tenantWeight, taken) => {
    const message = GenerateRequest.fromPartial({ form: GenerateRequest_Form.CHAT, tenantWeight });
    expect(decodeGenerateCall(message).tenantWeight).toBe(taken);
  });

  it('refuses a form of a newer gateway', () => {
    const call = {
      ...envelope,
      form: 'chat' as const,
      body: Buffer.alloc(0),
      stream: false,
      maxTokens: 0,
      n: 1,
      tenant: '',
      tenantWeight: 1,
    };
    expect(() => decodeGenerateCall({ ...encodeGenerateCall(call), form: 9 as never })).toThrow(
      'chat, completion, response, tokenize, detokenize',
    );
  });

  it.each<[string, GenerationMessage]>([
    ['a chunk', { $case: 'chunk', value: Buffer.from('{"id":"é"}') }],
    ['a done without usage', { $case: 'done', value: { finishReasons: [], execution } }],
    [
      'a done with all it can say',
      {
        $case: 'done',
        value: {
          finishReasons: ['stop', 'length'],
          execution,
          usage: { promptTokens: 3, completionTokens: 4, cachedTokens: 1 },
          firstTokenMs: 0,
        },
      },
    ],
  ])('carries %s', (_title, message) => {
    const wire = generate.responseSerialize({ message });
    expect(generate.responseDeserialize(wire)).toEqual({ message });
  });

  it('decodes nothing of a message it does not know', () => {
    expect(generate.responseDeserialize(Buffer.alloc(0)).message).toBeUndefined();
  });

  it('carries embeddings both ways', () => {
    const call = { ...envelope, body: Buffer.from('{}'), inputs: 2, tenant: 't' };
    expect(
      decodeEmbedCall(embed.requestDeserialize(embed.requestSerialize(encodeEmbedCall(call)))),
    ).toEqual(call);
    const ranking = { ...call, form: 'rerank' as const };
    expect(
      decodeEmbedCall(embed.requestDeserialize(embed.requestSerialize(encodeEmbedCall(ranking)))),
    ).toEqual(ranking);
    const answer = {
      vectors: Buffer.from(new Float32Array([1, 2, 3, 4]).buffer),
      dimensions: 2,
      execution,
    };
    expect(
      decodeEmbedded(embed.responseDeserialize(embed.responseSerialize(encodeEmbedded(answer)))),
    ).toEqual(answer);
  });
});
