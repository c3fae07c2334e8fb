import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GgufTensor, type GgufValue, sizeOf, writeGguf } from './gguf-file.js';

export interface LlamaShape {
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly keyHeads: number;
  readonly feedForward: number;
  readonly contextTokens: number;
  readonly seed: number;
  /**
   * Tokens besides those of bytes, letters and turns: for the cost of a large vocabulary.
   */
  readonly extraTokens: number;
  /** Jinja; empty: a model without. */
  readonly chatTemplate: string;
  /**
   * One vector for a whole text: the mean of all positions, or the last one. Absent:
   * no embedding model.
   */
  readonly pooling?: 'mean' | 'last';
}

/** ChatML, with tools as public models write them. */
export const CHAT_TEMPLATE = [
  '{% if tools %}<|im_start|>system\n{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}<|im_end|>\n{% endif %}',
  '{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content | trim }}',
  '{% for call in message.tool_calls or [] %}<tool_call>{"name": "{{ call.function.name }}", ',
  '"arguments": {{ call.function.arguments | tojson }}}</tool_call>{% endfor %}<|im_end|>\n{% endfor %}',
  '{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}',
].join('');

const TINY: LlamaShape = {
  ...{
    width: 64,
    layers: 2,
    heads: 4,
    keyHeads: 2,
    feedForward: 192,
    contextTokens: 2048,
    seed: 1,
    extraTokens: 0,
  },
  chatTemplate: CHAT_TEMPLATE,
};

/**
 * A llama model with random weights in 32 bit floats (573 kB), where batched and solo
 * outputs are equal. The same shape gives the same bytes; written once per machine and
 * version of this file, into the temporary folder.
 */
export async function llamaModel(changes: Partial<LlamaShape> = {}): Promise<string> {
  const shape = { ...TINY, ...changes };
  const name = createHash('sha256')
    .update(JSON.stringify([VERSION, shape]))
    .digest('hex')
    .slice(0, 16);
  const folder = join(tmpdir(), 'switchyard-test-models');
  const file = join(folder, `llama-${name}.gguf`);
  if (existsSync(file)) return file;
  await mkdir(folder, { recursive: true });
  const partial = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  await writeGguf(partial, fieldsOf(shape), tensorsOf(shape));
  // Two specs may write it at the same time; both are the same, and a name changes
  // hands at once.
  await rename(partial, file);
  return file;
}

/** To be raised with every change of what is written. */
const VERSION = 1;

const KIND = { normal: 1, unknown: 2, control: 3, userDefined: 4, byte: 6 } as const;
const LETTERS =
  'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;:!?\'-{}[]"_<>/|\n';

interface Piece {
  readonly text: string;
  readonly kind: number;
  readonly score: number;
}

