import { ApiProperty } from '@nestjs/swagger';
import { type ForecastBasis, type Quantiles, type WaitForecast } from '../../core/forecast/wait-forecast.js';

export class QuantilesDto {
  @ApiProperty({ description: 'Half of such requests need at most this.' }) p50!: number;
  @ApiProperty({ description: 'Nine in ten need at most this.' }) p90!: number;
}

export class RequestForecastDto {
  @ApiProperty({ type: QuantilesDto, description: 'Milliseconds until a worker takes it.' }) start_in_ms!: QuantilesDto;
  @ApiProperty({ type: QuantilesDto, description: 'Milliseconds until it is answered.' }) end_in_ms!: QuantilesDto;
  @ApiProperty({
    enum: ['simulation', 'drain_rate'],
    description: 'The queue run forward by its own rules; or, with a shared queue, place in the queue ÷ recent rate.',
  })
  basis!: ForecastBasis;
}

export const forecastDto = ({ startInMs, endInMs, basis }: WaitForecast): RequestForecastDto => ({
  start_in_ms: quantilesDto(startInMs),
  end_in_ms: quantilesDto(endInMs),
  basis,
});

export const quantilesDto = ({ p50, p90 }: Quantiles): QuantilesDto => ({ p50: Math.round(p50), p90: Math.round(p90) });
