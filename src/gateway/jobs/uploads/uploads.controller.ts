import { Body, Controller, Param, Post, UseInterceptors } from '@nestjs/common';
import { ApiBody, ApiConsumes } from '@nestjs/swagger';
import { Answers } from '../../http/openapi/route.decorator.js';
import {
  UploadCompleteDto,
  UploadCreateDto,
  UploadPartCreateDto,
} from '../../../contracts/openai/upload.dto.js';
import { type FormSource } from '../../http/multipart-form.js';
import { CallerTenant, Form } from '../../http/params.js';
import { DescribesErrors } from '../../http/openapi/errors.js';
import { OutageInterceptor } from '../shared/outage.interceptor.js';
import { uploadDto, UploadDto, uploadPartDto, UploadPartDto } from './upload-view.js';
import { UploadsService } from './uploads.service.js';

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
