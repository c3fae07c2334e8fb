import { Controller, Get, Param, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { type FastifyRequest } from 'fastify';
import { DomainError } from '../../core/shared/domain-error.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { mayTouch } from '../../platform/auth/principal.js';
import { RequestDto, requestDto } from '../admin/request.dto.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { DescribesErrors } from './docs/errors.decorator.js';

@ApiTags('requests')
@Controller('v1/requests')
export class RequestsController {
  constructor(private readonly scheduler: SchedulerService) {}

  @Get(':id')
  @ApiOperation({ summary: 'Where a request is and why it waits' })
  @ApiParam({ name: 'id', description: 'The `x-request-id` of the request.' })
  @ApiOkResponse({ type: RequestDto })
  @DescribesErrors('request_not_found')
  find(@Param('id') id: string, @Req() request: FastifyRequest): RequestDto {
    const view = this.scheduler.find(id);
    if (view && mayTouch(principalOf(request), view.tenant)) return requestDto(view);
    throw new DomainError('request_not_found', `There is no request \`${id}\`, or it ended too long ago.`, {
      param: 'id',
    });
  }
}
