import { randomUUID } from 'node:crypto';

export interface FormFile {
  readonly name: string;
  readonly bytes: number;
  /** Asked for once per attempt. */
  open(): AsyncIterable<Uint8Array>;
}

/** A form with one file, of known length: sent as it is read. */
export class MultipartForm {
  readonly #boundary = `switchyard-${randomUUID()}`;
  readonly #head: Buffer;
  readonly #tail: Buffer;

  constructor(
    fields: readonly (readonly [name: string, value: string])[],
    private readonly file?: FormFile,
  ) {
    const parts = fields.map(([name, value]) => `${this.#part(name)}\r\n\r\n${value}\r\n`);
    if (file) parts.push(`${this.#part('file')}; filename="${quoted(file.name)}"\r\n${FILE_TYPE}\r\n\r\n`);
    this.#head = Buffer.from(parts.join(''));
    this.#tail = Buffer.from(`${file ? '\r\n' : ''}--${this.#boundary}--\r\n`);
  }

  get contentType(): string {
    return `multipart/form-data; boundary=${this.#boundary}`;
  }

  get bytes(): number {
    return this.#head.length + (this.file?.bytes ?? 0) + this.#tail.length;
  }

  async *body(): AsyncGenerator<Uint8Array> {
    yield this.#head;
    if (this.file) yield* this.file.open();
    yield this.#tail;
  }

  #part(name: string): string {
    return `--${this.#boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"`;
  }
}

const FILE_TYPE = 'content-type: application/octet-stream';

/** As browsers write names. */
const quoted = (name: string): string => name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
