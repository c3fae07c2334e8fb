import { Controller, Get, Header } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { allMetricsText, mergedMetrics, METRICS_CONTENT_TYPE } from '../../../platform/metrics/metrics-server.js';
import { summaryOf } from '../../http/openapi/route.decorator.js';
import { EmbeddedProcessor } from './embedded-processor.js';

/** One scrape returns the metrics of the gateway and of its embedded processor. */
@ApiTags('health')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly processor: EmbeddedProcessor) {}

  @Get()
  @Header('content-type', METRICS_CONTENT_TYPE)
  @ApiOperation({ summary: summaryOf('GET', '/metrics') })
  @ApiOkResponse({ content: { 'text/plain': { schema: { type: 'string' } } } })
  async scrape(): Promise<string> {
    return mergedMetrics(await Promise.all([allMetricsText(), this.processor.metrics()]));
  }
}
