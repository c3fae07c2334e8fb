import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { type FastifyReply } from 'fastify';
import { type Principal } from '../../platform/auth/principal.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { CallerPrincipal } from '../http/params.js';
import { StoredRequestsService } from './stored-requests.service.js';

@Controller('v1/requests')
export class StoredContentController {
  constructor(private readonly stored: StoredRequestsService) {}

  /** Status, type and bytes are those that a waiting caller would have received. */
  @Get(':id/content')
  @ApiParam({
    name: 'id',
    description: 'The `x-request-id` of a request sent with `Prefer: respond-async`.',
  })
  @ApiOkResponse({
    description: 'Its answer; of one that failed, its error with the status it has.',
  })
  @DescribesErrors('request_not_found', 'request_not_finished')
  async content(
    @CallerPrincipal() principal: Principal,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { status, headers, body } = await this.stored.content(principal, id);
    void reply.code(status).headers(headers).send(body);
  }
}
