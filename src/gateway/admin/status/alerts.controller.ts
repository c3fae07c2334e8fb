import { Controller, Get } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Answers } from '../../http/openapi/route.decorator.js';
import { AlertListDto } from './alerts.dto.js';
import { PrometheusAlerts } from './prometheus-alerts.js';

/** Alerts of a Prometheus, for the console. */
@Controller('admin/v1/alerts')
export class AdminAlertsController {
  constructor(private readonly alerts: PrometheusAlerts) {}

  @Get()
  @ApiOperation({
    summary: 'Alerts of the Prometheus in `console.prometheus_url`, at most 5 s old',
  })
  @Answers(AlertListDto)
  async list() {
    const { data, problem } = await this.alerts.current();
    return { object: 'list', configured: this.alerts.configured, data, problem };
  }
}
