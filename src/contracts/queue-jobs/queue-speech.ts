/** A piece of speech on its way to whoever listens, while it is made. All of it is in the blob `blob` once the job is completed. */
export interface SpeechPiece {
  /** Of this attempt: another worker that begins anew writes another one. */
  readonly blob: string;
  /** Where the bytes are in the blob. */
  readonly offset: number;
  readonly contentType: string;
  readonly sampleRate: number;
  readonly bytes: Buffer;
}

const LENGTH_BYTES = 4;

/** Length of the head, the head as JSON, the bytes. */
export function encodeSpeechPiece({ bytes, ...head }: SpeechPiece): Buffer {
  const json = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.length);
  return Buffer.concat([length, json, bytes]);
}

/** Undefined: not one of these. */
export function decodeSpeechPiece(message: Buffer): SpeechPiece | undefined {
  if (message.length < LENGTH_BYTES) return undefined;
  const end = LENGTH_BYTES + message.readUInt32BE(0);
  const head = end <= message.length ? parsed(message.toString('utf8', LENGTH_BYTES, end)) : undefined;
  const { blob, offset, contentType, sampleRate } = head ?? {};
  if (typeof blob !== 'string' || typeof contentType !== 'string') return undefined;
  if (typeof offset !== 'number' || typeof sampleRate !== 'number') return undefined;
  return { blob, offset, contentType, sampleRate, bytes: message.subarray(end) };
}

function parsed(json: string): Partial<SpeechPiece> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
