import { type HistoryPoint, type ModelPoint } from '../../../../core/status/request-history.js';
import { mapField, numberField, optionalField, answer } from '../../../http/openapi/answer.js';

class ModelPointDto extends answer({
  arrived: numberField('Accepted into the queue.'),
  completed: Number,
  failed: Number,
  cancelled: Number,
  refused: numberField('Rejected by the queue; `arrived` does not count them.'),
  waiting: numberField('At the end of the step.'),
  in_flight: numberField('At the end of the step.'),
  oldest_wait_ms: numberField('At the end of the step.'),
  wait_p50_ms: optionalField(
    numberField('Of the requests that a worker took in the step; within 5 %.'),
  ),
  wait_p95_ms: optionalField(Number),
}) {}

export class HistoryPointDto extends answer({
  at: numberField('End of the step, Unix seconds.'),
  models: mapField(
    ModelPointDto,
    'By model. A model with nothing to report is absent: all its numbers are 0.',
  ),
}) {}

export function pointDto({ at, models }: HistoryPoint, model: string | undefined): HistoryPointDto {
  const shown = [...models].filter(([id]) => model === undefined || id === model);
  return {
    at,
    models: Object.fromEntries(shown.map(([id, point]) => [id, modelPointDto(point)])),
  };
}

const modelPointDto = ({
  inFlight,
  oldestWaitMs,
  waitP50Ms,
  waitP95Ms,
  failures: _,
  ...counts
}: ModelPoint) => ({
  ...counts,
  in_flight: inFlight,
  oldest_wait_ms: Math.round(oldestWaitMs),
  wait_p50_ms: tenths(waitP50Ms),
  wait_p95_ms: tenths(waitP95Ms),
});

const tenths = (ms: number | undefined): number | undefined => ms && Math.round(ms * 10) / 10;
