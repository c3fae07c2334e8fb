import { Controller, Param, Post, UseInterceptors, Body } from '@nestjs/common';
import { UploadsService } from './uploads.service.js';
import { ApiBody, ApiConsumes } from '@nestjs/swagger';
import { Answers } from '../../http/openapi/route.decorator.js';
import {
  UPLOAD_PURPOSES,
  UploadCompleteDto,
  UploadCreateDto,
  UploadPartCreateDto,
} from '../../../contracts/openai/file.dto.js';
import { CallerTenant, Form } from '../../http/params.js';
import { type FormSource } from '../../http/multipart-form.js';
import { DescribesErrors } from '../../http/openapi/errors.js';
import { OutageInterceptor } from '../shared/outage.interceptor.js';
import {
  type StoredFile,
  type Upload,
  type UploadPart,
} from '../../../core/jobs/job.ports.js';
import {
  choiceField,
  numberField,
  objectField,
  textField,
  unixSeconds,
  view,
  type ViewOf,
  fieldOf,
  nullableField,
} from '../../http/openapi/view.js';
import { FileDto, fileDto } from './files.controller.js';

const UploadDto = view('UploadDto', {
  id: textField({ example: 'upload_0198a1b2c3d47e5f8091a2b3c4d5e6f7' }),
  object: objectField('upload'),
  bytes: Number,
  created_at: Number,
  expires_at: numberField('An hour after its creation.'),
  filename: String,
  purpose: choiceField<string>(UPLOAD_PURPOSES, { example: 'batch' }),
  status: choiceField(['pending', 'completed', 'cancelled', 'expired']),
  file: nullableField(fieldOf(FileDto, 'Once completed.')),
});

const UploadPartDto = view('UploadPartDto', {
  id: textField({ example: 'part_0198a1b2c3d47e5f8091a2b3c4d5e6f7' }),
  object: objectField('upload.part'),
  created_at: Number,
  upload_id: String,
});

const uploadDto = (upload: Upload, file?: StoredFile): ViewOf<typeof UploadDto> => ({
  id: upload.id,
  object: 'upload',
  bytes: upload.bytes,
  created_at: unixSeconds(upload.createdAtMs),
  expires_at: unixSeconds(upload.expiresAtMs),
  filename: upload.filename,
  purpose: upload.purpose,
  status: upload.status,
  file: file ? fileDto(file) : null,
});

const uploadPartDto = ({
  id,
  createdAtMs,
  uploadId,
}: UploadPart): ViewOf<typeof UploadPartDto> => ({
  id,
  object: 'upload.part',
  created_at: unixSeconds(createdAtMs),
  upload_id: uploadId,
});

@UseInterceptors(OutageInterceptor)
@Controller('v1/uploads')
export class UploadsController {
  constructor(private readonly uploads: UploadsService) {}

  @Post()
  @Answers(UploadDto)
  @DescribesErrors(
    'storage_unavailable',
    'invalid_value',
    'missing_required_parameter',
    'invalid_json',
    'file_too_large',
  )
  async create(@CallerTenant() tenant: string, @Body() body: UploadCreateDto) {
    return uploadDto(await this.uploads.create(tenant, body));
  }

  @Post(':id/parts')
  @ApiConsumes('multipart/form-data')
  @ApiBody({ type: UploadPartCreateDto })
  @Answers(UploadPartDto)
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
  async addPart(
    @CallerTenant() tenant: string,
    @Param('id') id: string,
    @Form() form: FormSource,
  ) {
    return uploadPartDto(await this.uploads.addPart(tenant, id, form));
  }

  @Post(':id/complete')
  @Answers(UploadDto)
  @DescribesErrors(
    'storage_unavailable',
    'upload_not_found',
    'upload_not_pending',
    'upload_incomplete',
    'invalid_value',
    'too_many_lines',
  )
  async complete(
    @CallerTenant() tenant: string,
    @Param('id') id: string,
    @Body() body: UploadCompleteDto,
  ) {
    const { upload, file } = await this.uploads.complete(tenant, id, body);
    return uploadDto(upload, file);
  }

  @Post(':id/cancel')
  @Answers(UploadDto)
  @DescribesErrors('storage_unavailable', 'upload_not_found', 'upload_not_pending')
  async cancel(@CallerTenant() tenant: string, @Param('id') id: string) {
    return uploadDto(await this.uploads.cancel(tenant, id));
  }
}
