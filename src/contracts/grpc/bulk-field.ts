import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';

/**
 * One large `bytes` field written and read without the copies of the generated code.
 *
 * An upload of 25 MB is copied three times by a generated encoder (growing buffer,
 * cut to size, Buffer) and once by a decoder. Protobuf lets a field stand anywhere in
 * a message, so the large one goes last: written with one copy, read as a view of
 * what gRPC received.
 */
interface BulkField {
  /** Field number, 1..15 (one tag byte). */
  readonly field: number;
}

const LENGTH_DELIMITED = 2;

/** `message` is the encoding of all other fields. */
export function appendBulk(
  message: Uint8Array,
  bulk: Uint8Array,
  { field }: BulkField,
): Buffer {
  if (bulk.byteLength === 0) return asBuffer(message);
  const head = new BinaryWriter()
    .tag(field, LENGTH_DELIMITED)
    .uint32(bulk.byteLength)
    .finish();
  return Buffer.concat([message, head, bulk]);
}

/**
 * `bulk` is a view of `bytes`; `rest` holds all other fields. The last occurrence wins,
 * as everywhere in protobuf.
 */
export function splitBulk(
  bytes: Uint8Array,
  { field }: BulkField,
): { rest: Uint8Array; bulk: Buffer } {
  const reader = new BinaryReader(bytes);
  const kept: Uint8Array[] = [];
  let bulk: Uint8Array = new Uint8Array(0);
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [number, wireType] = reader.tag();
    if (number === field && (wireType as number) === LENGTH_DELIMITED)
      bulk = reader.bytes();
    else {
      reader.skip(wireType, number);
      kept.push(bytes.subarray(start, reader.pos));
    }
  }
  return { rest: Buffer.concat(kept), bulk: asBuffer(bulk) };
}

/** The same memory as a Buffer. `Buffer.from(bytes)` would copy. */
const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
