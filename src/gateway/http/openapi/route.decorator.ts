import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiHeader,
  type ApiHeaderOptions,
  ApiOkResponse,
  type ApiResponseNoStatusOptions,
} from '@nestjs/swagger';
import { LONGEST_WINDOW_MS } from '../../../core/jobs/completion-window.js';

type Handler<T> = (...args: never[]) => T | Promise<T>;

/**
 * What a route answers with, and 200: the schema in the OpenAPI document, and the type of
 * what its handler returns.
 */
export const Answers =
  <T>(type: Type<T>, more: ApiResponseNoStatusOptions = {}) =>
  <H extends Handler<T>>(target: object, key: string, handler: TypedPropertyDescriptor<H>) => {
    HttpCode(200)(target, key, handler);
    ApiOkResponse({ type, ...more })(target, key, handler);
  };

/** What respond-async is answered with. */
const ACCEPTED = {
  description: 'With `Prefer: respond-async`.',
  headers: {
    Location: { schema: { type: 'string' }, description: '`/v1/requests/{id}`' },
    'Retry-After': {
      schema: { type: 'integer' },
      description: 'Seconds until it is probably answered, if known.',
    },
  },
  schema: {
    type: 'object',
    example: {
      request_id: 'req_0198a1b2c3d4',
      status: 'queued',
      created_at: 1767225600,
      location: '/v1/requests/req_0198a1b2c3d4',
      eta_s: 12.5,
    },
  },
} as const;

/** Request headers of every route that queues work. */
const REQUEST_HEADERS: readonly ApiHeaderOptions[] = [
  {
    name: 'X-Priority',
    schema: { type: 'string', enum: ['realtime', 'batch'] },
    description: 'REALTIME goes before BATCH, which is the default.',
  },
  {
    name: 'X-Deadline-Ms',
    schema: { type: 'integer', minimum: 0, maximum: LONGEST_WINDOW_MS },
    description:
      'Milliseconds from arrival until the whole answer. 503 `deadline_unreachable` at once when that cannot be met.',
  },
  {
    name: 'x-slo-ttft-ms',
    schema: { type: 'integer', minimum: 0, maximum: LONGEST_WINDOW_MS },
    description:
      'Milliseconds from arrival until the first output; of an answer that is not streamed, until it comes.',
  },
  {
    name: 'X-Request-Id',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,128}$' },
    description:
      'Name it yourself to cancel it later; generated when absent. Comes back as `x-request-id`.',
  },
  {
    name: 'Prefer',
    // An example would be filled in and sent: as one of one it is a choice.
    schema: { type: 'string', enum: ['respond-async'] },
    description: '`respond-async`: 202 at once; `Location` names where the answer will be.',
  },
  {
    name: 'Idempotency-Key',
    schema: { type: 'string', maxLength: 255 },
    description: 'A retry under the same key joins the first attempt, or gets its answer.',
  },
];

/** Of every route that queues work; its answer has the status 200. */
export const DescribesRequestHeaders = (): MethodDecorator =>
  applyDecorators(
    HttpCode(200),
    ...REQUEST_HEADERS.map(header => ApiHeader({ ...header, required: false })),
    ApiAcceptedResponse(ACCEPTED),
  );
