import { type Quantiles, type WaitForecast } from '../../../core/forecast/forecast-view.js';
import { choiceField, fieldOf, numberField, answer } from '../../http/openapi/answer.js';

export class QuantilesDto extends answer({
  p50: numberField('Half of such requests need at most this.'),
  p90: numberField('Nine in ten need at most this.'),
}) {}

export const quantilesDto = ({ p50, p90 }: Quantiles): QuantilesDto => ({
  p50: Math.round(p50),
  p90: Math.round(p90),
});

export class RequestForecastDto extends answer({
  start_in_ms: fieldOf(QuantilesDto, 'Milliseconds until a worker takes it.'),
  end_in_ms: fieldOf(QuantilesDto, 'Milliseconds until it is answered.'),
  basis: choiceField(
    ['simulation', 'drain_rate'],
    'The queue run forward by its own rules; or, of an order that gateways share, the place there ÷ the rate.',
  ),
}) {}

export const forecastDto = ({ startInMs, endInMs, basis }: WaitForecast): RequestForecastDto => ({
  start_in_ms: quantilesDto(startInMs),
  end_in_ms: quantilesDto(endInMs),
  basis,
});
