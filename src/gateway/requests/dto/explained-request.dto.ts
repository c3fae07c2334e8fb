import { type RequestView } from '../../../core/dispatch/request-view.js';
import { type AheadCounts } from '../../../core/forecast/decision-log.js';
import { type WaitExplanation, type WaitForecast } from '../../../core/forecast/forecast-view.js';
import {
  answer,
  choiceField,
  fieldOf,
  listField,
  numberField,
  optionalField,
} from '../../http/openapi/answer.js';
import { QuantilesDto, quantilesDto } from './request-forecast.dto.js';
import { RequestDto, requestDto } from './request.dto.js';

class AheadByReasonDto extends answer({
  priority: numberField('Realtime requests, before a batch one.'),
  age: numberField('Came earlier, or aged batch requests in their turns.'),
  fairness: numberField('Came later, of tenants that had less device time.'),
}) {}

class CountsAheadDto extends answer({
  requests: Number,
  own: numberField('Of the same tenant.'),
  other_tenants: numberField('Other tenants that have some of them.'),
  by: fieldOf(AheadByReasonDto, 'Requests by the reason why they go first.'),
}) {}

class SlotsInUseDto extends answer({
  in_use: numberField('Requests that the workers of its model have.'),
  total: numberField('Slots of the workers that are ready.'),
}) {}

class WaitChangeDto extends answer({
  change: choiceField(['realtime_priority', 'one_more_worker']),
  start_in_ms: fieldOf(QuantilesDto, 'Milliseconds until it would start then.'),
}) {}

/** Absent fields: it does not wait, or only another gateway knows. */
export class ExplainedRequestDto extends answer(
  {
    ahead: optionalField(
      fieldOf(CountsAheadDto, 'Waiting requests that are dispatched before it.'),
    ),
    passed: optionalField(
      fieldOf(
        CountsAheadDto,
        'Requests that were dispatched while it waited, of the last 2000 of its model.',
      ),
    ),
    slots: optionalField(SlotsInUseDto),
    changes: optionalField(listField(WaitChangeDto, 'What would let it start clearly sooner.')),
  },
  RequestDto,
) {}

/** @param explanation undefined: only what `GET /v1/requests/{id}` returns is known */
export function explainedDto(
  view: RequestView,
  forecast: WaitForecast | undefined,
  explanation: WaitExplanation | undefined,
): ExplainedRequestDto {
  const request = requestDto(view, forecast);
  if (explanation === undefined) return request;
  const { ahead, passed, slots, changes } = explanation;
  return {
    ...request,
    ahead: ahead && countsDto(ahead),
    passed: passed && countsDto(passed),
    slots: slots && { in_use: slots.inUse, total: slots.total },
    changes: changes?.map(({ change, startInMs }) => ({
      change,
      start_in_ms: quantilesDto(startInMs),
    })),
  };
}

const countsDto = ({ otherTenants, ...counts }: AheadCounts): CountsAheadDto => ({
  ...counts,
  other_tenants: otherTenants,
});
