import { Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import {
  InputItemsQueryDto,
  ResponseDeletedDto,
  RetrieveQueryDto,
} from '../../../contracts/openai/stored-response.dto.js';
import { tenantOf } from '../../../platform/auth/access-hooks.js';
import { parseDto } from '../../http/dto-validation.js';
import { DescribesErrors } from '../../http/openapi/errors.js';
import { summaryOf } from '../../http/openapi/route.decorator.js';
import { followEvents } from '../response-stream.js';
import { ResponseFeed } from './response-feed.js';
import { ResponseRecords, responseOfRecord } from './response-records.js';
import { ResponseStops } from './response-stops.js';

const EXAMPLE = {
  schema: { type: 'object', example: { id: 'resp_0198a1b2', object: 'response', status: 'completed' } },
};

@ApiTags('text')
@ApiParam({ name: 'id', description: 'The `id` of a stored response.' })
@Controller('v1/responses/:id')
export class StoredResponsesController {
  constructor(
    private readonly records: ResponseRecords,
    private readonly feed: ResponseFeed,
    private readonly stops: ResponseStops,
  ) {}

  @Get()
  @ApiOperation({ summary: summaryOf('GET', '/v1/responses/{id}') })
  @ApiOkResponse({ description: 'The response; with `stream` its events.', ...EXAMPLE })
  @DescribesErrors('storage_unavailable', 'response_not_found', 'invalid_value')
  async retrieve(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('id') id: string,
    @Query() query: RetrieveQueryDto,
  ): Promise<void> {
    const { stream, starting_after: after = -1 } = parseDto(RetrieveQueryDto, { ...query });
    const tenant = tenantOf(request);
    if (!stream) return void reply.send(responseOfRecord(await this.records.get(tenant, id)));
    await this.feed.demandEvents({ tenant, id });
    followEvents(reply, {}, signal => this.feed.follow({ tenant, id }, after, signal));
  }

  @Get('input_items')
  @ApiOperation({ summary: summaryOf('GET', '/v1/responses/{id}/input_items') })
  @ApiOkResponse({ description: 'Items of this response, without those of earlier ones.' })
  @DescribesErrors('storage_unavailable', 'response_not_found', 'invalid_value')
  async inputItems(@Req() request: FastifyRequest, @Param('id') id: string, @Query() query: InputItemsQueryDto) {
    const page = parseDto(InputItemsQueryDto, { ...query });
    const { data, hasMore } = await this.records.inputItems(tenantOf(request), id, page);
    const ends = { first_id: data.at(0)?.id ?? null, last_id: data.at(-1)?.id ?? null };
    return { object: 'list', data, ...ends, has_more: hasMore };
  }

  @Post('cancel')
  @HttpCode(200)
  @ApiOperation({ summary: summaryOf('POST', '/v1/responses/{id}/cancel') })
  @ApiOkResponse({ description: 'The response; what was generated before is in it.', ...EXAMPLE })
  @DescribesErrors('storage_unavailable', 'response_not_found', 'invalid_value')
  cancel(@Req() request: FastifyRequest, @Param('id') id: string) {
    return this.stops.cancel(tenantOf(request), id);
  }

  @Delete()
  @ApiOperation({ summary: summaryOf('DELETE', '/v1/responses/{id}') })
  @ApiOkResponse({ type: ResponseDeletedDto })
  @DescribesErrors('storage_unavailable', 'response_not_found')
  async remove(@Req() request: FastifyRequest, @Param('id') id: string): Promise<ResponseDeletedDto> {
    await this.stops.remove(tenantOf(request), id);
    return { id, object: 'response', deleted: true };
  }
}
