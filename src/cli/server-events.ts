import { CliError } from './cli-error.js';

/** The JSON of every `data:` line of a server-sent event stream, until `[DONE]`. @throws CliError for an `error` event */
export async function* serverEvents(response: Response): AsyncGenerator<Record<string, unknown>> {
  let rest = '';
  for await (const text of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data:')) continue;
      const data = line.slice('data:'.length).trim();
      if (data === '[DONE]') return;
      yield checked(JSON.parse(data) as Record<string, unknown>);
    }
  }
}

function checked(event: Record<string, unknown>): Record<string, unknown> {
  const { error } = event as { error?: { message?: string; code?: string } };
  if (!error) return event;
  throw new CliError(`${error.message ?? 'the gateway reported an error'}${error.code ? ` [${error.code}]` : ''}`);
}
