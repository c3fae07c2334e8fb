/** What is used of tar-stream, which ships no types. */
declare module 'tar-stream' {
  interface Header {
    readonly name: string;
    readonly size?: number;
    readonly mode?: number;
    readonly mtime?: Date;
    /** `file` unless it says something else. */
    readonly type?: string;
  }
  /** The bytes of one file; the next begins when they are read. */
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
