import { pcmWav } from '../../support/pcm-wav.js';

/** Mono s16 at 16 kHz: a WAV file of `seconds` of a quiet tone. */
export function wav(seconds: number): Buffer {
  const samples = Math.round(seconds * 16_000);
  const data = Buffer.alloc(samples * 2);
  for (let index = 0; index < samples; index += 1)
    data.writeInt16LE(Math.round(Math.sin(index / 12) * 3000), index * 2);
  return pcmWav(data, 16_000);
}

export interface FormOptions {
  readonly file?: Buffer | undefined;
  readonly filename?: string;
  readonly fields?: Readonly<Record<string, string | readonly string[]>>;
}

/** A form with one second of audio and model `stt`, unless told otherwise. */
export function audioForm(options: FormOptions = {}): FormData {
  const file = 'file' in options ? options.file : wav(1);
  const form = new FormData();
  if (file) form.append('file', new Blob([new Uint8Array(file)]), options.filename ?? 'speech.wav');
  for (const [name, value] of Object.entries({ model: 'stt', ...options.fields })) {
    for (const one of typeof value === 'string' ? [value] : value) form.append(name, one);
  }
  return form;
}
