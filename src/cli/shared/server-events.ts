import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { CliError } from './cli-error.js';

/**
 * Yields the JSON of every `data:` line of a server-sent event stream, until `[DONE]`.
 * @throws CliError for an `error` event, and when the stream does not end with `[DONE]`
 */
export async function* serverEvents<T>(response: Response): AsyncGenerator<T> {
  for await (const line of linesOf(response)) {
    if (!line.startsWith('data:')) continue;
    const data = line.slice('data:'.length).trim();
    if (data === '[DONE]') return;
    const event = JSON.parse(data) as T & { error?: { message?: string; code?: string } };
    if (event.error) {
      const { message = 'the gateway reported an error', code } = event.error;
      throw new CliError(code ? `${message} [${code}]` : message);
    }
    yield event as Awaited<T>;
  }
  throw new CliError('the gateway ended the answer early; the output is incomplete');
}

/** Ends early where the connection breaks. */
async function* linesOf({ body }: Response): AsyncGenerator<string> {
  const lines = createInterface({
    input: Readable.fromWeb(body ?? new ReadableStream()),
    crlfDelay: Infinity,
  });
  try {
    yield* lines;
  } catch {
    // The caller reports that the end is missing.
  }
}
