import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { fullErrorMessage } from '@switchyard/engine-api/error-message.js';
import {
  DEPENDENCIES,
  DependencyMonitor,
  type DependencyName,
} from '../../platform/dependencies/dependency-monitor.js';

class DependencyDto {
  @ApiProperty({ enum: DEPENDENCIES })
  name!: DependencyName;

  @ApiProperty({ enum: ['up', 'down', 'unknown'] })
  status!: string;

  @ApiProperty({ description: 'Since when, ISO 8601.' })
  since!: string;

  @ApiProperty({ description: 'End of the last probe, ISO 8601.', required: false })
  checked_at?: string;

  @ApiProperty({ description: 'Why it is down.', required: false })
  error?: string;
}

class DependenciesDto {
  @ApiProperty({ type: [DependencyDto] })
  data!: DependencyDto[];
}

/** What this gateway depends on. */
@ApiTags('admin')
@Controller('admin/v1/dependencies')
export class AdminDependenciesController {
  constructor(private readonly monitor: DependencyMonitor) {}

  @Get()
  @ApiOperation({ summary: 'Redis, database and blob store as last probed, and why one is down' })
  @ApiOkResponse({ type: DependenciesDto })
  dependencies(): DependenciesDto {
    const data = this.monitor.states().map(([name, { status, sinceMs, checkedMs, error }]) => ({
      ...{ name, status, since: new Date(sinceMs).toISOString() },
      ...(checkedMs !== undefined && { checked_at: new Date(checkedMs).toISOString() }),
      ...(error && { error: fullErrorMessage(error) }),
    }));
    return { data };
  }
}