function vocabularyOf({ extraTokens }: LlamaShape): Piece[] {
  const special: Piece[] = [
    { text: '<unk>', kind: KIND.unknown, score: 0 },
    ...['<s>', '</s>', '<|im_start|>', '<|im_end|>'].map(text => ({
      text,
      kind: KIND.control,
      score: 0,
    })),
    ...['<tool_call>', '</tool_call>'].map(text => ({
      text,
      kind: KIND.userDefined,
      score: 0,
    })),
  ];
  const bytes = Array.from({ length: 256 }, (_, byte) => ({
    ...{
      text: `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
      kind: KIND.byte,
      score: 0,
    },
  }));
  const letters = ['\u2581', ...LETTERS].map((text, index) => ({
    text,
    kind: KIND.normal,
    score: -300 - index,
  }));
  const extra = Array.from({ length: extraTokens }, (_, index) => ({
    ...{ text: `w${index}_`, kind: KIND.normal, score: -1000 - index },
  }));
  return [...special, ...bytes, ...letters, ...extra];
}

function fieldsOf(shape: LlamaShape): Record<string, GgufValue> {
  const pieces = vocabularyOf(shape);
  const u32 = (value: number): GgufValue => ({ type: 'u32', value });
  const f32 = (value: number): GgufValue => ({ type: 'f32', value });
  const text = (value: string): GgufValue => ({ type: 'text', value });
  return {
    'general.architecture': text('llama'),
    'general.name': text('random-llama'),
    'general.file_type': u32(0),
    'llama.context_length': u32(shape.contextTokens),
    'llama.embedding_length': u32(shape.width),
    'llama.block_count': u32(shape.layers),
    'llama.feed_forward_length': u32(shape.feedForward),
    'llama.attention.head_count': u32(shape.heads),
    'llama.attention.head_count_kv': u32(shape.keyHeads),
    'llama.attention.layer_norm_rms_epsilon': f32(1e-5),
    'llama.rope.dimension_count': u32(shape.width / shape.heads),
    'llama.rope.freq_base': f32(10_000),
    'llama.vocab_size': u32(pieces.length),
    ...(shape.pooling && {
      'llama.pooling_type': u32(shape.pooling === 'mean' ? 1 : 3),
    }),
    'tokenizer.ggml.model': text('llama'),
    'tokenizer.ggml.pre': text('default'),
    'tokenizer.ggml.tokens': { type: 'texts', value: pieces.map(piece => piece.text) },
    'tokenizer.ggml.scores': { type: 'f32s', value: pieces.map(piece => piece.score) },
    'tokenizer.ggml.token_type': {
      type: 'i32s',
      value: pieces.map(piece => piece.kind),
    },
    'tokenizer.ggml.bos_token_id': u32(1),
    'tokenizer.ggml.eos_token_id': u32(2),
    'tokenizer.ggml.eot_token_id': u32(4),
    'tokenizer.ggml.unknown_token_id': u32(0),
    'tokenizer.ggml.add_bos_token': { type: 'bool', value: true },
    'tokenizer.ggml.add_eos_token': { type: 'bool', value: false },
    ...(shape.chatTemplate !== '' && {
      'tokenizer.chat_template': text(shape.chatTemplate),
    }),
  };
}

function tensorsOf(shape: LlamaShape): GgufTensor[] {
  const { width, layers, heads, keyHeads, feedForward, seed } = shape;
  const words = vocabularyOf(shape).length;
  const keys = (width / heads) * keyHeads;
  const normal = normalNumbers(seed);
  const matrix = (name: string, inputs: number, outputs: number, gain = 1): GgufTensor => {
    const tensor = { name, shape: [inputs, outputs] };
    const values = (): Float32Array =>
      Float32Array.from({ length: sizeOf(tensor) }, () => (normal() * gain) / Math.sqrt(inputs));
    return { ...tensor, values };
  };
  const ones = (name: string): GgufTensor => ({
    name,
    shape: [width],
    values: () => new Float32Array(width).fill(1),
  });
  const layer = (at: string): GgufTensor[] => [
    ones(`${at}.attn_norm.weight`),
    matrix(`${at}.attn_q.weight`, width, width, 1.5),
    matrix(`${at}.attn_k.weight`, width, keys, 1.5),
    matrix(`${at}.attn_v.weight`, width, keys),
    matrix(`${at}.attn_output.weight`, width, width),
    ones(`${at}.ffn_norm.weight`),
    matrix(`${at}.ffn_gate.weight`, width, feedForward),
    matrix(`${at}.ffn_up.weight`, width, feedForward),
    matrix(`${at}.ffn_down.weight`, feedForward, width),
  ];
  return [
    matrix('token_embd.weight', width, words, Math.sqrt(width)),
    ...Array.from({ length: layers }, (_, index) => layer(`blk.${index}`)).flat(),
    ones('output_norm.weight'),
    matrix('output.weight', width, words, 2),
  ];
}

/** Normally distributed, from mulberry32 by Box and Muller. */
function normalNumbers(seed: number): () => number {
  let state = seed >>> 0 || 1;
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}
