import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { type Maker, ResultFiles } from '../finalize/result-files.js';

/** Audio that a speech line gave: as a file of its own, or in the line as base64 when it said `response_encoding: "base64"`. */
@Injectable()
export class SpeechAnswer {
  constructor(@Inject(ResultFiles) private readonly files: ResultFiles) {}

  /** JSON text of the answer's body. @throws LeaseLost, or when a store fails */
  async bodyJson(
    maker: Maker,
    audio: { bytes: Buffer; contentType: string; base64: boolean; name: string },
  ): Promise<string> {
    const { bytes, contentType, base64, name } = audio;
    if (base64) return JSON.stringify({ audio: bytes.toString('base64'), content_type: contentType });
    const { id } = await this.files.save(maker, {
      filename: `${name}.${extensionOf(contentType)}`,
      open: () => Readable.from([bytes]),
    });
    return JSON.stringify({ file_id: id, bytes: bytes.length, content_type: contentType });
  }
}

const EXTENSIONS: readonly (readonly [type: RegExp, extension: string])[] = [
  [/mpeg/, 'mp3'],
  [/wav/, 'wav'],
  [/flac/, 'flac'],
  [/opus|ogg/, 'opus'],
  [/aac/, 'aac'],
];

const extensionOf = (contentType: string): string => EXTENSIONS.find(([type]) => type.test(contentType))?.[1] ?? 'bin';
