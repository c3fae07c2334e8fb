import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  Inject,
  Param,
  Post,
  Query,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type KeyStore } from '../../core/access/key-store.port.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { type IssuedKey, KeyIssuer } from '../../platform/auth/key-issuer.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { KEY_STORE } from '../../platform/database/database.tokens.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { OutageInterceptor } from '../jobs/shared/outage.interceptor.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { AdminInputPipe } from './admin-input.pipe.js';
import {
  ApiKeyDto,
  ApiKeyListDto,
  CreateKeyDto,
  fixedKeyDto,
  IssuedKeyDto,
  ListKeysDto,
  newKey,
  RotateKeyDto,
  storedKeyDto,
} from './keys.dto.js';

const issued = ({ key, secret, first = false }: IssuedKey): IssuedKeyDto => ({
  ...{ ...storedKeyDto(key), secret, makes_keys_required: first },
});

/** API keys: those of the database are made, rotated and revoked here; those of the keys file are listed. */
@ApiTags('admin')
@Controller('admin/v1/keys')
@UsePipes(AdminInputPipe)
@UseInterceptors(OutageInterceptor)
export class AdminKeysController {
  constructor(
    @Inject(KEY_STORE) private readonly store: KeyStore,
    private readonly ring: KeyRing,
    private readonly issuer: KeyIssuer,
    private readonly catalog: ModelCatalog,
  ) {}

  @Get()
  @ApiOperation({ summary: 'API keys, without their secrets' })
  @ApiOkResponse({ type: ApiKeyListDto })
  @DescribesErrors('storage_unavailable')
  async list(@Query() { limit }: ListKeysDto): Promise<ApiKeyListDto> {
    const stored = await this.store.list(limit + 1);
    const data = [...this.ring.fixedKeys.map(fixedKeyDto), ...stored.slice(0, limit).map(storedKeyDto)];
    return { object: 'list', data, has_more: stored.length > limit };
  }

  @Post()
  @HttpCode(201)
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Create an API key', description: 'The answer is the only place where the key appears.' })
  @ApiCreatedResponse({ type: IssuedKeyDto })
  @DescribesErrors(
    'invalid_value',
    'missing_required_parameter',
    'invalid_json',
    'too_many_keys',
    'storage_unavailable',
  )
  async create(@Body() body: CreateKeyDto): Promise<IssuedKeyDto> {
    if (body.expires_at !== undefined && body.expires_in_days !== undefined)
      throw new DomainError('invalid_value', 'Give expires_at or expires_in_days, not both.', { param: 'expires_at' });
    const models = body.models && [...new Set(body.models.map(name => this.catalog.get(name).id))];
    const nowMs = Date.now();
    return issued(await this.issuer.create(newKey(body, models, nowMs), nowMs));
  }

  @Post(':id/rotate')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Replace the secret of an API key',
    description: 'Sessions that are open stay open: they belong to the key, not to its secret.',
  })
  @ApiOkResponse({ type: IssuedKeyDto })
  @DescribesErrors('key_not_found', 'key_is_from_file', 'storage_unavailable')
  async rotate(@Param('id') id: string, @Body() { grace_s: graceS }: RotateKeyDto): Promise<IssuedKeyDto> {
    return issued(await this.issuer.rotate(id, graceS * 1000));
  }

  @Delete(':id')
  @ApiOperation({
    summary: 'Revoke an API key',
    description: 'In effect on this gateway at once, on others within 5 s.',
  })
  @ApiOkResponse({ type: ApiKeyDto })
  @DescribesErrors('key_not_found', 'key_is_from_file', 'storage_unavailable')
  async revoke(@Param('id') id: string): Promise<ApiKeyDto> {
    return storedKeyDto(await this.issuer.revoke(id));
  }
}
