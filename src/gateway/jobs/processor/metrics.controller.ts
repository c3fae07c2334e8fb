import { Controller, Get, Header } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import {
  allMetricsText,
  mergedMetrics,
  METRICS_CONTENT_TYPE,
} from '../../../platform/metrics/metrics-server.js';
import { EmbeddedProcessor } from './embedded-processor.js';

/** One scrape returns the metrics of the gateway and of its embedded processor. */
@Controller('metrics')
export class MetricsController {
  constructor(private readonly processor: EmbeddedProcessor) {}

  @Get()
  @Header('content-type', METRICS_CONTENT_TYPE)
  @ApiOkResponse({ content: { 'text/plain': { schema: { type: 'string' } } } })
  async scrape(): Promise<string> {
    return mergedMetrics(await Promise.all([allMetricsText(), this.processor.metrics()]));
  }
}
