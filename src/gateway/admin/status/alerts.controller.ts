import { Controller, Get } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import {
  choiceField,
  constantField,
  flagField,
  listField,
  numberField,
  optionalField,
  textField,
  answer,
} from '../../http/openapi/answer.js';
import { Answers } from '../../http/openapi/route.decorator.js';
import { PrometheusAlerts } from './prometheus-alerts.js';

class AlertDto extends answer({
  name: textField({ example: 'SwitchyardQueueFull' }),
  state: choiceField(['pending', 'firing']),
  severity: optionalField(textField({ example: 'warning' })),
  since: numberField('Unix seconds.'),
  summary: optionalField(String),
  runbook_url: optionalField(
    textField({
      example: 'docs/operate/runbook.md#switchyardqueuefull',
      description: 'What to do: a web address, or a path of the manual.',
    }),
  ),
}) {}

class AlertListDto extends answer({
  object: constantField('list'),
  configured: flagField('Whether `console.prometheus_url` is set.'),
  data: listField(AlertDto, 'Firing ones first; at most 100.'),
  problem: optionalField(textField('Why Prometheus could not be asked.')),
}) {}

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
