import { Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import {
  InputItemsQueryDto,
  RetrieveQueryDto,
} from '../../../contracts/openai/stored-response.dto.js';
import { DeletionDto, pageView } from '../../http/openapi/answer.js';
import { DescribesErrors } from '../../http/openapi/errors.js';
import { Answers } from '../../http/openapi/route.decorator.js';
import { CallerTenant } from '../../http/params.js';
import { ResponseFeed } from './response-feed.js';
import { ResponseRecords } from './response-records.js';
import { ResponseRuns } from './response-runs.js';
import {
  DescribesInputItems,
  DescribesResponseCancel,
  DescribesRetrieval,
  DescribesStoredResponses,
} from './stored-responses.openapi.js';

@DescribesStoredResponses()
@Controller('v1/responses/:id')
export class StoredResponsesController {
  constructor(
    private readonly records: ResponseRecords,
    private readonly feed: ResponseFeed,
    private readonly runs: ResponseRuns,
  ) {}

  @Get()
  @DescribesRetrieval()
  async retrieve(
    @CallerTenant() tenant: string,
    @Param('id') id: string,
    @Query() { stream, starting_after: after = -1 }: RetrieveQueryDto,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (!stream) return void reply.send(await this.records.response({ tenant, id }));
    await this.feed.demandEvents({ tenant, id }, after);
    this.feed.send(reply, {}, { tenant, id }, after);
  }

  @Get('input_items')
  @DescribesInputItems()
  async inputItems(
    @CallerTenant() tenant: string,
    @Param('id') id: string,
    @Query() page: InputItemsQueryDto,
  ) {
    return pageView(await this.records.inputItems(tenant, id, page), item => item);
  }

  @Post('cancel')
  @HttpCode(200)
  @DescribesResponseCancel()
  cancel(@CallerTenant() tenant: string, @Param('id') id: string) {
    return this.runs.cancel({ tenant, id });
  }

  @Delete()
  @Answers(DeletionDto)
  @DescribesErrors('storage_unavailable', 'response_not_found')
  async remove(@CallerTenant() tenant: string, @Param('id') id: string) {
    await this.runs.remove({ tenant, id });
    return { id, object: 'response', deleted: true };
  }
}
