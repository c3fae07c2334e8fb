import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

/** Value types of GGUF v3 that are written here. */
export type GgufValue =
  | { readonly type: 'u32'; readonly value: number }
  | { readonly type: 'f32'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'texts'; readonly value: readonly string[] }
  | { readonly type: 'f32s'; readonly value: readonly number[] }
  | { readonly type: 'i32s'; readonly value: readonly number[] };

export interface GgufTensor {
  readonly name: string;
  /** The fastest dimension first. */
  readonly shape: readonly number[];
  values(): Float32Array;
}

const CODE = { u32: 4, f32: 6, bool: 7, text: 8, i32: 5, list: 9 } as const;
const ALIGNMENT = 32;
const F32 = 0;

/** A GGUF v3 file of 32-bit floats: header, fields, table of tensors, tensors. */
export async function writeGguf(
  file: string,
  fields: Readonly<Record<string, GgufValue>>,
  tensors: readonly GgufTensor[],
): Promise<void> {
  const out = createWriteStream(file, { flags: 'wx' });
  const head = headerOf(fields, tensors);
  out.write(head);
  out.write(Buffer.alloc(padding(head.length)));
  for (const tensor of tensors) {
    const { buffer, byteOffset, byteLength } = tensor.values();
    const isRoomy = out.write(
      Buffer.concat([
        Buffer.from(buffer, byteOffset, byteLength),
        Buffer.alloc(padding(byteLength)),
      ]),
    );
    if (!isRoomy) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
}

export const sizeOf = ({ shape }: Pick<GgufTensor, 'shape'>): number =>
  shape.reduce((product, length) => product * length, 1);

function headerOf(
  fields: Readonly<Record<string, GgufValue>>,
  tensors: readonly GgufTensor[],
): Buffer {
  const entries = Object.entries(fields);
  const begin = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(entries.length)];
  // Not pushed one by one: a large vocabulary has more parts than a call
  // may have arguments.
  const parts = begin.concat(...entries.map(([name, value]) => [text(name), ...valueOf(value)]));
  let offset = 0;
  for (const tensor of tensors) {
    parts.push(
      text(tensor.name),
      u32(tensor.shape.length),
      ...tensor.shape.map(u64),
      u32(F32),
      u64(offset),
    );
    const bytes = sizeOf(tensor) * 4;
    offset += bytes + padding(bytes);
  }
  return Buffer.concat(parts);
}

function valueOf(field: GgufValue): Buffer[] {
  switch (field.type) {
    case 'u32':
      return [u32(CODE.u32), u32(field.value)];
    case 'f32':
      return [u32(CODE.f32), f32(field.value)];
    case 'bool':
      return [u32(CODE.bool), Buffer.from([field.value ? 1 : 0])];
    case 'text':
      return [u32(CODE.text), text(field.value)];
    case 'texts':
      return [u32(CODE.list), u32(CODE.text), u64(field.value.length), ...field.value.map(text)];
    case 'f32s':
      return [u32(CODE.list), u32(CODE.f32), u64(field.value.length), ...field.value.map(f32)];
    case 'i32s':
      return [u32(CODE.list), u32(CODE.i32), u64(field.value.length), ...field.value.map(u32)];
  }
}

const padding = (length: number): number => (ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT;

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}
