import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  Param,
  Post,
  Query,
  UseInterceptors,
} from '@nestjs/common';
import { ApiCreatedResponse, ApiOperation } from '@nestjs/swagger';
import { Answers } from '../http/openapi/route.decorator.js';
import { type ViewOf } from '../http/openapi/view.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type IssuedKey, KeyIssuer } from '../../platform/auth/key-issuer.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { OutageInterceptor } from '../jobs/shared/outage.interceptor.js';
import { ModelCatalog } from '../models/model-catalog.js';
import {
  ApiKeyListDto,
  ApiKeyDto,
  CreateKeyDto,
  fixedKeyDto,
  IssuedKeyDto,
  ListKeysDto,
  newKey,
  RotateKeyDto,
  storedKeyDto,
} from './keys.dto.js';
import { KeyStore } from '../../platform/database/key-store.js';

const issued = ({
  key,
  secret,
  first = false,
}: IssuedKey): ViewOf<typeof IssuedKeyDto> => ({
  ...storedKeyDto(key),
  secret,
  makes_keys_required: first,
});

/**
 * API keys: those of the database are made, rotated and revoked here; those of the keys
 * file are listed.
 */
@Controller('admin/v1/keys')
@UseInterceptors(OutageInterceptor)
export class AdminKeysController {
  constructor(
    private readonly store: KeyStore,
    private readonly ring: KeyRing,
    private readonly issuer: KeyIssuer,
    private readonly catalog: ModelCatalog,
  ) {}

  @Get()
  @Answers(ApiKeyListDto)
  @DescribesErrors('storage_unavailable')
  async list(@Query() { limit }: ListKeysDto) {
    const stored = await this.store.list(limit + 1);
    const data = [
      ...this.ring.fixedKeys.map(fixedKeyDto),
      ...stored.slice(0, limit).map(storedKeyDto),
    ];
    return { object: 'list', data, has_more: stored.length > limit };
  }

  @Post()
  @HttpCode(201)
  @Header('cache-control', 'no-store')
  @ApiOperation({ description: 'The answer is the only place where the key appears.' })
  @ApiCreatedResponse({ type: IssuedKeyDto })
  @DescribesErrors(
    'invalid_value',
    'missing_required_parameter',
    'invalid_json',
    'too_many_keys',
    'storage_unavailable',
  )
  async create(@Body() body: CreateKeyDto) {
    if (body.expires_at !== undefined && body.expires_in_days !== undefined)
      throw new DomainError(
        'invalid_value',
        'Give expires_at or expires_in_days, not both.',
        { param: 'expires_at' },
      );
    const models = body.models && [
      ...new Set(body.models.map(name => this.catalog.get(name).id)),
    ];
    const nowMs = Date.now();
    return issued(await this.issuer.create(newKey(body, models, nowMs), nowMs));
  }

  @Post(':id/rotate')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    description:
      'Sessions that are open stay open: they belong to the key, not to its secret.',
  })
  @Answers(IssuedKeyDto)
  @DescribesErrors('key_not_found', 'key_is_from_file', 'storage_unavailable')
  async rotate(@Param('id') id: string, @Body() { grace_s: graceS }: RotateKeyDto) {
    return issued(await this.issuer.rotate(id, graceS * 1000));
  }

  @Delete(':id')
  @ApiOperation({
    description: 'In effect on this gateway at once, on others within 5 s.',
  })
  @Answers(ApiKeyDto)
  @DescribesErrors('key_not_found', 'key_is_from_file', 'storage_unavailable')
  async revoke(@Param('id') id: string) {
    return storedKeyDto(await this.issuer.revoke(id));
  }
}
