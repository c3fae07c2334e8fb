import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GgufTensor, type GgufValue, sizeOf, writeGguf } from './gguf-file.js';

/** To be raised with every change of what is written. */
const VERSION = 2;
const WIDTH = 32;
const FEED_FORWARD = 64;
const CONTEXT = 128;
const SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
const KIND = { normal: 1, unknown: 2, control: 3 } as const;

/** Words of the vocabulary, beside letters. */
export const WORDS = [
  'where',
  'trains',
  'change',
  'tracks',
  'bread',
  'is',
  'baked',
  'at',
  'night',
  'switchyard',
];

/**
 * A cross-encoder of BERT's kind with random weights and one score: the file is as small
 * as it is meaningless, but llama.cpp runs it as it runs any reranking model.
 */
export async function rerankerModel(): Promise<string> {
  const folder = join(tmpdir(), 'switchyard-test-models');
  const file = join(folder, `reranker-${VERSION}.gguf`);
  if (existsSync(file)) return file;
  await mkdir(folder, { recursive: true });
  const partial = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  await writeGguf(partial, fields(), tensors());
  await rename(partial, file);
  return file;
}

const letters = [...'abcdefghijklmnopqrstuvwxyz'];
const VOCABULARY = [...SPECIAL, ...[...WORDS, ...letters].map(word => `\u2581${word}`), ...letters];

function fields(): Record<string, GgufValue> {
  const u32 = (value: number): GgufValue => ({ type: 'u32', value });
  const kinds = VOCABULARY.map((_, id) =>
    id === 1 ? KIND.unknown : id < SPECIAL.length ? KIND.control : KIND.normal,
  );
  return {
    'general.architecture': { type: 'text', value: 'bert' },
    'general.name': { type: 'text', value: 'random-reranker' },
    'general.file_type': u32(0),
    'bert.context_length': u32(CONTEXT),
    'bert.embedding_length': u32(WIDTH),
    'bert.block_count': u32(1),
    'bert.feed_forward_length': u32(FEED_FORWARD),
    'bert.attention.head_count': u32(4),
    'bert.attention.layer_norm_epsilon': { type: 'f32', value: 1e-12 },
    'bert.attention.causal': { type: 'bool', value: false },
    'bert.pooling_type': u32(4),
    'tokenizer.ggml.model': { type: 'text', value: 'bert' },
    'tokenizer.ggml.pre': { type: 'text', value: 'default' },
    'tokenizer.ggml.token_type_count': u32(2),
    'tokenizer.ggml.tokens': { type: 'texts', value: VOCABULARY },
    'tokenizer.ggml.scores': { type: 'f32s', value: VOCABULARY.map(() => -1000) },
    'tokenizer.ggml.token_type': { type: 'i32s', value: kinds },
    'tokenizer.ggml.padding_token_id': u32(0),
    'tokenizer.ggml.unknown_token_id': u32(1),
    'tokenizer.ggml.cls_token_id': u32(2),
    'tokenizer.ggml.bos_token_id': u32(2),
    'tokenizer.ggml.seperator_token_id': u32(3),
    'tokenizer.ggml.mask_token_id': u32(4),
  };
}

function tensors(): GgufTensor[] {
  let state = 7;
  const next = (): number =>
    (state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff) / 0x40000000 - 1;
  const random = (name: string, ...shape: number[]): GgufTensor => {
    const gain = Math.sqrt(3 / shape[0]!);
    return {
      name,
      shape,
      values: () => Float32Array.from({ length: sizeOf({ shape }) }, () => next() * gain),
    };
  };
  const filled = (name: string, length: number, value: number): GgufTensor => {
    const values = (): Float32Array => new Float32Array(length).fill(value);
    return { name, shape: [length], values };
  };
  const norm = (name: string): GgufTensor[] => [
    filled(`${name}.weight`, WIDTH, 1),
    filled(`${name}.bias`, WIDTH, 0),
  ];
  const linear = (name: string, inputs: number, outputs: number): GgufTensor[] => [
    random(`${name}.weight`, inputs, outputs),
    filled(`${name}.bias`, outputs, 0),
  ];
  return [
    random('token_embd.weight', WIDTH, VOCABULARY.length),
    random('token_types.weight', WIDTH, 2),
    random('position_embd.weight', WIDTH, CONTEXT),
    ...norm('token_embd_norm'),
    ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].flatMap(name =>
      linear(`blk.0.${name}`, WIDTH, WIDTH),
    ),
    ...norm('blk.0.attn_output_norm'),
    ...linear('blk.0.ffn_up', WIDTH, FEED_FORWARD),
    ...linear('blk.0.ffn_down', FEED_FORWARD, WIDTH),
    ...norm('blk.0.layer_output_norm'),
    ...linear('cls', WIDTH, WIDTH),
    ...linear('cls.output', WIDTH, 1),
  ];
}
