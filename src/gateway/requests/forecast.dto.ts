import { type Quantiles, type WaitForecast } from '../../core/forecast/wait-forecast.js';
import {
  choiceField,
  fieldOf,
  numberField,
  view,
  type ViewOf,
} from '../http/openapi/view.js';

export const QuantilesDto = view('QuantilesDto', {
  p50: numberField('Half of such requests need at most this.'),
  p90: numberField('Nine in ten need at most this.'),
});

export const RequestForecastDto = view('RequestForecastDto', {
  start_in_ms: fieldOf(QuantilesDto, 'Milliseconds until a worker takes it.'),
  end_in_ms: fieldOf(QuantilesDto, 'Milliseconds until it is answered.'),
  basis: choiceField(
    ['simulation', 'drain_rate'],
    'The queue run forward by its own rules; or, with a shared queue, place in the queue ÷ recent rate.',
  ),
});

export const forecastDto = ({
  startInMs,
  endInMs,
  basis,
}: WaitForecast): ViewOf<typeof RequestForecastDto> => ({
  start_in_ms: quantilesDto(startInMs),
  end_in_ms: quantilesDto(endInMs),
  basis,
});

export const quantilesDto = ({ p50, p90 }: Quantiles): ViewOf<typeof QuantilesDto> => ({
  p50: Math.round(p50),
  p90: Math.round(p90),
});
