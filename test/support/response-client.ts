import { type ResponseEvent, type ResponseObject } from '../../src/contracts/openai/responses.js';

/** A caller of `/v1/responses` at one gateway. */
export class ResponseClient {
  constructor(
    private readonly url: string,
    private readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  get init(): RequestInit {
    return { headers: this.headers };
  }

  create(input: unknown, fields: object = {}): Promise<Response> {
    return fetch(`${this.url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...this.headers },
      body: JSON.stringify({ model: 'synthetic-llm', input, ...fields }),
    });
  }

  async created(input: unknown, fields: object = {}): Promise<ResponseObject> {
    const answer = await this.create(input, fields);
    if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
    return (await answer.json()) as ResponseObject;
  }

  get(path: string): Promise<Response> {
    return fetch(`${this.url}/v1/responses/${path}`, { headers: this.headers });
  }

  async found(id: string): Promise<ResponseObject> {
    return (await (await this.get(id)).json()) as ResponseObject;
  }

  cancel(id: string): Promise<Response> {
    return fetch(`${this.url}/v1/responses/${id}/cancel`, {
      method: 'POST',
      headers: this.headers,
    });
  }

  remove(id: string): Promise<Response> {
    return fetch(`${this.url}/v1/responses/${id}`, {
      method: 'DELETE',
      headers: this.headers,
    });
  }

  async *follow(id: string, after = -1): AsyncGenerator<ResponseEvent> {
    const from = after < 0 ? '' : `&starting_after=${after}`;
    yield* eventsIn(await this.get(`${id}?stream=true${from}`));
  }
}

/**
 * Events as they come; leaving the loop closes the connection, and one that
 * breaks ends them.
 */
export async function* eventsIn(answer: Response): AsyncGenerator<ResponseEvent> {
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  let pending = '';
  try {
    for await (const part of answer.body!.pipeThrough(new TextDecoderStream())) {
      const frames = (pending + part).split('\n\n');
      pending = frames.pop()!;
      for (const frame of frames) {
        const data = /^data: (.*)$/m.exec(frame)![1]!;
        if (data !== '[DONE]') yield JSON.parse(data) as ResponseEvent;
      }
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

/** Takes events until `enough` of them are there, or the stream ends. */
export async function taken(
  events: AsyncIterable<ResponseEvent>,
  enough: (all: readonly ResponseEvent[]) => boolean = () => false,
): Promise<ResponseEvent[]> {
  const all: ResponseEvent[] = [];
  for await (const event of events) {
    all.push(event);
    if (enough(all)) break;
  }
  return all;
}

export const textOf = ({ output }: Pick<ResponseObject, 'output'>): string =>
  output
    .flatMap(item => (item.type === 'message' ? item.content : []))
    .map(part => ('text' in part ? part.text : ''))
    .join('');

export const deltasOf = (events: readonly ResponseEvent[]): string =>
  events.map(event => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');

export const numbersOf = (events: readonly ResponseEvent[]): number[] =>
  events.map(({ sequence_number }) => sequence_number);

export const countFrom = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => first + index);
