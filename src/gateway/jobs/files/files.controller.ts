import { Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res, UseInterceptors } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import {
  FileCreateDto,
  FileDeletedDto,
  fileDto,
  FileDto,
  FileListDto,
  FileListQueryDto,
} from '../../../contracts/openai/file.dto.js';
import { tenantOf } from '../../../platform/auth/access-hooks.js';
import { parseDto } from '../../http/dto-validation.js';
import { DescribesErrors } from '../../http/openapi/errors.js';
import { summaryOf } from '../../http/openapi/route.decorator.js';
import { OutageInterceptor } from '../shared/outage.interceptor.js';
import { pageView } from '../shared/page-view.js';
import { FilesService } from './files.service.js';

const BYTES = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };

@ApiTags('files')
@UseInterceptors(OutageInterceptor)
@Controller('v1/files')
export class FilesController {
  constructor(private readonly files: FilesService) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: summaryOf('POST', '/v1/files'),
    description: '`curl -F purpose=batch -F file=@requests.jsonl http://localhost:8000/v1/files`',
  })
  @ApiConsumes('multipart/form-data')
  @ApiBody({ type: FileCreateDto })
  @ApiOkResponse({ type: FileDto })
  @DescribesErrors(
    'storage_unavailable',
    ...(['invalid_value', 'missing_required_parameter', 'too_many_files', 'empty_file', 'too_many_lines'] as const),
    ...(['invalid_multipart', 'file_too_large', 'unsupported_media_type', 'storage_full'] as const),
  )
  async create(@Req() request: FastifyRequest): Promise<FileDto> {
    return fileDto(await this.files.create(tenantOf(request), request));
  }

  @Get()
  @ApiOperation({ summary: summaryOf('GET', '/v1/files') })
  @ApiOkResponse({ type: FileListDto })
  @DescribesErrors('storage_unavailable', 'invalid_value')
  async list(@Req() request: FastifyRequest, @Query() query: FileListQueryDto): Promise<FileListDto> {
    return pageView(await this.files.list(tenantOf(request), parseDto(FileListQueryDto, { ...query })), fileDto);
  }

  @Get(':id')
  @ApiOperation({ summary: summaryOf('GET', '/v1/files/{id}') })
  @ApiParam({ name: 'id' })
  @ApiOkResponse({ type: FileDto })
  @DescribesErrors('storage_unavailable', 'file_not_found')
  async retrieve(@Req() request: FastifyRequest, @Param('id') id: string): Promise<FileDto> {
    return fileDto(await this.files.find(tenantOf(request), id));
  }

  @Get(':id/content')
  @ApiOperation({ summary: summaryOf('GET', '/v1/files/{id}/content') })
  @ApiParam({ name: 'id' })
  @ApiHeader({
    name: 'Range',
    required: false,
    description: '`bytes=0-99`, `bytes=100-`, `bytes=-100`; see `If-Range`.',
  })
  @ApiHeader({ name: 'If-None-Match', required: false, description: 'The `ETag`, the SHA-256 of the bytes: 304.' })
  @ApiOkResponse({ content: BYTES })
  @ApiResponse({ status: 206, description: 'The range; `Content-Range` names it.', content: BYTES })
  @ApiResponse({ status: 304, description: 'Nothing: the bytes are those of `If-None-Match`.' })
  @DescribesErrors('storage_unavailable', 'file_not_found', 'range_not_satisfiable')
  content(@Req() request: FastifyRequest, @Res() reply: FastifyReply, @Param('id') id: string): Promise<void> {
    return this.files.sendContent(tenantOf(request), id, { request, reply });
  }

  @Delete(':id')
  @ApiOperation({ summary: summaryOf('DELETE', '/v1/files/{id}') })
  @ApiParam({ name: 'id' })
  @ApiOkResponse({ type: FileDeletedDto })
  @DescribesErrors('storage_unavailable', 'file_not_found', 'file_in_use')
  async remove(@Req() request: FastifyRequest, @Param('id') id: string): Promise<FileDeletedDto> {
    await this.files.remove(tenantOf(request), id);
    return { id, object: 'file', deleted: true };
  }
}
