import { withJsonFields } from '../../contracts/formats/json-fields.js';
import { onOneLine, SSE_DONE, sseEvent } from '../../contracts/formats/server-sent-event.js';
import { valueSpans } from '../../core/jobs/line-span.js';
import { type DomainError } from '../../core/shared/domain-error.js';
import { isObject } from '../../core/shared/schema.js';
import { OutputStream } from '../inference/output-stream.js';
import { type GenerationOutput } from '../worker-pool/worker-task.js';
import { failureOf } from './response-object.js';

type Json = Readonly<Record<string, unknown>>;

/** The events of another server, each byte by byte but for the fields that the gateway sets in the response. */
export class NativeStream extends OutputStream implements GenerationOutput {
  readonly chunks = this.body;
  #last: Json = {};
  #next = 0;

  constructor(
    maxBufferedBytes: number,
    private readonly fields: Json,
  ) {
    super(maxBufferedBytes);
  }

  begin(): void {
    // Nothing to prepare. The scheduler notes it: this request is not sent again.
  }

  protected format(json: Buffer): string {
    const event = eventIn(json);
    if (!event) return '';
    this.#next = Number(event.sequence_number ?? this.#next) + 1;
    if (!isObject(event.response)) return sseEvent(String(event.type), onOneLine(json));
    this.#last = { ...event.response, ...this.fields };
    const { start, end } = valueSpans(json, ['response']).response!;
    const response = withJsonFields(json.subarray(start, end), this.fields);
    const whole = Buffer.concat([json.subarray(0, start), response, json.subarray(end)]);
    return sseEvent(String(event.type), onOneLine(whole));
  }

  protected lastFrame(failure: DomainError | undefined): string {
    return (failure ? this.#failed(failure) : '') + SSE_DONE;
  }

  /** What the other server did not tell: its last state, and why it ended. */
  #failed(failure: DomainError): string {
    const error = failureOf(failure);
    const response = { ...this.#last, status: 'failed', error: { code: error.code, message: error.message } };
    const events = [
      { type: 'error', error },
      { type: 'response.failed', response },
    ];
    return events.map(event => sseEvent(event.type, { ...event, sequence_number: this.#next++ })).join('');
  }
}

/** Undefined: no event. An engine has read it before, so it is one of an engine that keeps no promise. */
function eventIn(json: Buffer): Json | undefined {
  try {
    const event: unknown = JSON.parse(json.toString('utf8'));
    return isObject(event) ? event : undefined;
  } catch {
    return undefined;
  }
}
