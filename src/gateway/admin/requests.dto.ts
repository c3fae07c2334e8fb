import {
  anyText,
  choiceOf,
  custom,
  fromForm,
  number,
  whole,
} from '../../contracts/openai/field-types.js';
import { Field, RequiredField } from '../../contracts/openai/field.decorators.js';
import { type RequestView } from '../../core/dispatch/request-view.js';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';
import { PRIORITY_LABELS, type PriorityLabel } from '../../core/request/request-priority.js';
import { Strict } from '../http/dto-validation.js';
import { listField, numberField, optionalField, answer } from '../http/openapi/answer.js';
import { RequestDto, STATUSES } from '../requests/request.dto.js';

const LIVE_STATUSES = ['queued', 'running'] as const;

const TENANT = anyText('must be the name of a tenant');

/** The filter of a listing and of a bulk cancel. */
class RequestChoiceDto {
  @Field(anyText('must be the id of a model'), {
    description: 'Canonical model id.',
    example: 'moonshine-tiny-en',
  })
  model?: string;

  @Field(TENANT, { description: 'Whose requests.', example: 'acme' })
  tenant?: string;

  @Field(choiceOf(PRIORITY_LABELS))
  priority?: PriorityLabel;
}

@Strict()
export class ListRequestsDto extends RequestChoiceDto {
  @Field(choiceOf(STATUSES), {
    description: 'Absent: queued and running. Ended ones are kept for a while.',
  })
  state?: RequestView['state'];

  @Field(fromForm(whole(1, 1000)), { type: undefined, default: 100 })
  limit = 100;

  @Field(fromForm(whole(0, 10_000_000)), {
    type: undefined,
    default: 0,
    description: 'So many of those that match are left out first.',
  })
  offset = 0;

  @Field(anyText('must be a part of an id'), { description: 'A part of the id.' })
  search?: string;

  @Field(anyText('must be an error code'), {
    description: 'Error code that it ended with.',
    example: 'engine_failed',
  })
  code?: string;

  @Field(fromForm(number(0, Number.MAX_SAFE_INTEGER)), {
    minimum: undefined,
    maximum: undefined,
    description: 'Milliseconds that it has waited, or longer.',
  })
  min_wait_ms?: number;
}

/** Which of several requests of one id is meant: ids are unique within a tenant only. */
@Strict()
export class NamedRequestDto {
  @Field(TENANT, {
    description: 'Whose request is meant; needed when several tenants have one of that id.',
  })
  tenant?: string;
}

@Strict()
export class ChangePriorityDto {
  @RequiredField(choiceOf(PRIORITY_LABELS), { example: 'realtime' })
  priority!: PriorityLabel;
}

@Strict()
export class CancelRequestsDto extends RequestChoiceDto {
  @Field(choiceOf(LIVE_STATUSES))
  state?: 'queued' | 'running';

  @Field(custom({ type: Boolean }, value => value === true, 'must be true'), {
    description: 'Say true to cancel everything; needed when no filter is given.',
  })
  all?: true;
}

class RequestsAheadDto extends answer({
  tenant: String,
  requests: numberField('Its requests that are dispatched before this one.'),
}) {}

export class FoundRequestDto extends answer(
  {
    ahead: optionalField(
      listField(RequestsAheadDto, 'Who is ahead of it in the queue of its model.'),
    ),
  },
  RequestDto,
) {}

/** @param queued the queued requests of its model */
export function requestsAhead(
  { position: own = 0 }: RequestView,
  queued: readonly RequestView[],
): RequestsAheadDto[] {
  const counts = new Map<string, number>();
  for (const { tenant = DEFAULT_TENANT, position = Infinity } of queued)
    if (position < own) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  return [...counts]
    .map(([tenant, requests]) => ({ tenant, requests }))
    .sort((a, b) => b.requests - a.requests);
}

export class RequestListDto extends answer({
  total: numberField('Requests that match; `data` holds at most `limit` of them.'),
  data: listField(RequestDto),
}) {}

export class CancelledRequestsDto extends answer({
  cancelled: listField(String, { example: ['req_0198a1b2c3d4'] }),
}) {}
