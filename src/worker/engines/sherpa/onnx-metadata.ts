import { type FileHandle, open } from 'node:fs/promises';

/** Fields of ONNX's ModelProto and StringStringEntryProto. */
const METADATA_PROPS = 14;
const KEY = 1;
const VALUE = 2;
const LENGTH_DELIMITED = 2;
/** Longer than any entry that names a model; some models carry whole vocabularies beside them. */
const LONGEST_ENTRY = 4096;

/**
 * The metadata of an .onnx file: what exporters say a model is. Weights are skipped, not read. Empty for what is no ONNX file.
 */
export async function readOnnxMetadata(path: string): Promise<ReadonlyMap<string, string>> {
  const file = await open(path);
  try {
    return await entriesOf(file, (await file.stat()).size);
  } finally {
    await file.close();
  }
}

async function entriesOf(file: FileHandle, size: number): Promise<Map<string, string>> {
  const entries = new Map<string, string>();
  for (let at = 0; at < size;) {
    const head = await read(file, at, 20);
    const tag = varint(head, 0);
    const length = varint(head, tag.next);
    if (!tag.complete || !length.complete) break;
    const wireType = tag.value % 8;
    // ModelProto has numbers and length-delimited fields only.
    if (wireType !== LENGTH_DELIMITED && wireType !== 0) break;
    at += length.next;
    if (wireType === 0) continue;
    if (Math.floor(tag.value / 8) === METADATA_PROPS && length.value <= LONGEST_ENTRY) {
      const [key, value] = entry(await read(file, at, length.value));
      entries.set(key, value);
    }
    at += length.value;
  }
  return entries;
}

async function read(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}

function entry(bytes: Buffer): [key: string, value: string] {
  const fields = ['', '', ''];
  for (let at = 0; at < bytes.length;) {
    const tag = varint(bytes, at);
    const length = varint(bytes, tag.next);
    fields[Math.floor(tag.value / 8)] = bytes.toString('utf8', length.next, length.next + length.value);
    at = length.next + length.value;
  }
  return [fields[KEY] ?? '', fields[VALUE] ?? ''];
}

/** Sums, not shifts: lengths pass 2 GB. */
function varint(bytes: Buffer, from: number): { value: number; next: number; complete: boolean } {
  let value = 0;
  for (let i = 0; i < 10; i++) {
    const byte = bytes[from + i];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return { value, next: from + i + 1, complete: true };
  }
  return { value, next: bytes.length, complete: false };
}
