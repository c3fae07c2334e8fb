import { deepEqual, equal, match } from 'node:assert/strict';
import { type ResponseEvent, type ResponseObject } from '../../src/contracts/openai/responses.js';
import { faultsOfEvents, faultsOfResponse } from './response-schema.js';

/**
 * A server, and two of its models: one that ends its answers by itself, and one with
 * tools and grammars.
 */
export interface OpenResponsesTarget {
  readonly url: string;
  readonly text: string;
  readonly tools: string;
}

interface Envelope {
  readonly error: {
    readonly type: string;
    readonly code: string | null;
    readonly param: string | null;
  };
}

export const QUESTION = 'what does a switchyard do?';

const send = ({ url }: OpenResponsesTarget, body: object | string, path = ''): Promise<Response> =>
  fetch(`${url}/v1/responses${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

/** A response that keeps to the schema. */
export async function made(target: OpenResponsesTarget, fields: object): Promise<ResponseObject> {
  const answer = await send(target, { model: target.text, input: QUESTION, ...fields });
  const body = (await answer.json()) as ResponseObject;
  equal(answer.status, 200, JSON.stringify(body));
  match(answer.headers.get('content-type') ?? '', /^application\/json/);
  deepEqual(faultsOfResponse(body), []);
  return body;
}

/** A conversation that was compacted: its items are input again. */
export async function compacted(
  target: OpenResponsesTarget,
  fields: object,
): Promise<Pick<ResponseObject, 'output' | 'usage'>> {
  const answer = await send(target, fields, '/compact');
  const body = (await answer.json()) as { object: string } & ResponseObject;
  equal(answer.status, 200, JSON.stringify(body));
  equal(body.object, 'response.compaction');
  return body;
}

/** The frames of a stream whose events keep to the schema. */
export async function streamed(target: OpenResponsesTarget, fields: object) {
  const answer = await send(target, {
    model: target.text,
    input: QUESTION,
    stream: true,
    ...fields,
  });
  equal(answer.status, 200);
  match(answer.headers.get('content-type') ?? '', /^text\/event-stream/);
  const frames = (await answer.text()).split('\n\n').filter(frame => frame !== '');
  const data = frames.map(frame => /^data: (.*)$/m.exec(frame)![1]!);
  const events = data.slice(0, -1).map(json => JSON.parse(json) as ResponseEvent);
  deepEqual(faultsOfEvents(events), []);
  return {
    frames,
    events,
    last: data.at(-1),
    response: (events.at(-1) as { response: ResponseObject }).response,
  };
}

export async function refused(
  target: OpenResponsesTarget,
  status: number,
  body: object | string,
): Promise<Envelope['error']> {
  const answer = await send(
    target,
    typeof body === 'string' ? body : { model: target.text, input: QUESTION, ...body },
  );
  const { error } = (await answer.json()) as Envelope;
  equal(answer.status, status, JSON.stringify(error));
  deepEqual(Object.keys(error).sort(), ['code', 'message', 'param', 'type']);
  return error;
}
