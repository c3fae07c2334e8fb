import { Body, Controller, HttpCode, Param, Post, Req, UseInterceptors } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { type FastifyRequest } from 'fastify';
import {
  UploadCompleteDto,
  UploadCreateDto,
  uploadDto,
  UploadDto,
  UploadPartCreateDto,
  uploadPartDto,
  UploadPartDto,
} from '../../../contracts/openai/upload.dto.js';
import { tenantOf } from '../../../platform/auth/access-hooks.js';
import { parseDto } from '../../http/dto-validation.js';
import { bodyFields } from '../../http/json-body.js';
import { DescribesErrors } from '../../http/openapi/errors.js';
import { summaryOf } from '../../http/openapi/route.decorator.js';
import { OutageInterceptor } from '../shared/outage.interceptor.js';
import { UploadsService } from './uploads.service.js';

@ApiTags('files')
@UseInterceptors(OutageInterceptor)
@Controller('v1/uploads')
export class UploadsController {
  constructor(private readonly uploads: UploadsService) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({ summary: summaryOf('POST', '/v1/uploads') })
  @ApiBody({ type: UploadCreateDto })
  @ApiOkResponse({ type: UploadDto })
  @DescribesErrors(
    'storage_unavailable',
    'invalid_value',
    'missing_required_parameter',
    'invalid_json',
    'file_too_large',
  )
  async create(@Req() request: FastifyRequest, @Body() body: unknown): Promise<UploadDto> {
    return uploadDto(await this.uploads.create(tenantOf(request), parseDto(UploadCreateDto, bodyFields(body))));
  }

  @Post(':id/parts')
  @HttpCode(200)
  @ApiOperation({ summary: summaryOf('POST', '/v1/uploads/{id}/parts') })
  @ApiParam({ name: 'id' })
  @ApiConsumes('multipart/form-data')
  @ApiBody({ type: UploadPartCreateDto })
  @ApiOkResponse({ type: UploadPartDto })
  @DescribesErrors(
    'storage_unavailable',
    'upload_not_found',
    'upload_not_pending',
    'missing_required_parameter',
    'too_many_files',
    'file_too_large',
    'invalid_multipart',
    'storage_full',
  )
  async addPart(@Req() request: FastifyRequest, @Param('id') id: string): Promise<UploadPartDto> {
    return uploadPartDto(await this.uploads.addPart(tenantOf(request), id, request));
  }

  @Post(':id/complete')
  @HttpCode(200)
  @ApiOperation({ summary: summaryOf('POST', '/v1/uploads/{id}/complete') })
  @ApiParam({ name: 'id' })
  @ApiBody({ type: UploadCompleteDto })
  @ApiOkResponse({ type: UploadDto })
  @DescribesErrors(
    'storage_unavailable',
    'upload_not_found',
    'upload_not_pending',
    'upload_incomplete',
    'invalid_value',
    'too_many_lines',
  )
  async complete(@Req() request: FastifyRequest, @Param('id') id: string, @Body() body: unknown): Promise<UploadDto> {
    const dto = parseDto(UploadCompleteDto, bodyFields(body));
    const { upload, file } = await this.uploads.complete(tenantOf(request), id, dto);
    return uploadDto(upload, file);
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @ApiOperation({ summary: summaryOf('POST', '/v1/uploads/{id}/cancel') })
  @ApiParam({ name: 'id' })
  @ApiOkResponse({ type: UploadDto })
  @DescribesErrors('storage_unavailable', 'upload_not_found', 'upload_not_pending')
  async cancel(@Req() request: FastifyRequest, @Param('id') id: string): Promise<UploadDto> {
    return uploadDto(await this.uploads.cancel(tenantOf(request), id));
  }
}
