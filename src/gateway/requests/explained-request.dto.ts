import { type RequestView } from '../../core/dispatch/request-view.js';
import {
  choiceField,
  fieldOf,
  listField,
  numberField,
  optionalField,
  view,
  type ViewOf,
  viewWith,
} from '../http/openapi/view.js';
import { type AheadCounts } from '../../core/forecast/decision-log.js';
import { type WaitForecast } from '../../core/forecast/wait-forecast.js';
import { type WaitExplanation } from '../../core/forecast/wait-explanation.js';
import { QuantilesDto, quantilesDto } from './forecast.dto.js';
import { RequestDto, requestDto } from './request.dto.js';

const CountsAheadDto = view('CountsAheadDto', {
  requests: Number,
  own: numberField('Of the same tenant.'),
  other_tenants: numberField('Other tenants that have some of them.'),
  by: fieldOf(
    view('AheadByReasonDto', {
      priority: numberField('Realtime requests, before a batch one.'),
      age: numberField('Came earlier, or aged batch requests in their turns.'),
      fairness: numberField('Came later, of tenants that had less device time.'),
    }),
    'Requests by the reason why they go first.',
  ),
});

const SlotsInUseDto = view('SlotsInUseDto', {
  in_use: numberField('Requests that the workers of its model have.'),
  total: numberField('Slots of the workers that are ready.'),
});

const WaitChangeDto = view('WaitChangeDto', {
  change: choiceField(['realtime_priority', 'one_more_worker']),
  start_in_ms: fieldOf(QuantilesDto, 'Milliseconds until it would start then.'),
});

/** Absent fields: it is not in the queue of this gateway, and was not lately. */
export const ExplainedRequestDto = viewWith('ExplainedRequestDto', RequestDto, {
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
  changes: optionalField(
    listField(WaitChangeDto, 'What would let it start clearly sooner.'),
  ),
});

/** @param explanation undefined: only what `GET /v1/requests/{id}` returns is known */
export function explainedDto(
  view: RequestView,
  forecast: WaitForecast | undefined,
  explanation: WaitExplanation | undefined,
): ViewOf<typeof ExplainedRequestDto> {
  const request = requestDto(view, forecast);
  if (explanation === undefined) return request;
  const { ahead, passed, slots, changes } = explanation;
  return {
    ...request,
    ahead: ahead && countsDto(ahead),
    passed: countsDto(passed),
    slots: { in_use: slots.inUse, total: slots.total },
    changes: changes.map(({ change, startInMs }) => ({
      change,
      start_in_ms: quantilesDto(startInMs),
    })),
  };
}

const countsDto = ({
  requests,
  own,
  otherTenants,
  by,
}: AheadCounts): ViewOf<typeof CountsAheadDto> => ({
  requests,
  own,
  other_tenants: otherTenants,
  by,
});
