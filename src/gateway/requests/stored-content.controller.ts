import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { DomainError } from '../../core/shared/domain-error.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { summaryOf } from '../http/openapi/route.decorator.js';
import { StoredRequestsService } from './stored-requests.service.js';

@ApiTags('requests')
@Controller('v1/requests')
export class StoredContentController {
  constructor(private readonly kept: StoredRequestsService) {}

  /** Status, type and bytes are those that a waiting caller would have got. */
  @Get(':id/content')
  @ApiOperation({ summary: summaryOf('GET', '/v1/requests/{id}/content') })
  @ApiParam({ name: 'id', description: 'The `x-request-id` of a request sent with `Prefer: respond-async`.' })
  @ApiOkResponse({ description: 'Its answer; of one that failed, its error with the status it has.' })
  @DescribesErrors('request_not_found', 'request_not_finished')
  async content(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const found = await this.kept.find(principalOf(request), id);
    if (!found) throw new DomainError('request_not_found', `There is no kept request \`${id}\`.`, { param: 'id' });
    const content = this.kept.content(found);
    if (!content)
      throw new DomainError('request_not_finished', `\`${id}\` has no answer yet.`, {
        param: 'id',
        retryAfterMs: 1000,
      });
    void reply.code(content.status).headers(content.headers).send(content.body);
  }
}
