import { Get } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { AdminController } from '../../http/admin-controller.js';
import { Answers } from '../../http/openapi/route.decorator.js';
import { AlertListDto } from './dto/alerts.dto.js';
import { PrometheusAlerts } from './prometheus-alerts.js';

/** Alerts of a Prometheus, for the console. */
@AdminController('alerts')
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
