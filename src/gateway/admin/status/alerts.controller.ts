import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { PrometheusAlerts } from './prometheus-alerts.js';

class AlertDto {
  @ApiProperty({ example: 'SwitchyardQueueFull' }) name!: string;
  @ApiProperty({ enum: ['pending', 'firing'] }) state!: string;
  @ApiPropertyOptional({ example: 'warning' }) severity?: string;
  @ApiProperty({ description: 'Unix seconds.' }) since!: number;
  @ApiPropertyOptional() summary?: string;
  @ApiPropertyOptional({
    example: 'docs/operate/runbook.md#switchyardqueuefull',
    description: 'What to do: a web address, or a path of the manual.',
  })
  runbook_url?: string;
}

export class AlertListDto {
  @ApiProperty({ enum: ['list'] }) object!: 'list';
  @ApiProperty({ description: 'Whether `console.prometheus_url` is set.' }) configured!: boolean;
  @ApiProperty({ type: [AlertDto], description: 'Firing ones first; at most 100.' }) data!: AlertDto[];
  @ApiPropertyOptional({ description: 'Why Prometheus could not be asked.' }) problem?: string;
}

/** Alerts of a Prometheus, for the console. */
@ApiTags('admin')
@Controller('admin/v1/alerts')
export class AdminAlertsController {
  constructor(private readonly alerts: PrometheusAlerts) {}

  @Get()
  @ApiOperation({ summary: 'Alerts of the Prometheus in `console.prometheus_url`, at most 5 s old' })
  @ApiOkResponse({ type: AlertListDto })
  async list(): Promise<AlertListDto> {
    const { data, problem } = await this.alerts.current();
    return {
      object: 'list',
      configured: this.alerts.configured,
      data: data.map(({ sinceMs, runbook, ...alert }) => ({
        ...alert,
        since: Math.floor(sinceMs / 1000),
        ...(runbook !== undefined && { runbook_url: runbook }),
      })),
      ...(problem !== undefined && { problem }),
    };
  }
}
