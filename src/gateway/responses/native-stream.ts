import { withJsonFields } from '../../contracts/formats/json-fields.js';
import {
  onOneLine,
  SSE_DONE,
  sseEvent,
} from '../../contracts/formats/server-sent-event.js';
import { FINAL_EVENTS, type ResponseObject } from '../../contracts/openai/responses.js';
import { valueSpans } from '../../core/jobs/line-span.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { isObject } from '@switchyard/engine-api/is-object.js';
import { GenerationOutputStream } from '../text/generation-output-stream.js';
import { type FinishResponse } from './conversations.js';
import { failureOf } from './response-object.js';

type Json = Readonly<Record<string, unknown>>;

/** Fields that the gateway sets in what another server reads or wrote. */
export type NativeFields = Json;

/**
 * The events of another server, each byte by byte but for the fields that the gateway
 * sets in the response.
 */
export class NativeStream extends GenerationOutputStream {
  #last: Json = {};
  /** The final event: it is sent when the response is stored. */
  #final: Buffer | undefined;
  #next = 0;

  constructor(
    maxBufferedBytes: number,
    private readonly fields: NativeFields,
    private readonly finish: FinishResponse,
  ) {
    super(maxBufferedBytes);
  }

  protected format(json: Buffer): string {
    const event = eventIn(json);
    if (!event) return '';
    this.#next = Number(event.sequence_number ?? this.#next) + 1;
    const type = String(event.type);
    if (!isObject(event.response)) return sseEvent(type, onOneLine(json));
    this.#last = { ...event.response, ...this.fields };
    const whole = withResponseFields(json, this.fields);
    if (!FINAL_EVENTS.has(type)) return sseEvent(type, onOneLine(whole));
    this.#final = whole;
    return '';
  }

  protected async lastFrame(failure: DomainError | undefined): Promise<string> {
    return (failure ? this.#failed(failure) : await this.#ended()) + SSE_DONE;
  }

  async #ended(): Promise<string> {
    if (!this.#final) return '';
    const fields = await this.finish(this.#last as unknown as ResponseObject);
    return sseEvent(
      String(eventIn(this.#final)!.type),
      onOneLine(withResponseFields(this.#final, { ...fields })),
    );
  }

  /** What the other server did not tell: its last state, and why it ended. */
  #failed(failure: DomainError): string {
    const error = failureOf(failure);
    const response = {
      ...this.#last,
      status: 'failed',
      error: { code: error.code, message: error.message },
    };
    const events = [
      { type: 'error', error },
      { type: 'response.failed', response },
    ];
    return events
      .map(event => sseEvent(event.type, { ...event, sequence_number: this.#next++ }))
      .join('');
  }
}

function withResponseFields(json: Buffer, fields: NativeFields): Buffer {
  const { start, end } = valueSpans(json, ['response']).response!;
  const response = withJsonFields(json.subarray(start, end), fields);
  return Buffer.concat([json.subarray(0, start), response, json.subarray(end)]);
}

/**
 * Undefined: no event. An engine has read it before, so it is one of an engine that
 * keeps no promise.
 */
function eventIn(json: Buffer): Json | undefined {
  try {
    const event: unknown = JSON.parse(json.toString('utf8'));
    return isObject(event) ? event : undefined;
  } catch {
    return undefined;
  }
}
