/** The part of tar-stream that is used; it ships no types. */
declare module 'tar-stream' {
  interface Header {
    readonly name: string;
    readonly size?: number;
    readonly mode?: number;
    readonly mtime?: Date;
    /** Default: `file`. */
    readonly type?: string;
  }
  /** The bytes of one file. The next file begins when they are read. */
  interface Entry extends AsyncIterable<Buffer> {
    readonly header: Required<Header>;
    resume(): unknown;
  }
  interface Pack extends NodeJS.ReadableStream {
    entry(header: Header): NodeJS.WritableStream;
    entry(header: Header, content: string | Buffer): NodeJS.WritableStream;
    finalize(): void;
  }
  export function pack(): Pack;
  export function extract(): NodeJS.WritableStream & AsyncIterable<Entry>;
}
