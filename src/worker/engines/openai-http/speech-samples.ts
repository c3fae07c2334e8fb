import { samplesOf } from '../../audio/pcm.js';
import { unusableAnswer } from './upstream-failure.js';

/** Containers by their first bytes: a server that does not know `pcm` sends what it always sends. */
const CONTAINERS: readonly (readonly [start: string, name: string])[] = [
  ['RIFF', 'WAV'],
  ['ID3', 'MP3'],
  ['OggS', 'Ogg'],
  ['fLaC', 'FLAC'],
];
const LONGEST_START = 4;
const OTHER_CONTENT = /^(text\/|application\/(json|xml)|audio\/(x-)?(wav|wave|mpeg|mp3|ogg|opus|flac|aac|mp4)\b)/i;

/** Names what an answer is when its header says that it is not raw PCM. */
export function otherContentIn(contentType: string | undefined): string | undefined {
  return OTHER_CONTENT.exec(contentType ?? '') ? contentType : undefined;
}

/** Bytes of a PCM s16le body as samples, however the network cut them. */
export class SpeechSamples {
  #kept: Uint8Array = new Uint8Array(0);
  #begun = false;

  constructor(private readonly modelId: string) {}

  /** Whole samples of what has come; the rest waits for more. @throws UpstreamFailure naming the container that the bytes are. */
  take(chunk: Uint8Array): Int16Array {
    const bytes = this.#kept.byteLength === 0 ? chunk : Buffer.concat([this.#kept, chunk]);
    if (!this.#begun && bytes.byteLength < LONGEST_START) return this.#keep(bytes, 0);
    if (!this.#begun) refuseContainer(bytes, this.modelId);
    this.#begun = true;
    return this.#keep(bytes, bytes.byteLength & ~1);
  }

  /** A body shorter than the longest container's name. An odd last byte is no sample. */
  end(): Int16Array {
    return samplesOf(this.#kept);
  }

  #keep(bytes: Uint8Array, taken: number): Int16Array {
    this.#kept = bytes.slice(taken);
    return samplesOf(bytes.subarray(0, taken));
  }
}

function refuseContainer(bytes: Uint8Array, modelId: string): void {
  const start = Buffer.from(bytes.subarray(0, LONGEST_START)).toString('latin1');
  const container = CONTAINERS.find(([magic]) => start.startsWith(magic));
  if (container) throw unusableAnswer(modelId, `sent ${container[1]} although response_format was pcm.`);
}
