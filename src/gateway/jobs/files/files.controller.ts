import {
  Controller,
  Delete,
  Get,
  Param,
  Post,
  Query,
  Res,
  UseInterceptors,
} from '@nestjs/common';
import { FilesService } from './files.service.js';
import {
  ApiBody,
  ApiConsumes,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiResponse,
} from '@nestjs/swagger';
import { type FastifyReply } from 'fastify';
import { Answers } from '../../http/openapi/route.decorator.js';
import {
  FileCreateDto,
  FileListQueryDto,
  FILE_PURPOSES,
} from '../../../contracts/openai/file.dto.js';
import { CallerTenant, Form } from '../../http/params.js';
import { type FormSource } from '../../http/multipart-form.js';
import { DescribesErrors } from '../../http/openapi/errors.js';
import { OutageInterceptor } from '../shared/outage.interceptor.js';
import { pageView } from '../shared/page-view.js';
import { type StoredFile } from '../../../core/jobs/job.ports.js';
import {
  choiceField,
  deletionView,
  numberField,
  objectField,
  openAiPageView,
  optionalField,
  textField,
  unixSeconds,
  view,
  type ViewOf,
} from '../../http/openapi/view.js';

export const FileDto = view('FileDto', {
  id: textField({ example: 'file-0198a1b2c3d47e5f8091a2b3c4d5e6f7' }),
  object: objectField('file'),
  bytes: numberField({ example: 120_000 }),
  created_at: numberField({
    example: 1_763_683_200,
    description: 'Unix seconds, as all times here.',
  }),
  expires_at: optionalField(numberField({ example: 1_766_275_200 })),
  filename: textField({ example: 'requests.jsonl' }),
  purpose: choiceField(FILE_PURPOSES),
  status: objectField('processed'),
});

const FileListDto = openAiPageView('FileListDto', FileDto);
const FileDeletedDto = deletionView('FileDeletedDto', 'file');

export const fileDto = (file: StoredFile): ViewOf<typeof FileDto> => ({
  id: file.id,
  object: 'file',
  bytes: file.bytes,
  created_at: unixSeconds(file.createdAtMs),
  expires_at: file.expiresAtMs && unixSeconds(file.expiresAtMs),
  filename: file.filename,
  purpose: file.purpose,
  status: 'processed',
});

const BYTES = {
  'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
};

@UseInterceptors(OutageInterceptor)
@Controller('v1/files')
export class FilesController {
  constructor(private readonly files: FilesService) {}

  @Post()
  @ApiOperation({
    description:
      '`curl -F purpose=batch -F file=@requests.jsonl http://localhost:8000/v1/files`',
  })
  @ApiConsumes('multipart/form-data')
  @ApiBody({ type: FileCreateDto })
  @Answers(FileDto)
  @DescribesErrors(
    'storage_unavailable',
    'invalid_value',
    'missing_required_parameter',
    'too_many_files',
    'empty_file',
    'too_many_lines',
    'invalid_multipart',
    'file_too_large',
    'unsupported_media_type',
    'storage_full',
  )
  async create(@CallerTenant() tenant: string, @Form() form: FormSource) {
    return fileDto(await this.files.create(tenant, form));
  }

  @Get()
  @Answers(FileListDto)
  @DescribesErrors('storage_unavailable', 'invalid_value')
  async list(@CallerTenant() tenant: string, @Query() query: FileListQueryDto) {
    return pageView(await this.files.list(tenant, query), fileDto);
  }

  @Get(':id')
  @Answers(FileDto)
  @DescribesErrors('storage_unavailable', 'file_not_found')
  async retrieve(@CallerTenant() tenant: string, @Param('id') id: string) {
    return fileDto(await this.files.find(tenant, id));
  }

  @Get(':id/content')
  @ApiHeader({
    name: 'Range',
    required: false,
    description: '`bytes=0-99`, `bytes=100-`, `bytes=-100`; see `If-Range`.',
  })
  @ApiHeader({
    name: 'If-None-Match',
    required: false,
    description: 'The `ETag`, the SHA-256 of the bytes: 304.',
  })
  @ApiOkResponse({ content: BYTES })
  @ApiResponse({
    status: 206,
    description: 'The range; `Content-Range` names it.',
    content: BYTES,
  })
  @ApiResponse({
    status: 304,
    description: 'Nothing: the bytes are those of `If-None-Match`.',
  })
  @DescribesErrors('storage_unavailable', 'file_not_found', 'range_not_satisfiable')
  content(
    @CallerTenant() tenant: string,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.files.sendContent(tenant, id, reply);
  }

  @Delete(':id')
  @Answers(FileDeletedDto)
  @DescribesErrors('storage_unavailable', 'file_not_found', 'file_in_use')
  async remove(@CallerTenant() tenant: string, @Param('id') id: string) {
    await this.files.remove(tenant, id);
    return { id, object: 'file', deleted: true };
  }
}
