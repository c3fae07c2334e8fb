import { type RequestView } from '../../../core/dispatch/request-view.js';
import { DEFAULT_TENANT } from '../../../core/request/request-key.js';
import { listField, numberField, optionalField, answer } from '../../http/openapi/answer.js';
import { RequestDto } from '../../requests/dto/request.dto.js';

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
