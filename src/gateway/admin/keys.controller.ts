import { Body, Delete, Get, Header, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type KeyChange } from '../../core/access/stored-key.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type IssuedKey, KeyIssuer } from '../../platform/auth/key-issuer.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { type KeyScope } from '../../platform/auth/principal.js';
import { KeyStore } from '../../platform/database/key-store.js';
import { AdminController } from '../http/admin-controller.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { ApiKeyDto, IssuedKeyDto, storedKeyDto, fixedKeyDto } from './dto/api-key.dto.js';
import { DAY_S, KeyTermsDto, CreateKeyDto } from './dto/create-key.dto.js';
import { ListKeysDto, ApiKeyListDto } from './dto/list-keys.dto.js';
import { RotateKeyDto } from './dto/rotate-key.dto.js';
import { UpdateKeyDto } from './dto/update-key.dto.js';
import {
  DescribesKeyCreation,
  DescribesKeyRevocation,
  DescribesKeyRotation,
  DescribesKeyUpdate,
} from './keys.openapi.js';

const NO_CHANGE =
  'Nothing would change: give name, scopes, models, limits, expires_in_days, expires_at or default_priority.';

/**
 * API keys: those of the database are made, changed, rotated and revoked here; those of the keys
 * file are listed.
 */
@AdminController('keys')
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
  @DescribesKeyCreation()
  async create(@Body() { name, tenant, ...fields }: CreateKeyDto) {
    const nowMs = Date.now();
    const { models, limits, defaultPriority, expiresAtMs, scopes } = this.#termsIn(fields, nowMs);
    const terms = {
      models: models ?? undefined,
      limits: limits ?? undefined,
      defaultPriority: defaultPriority ?? undefined,
      expiresAtMs: expiresAtMs ?? undefined,
    };
    return issued(
      await this.issuer.create({ name, tenant, scopes: scopes ?? [], ...terms }, nowMs),
    );
  }

  @Patch(':id')
  @Answers(ApiKeyDto)
  @DescribesKeyUpdate()
  async update(@Param('id') id: string, @Body() { name, ...fields }: UpdateKeyDto) {
    const change = { name: name ?? undefined, ...this.#termsIn(fields, Date.now()) };
    if (Object.values(change).every(value => value === undefined))
      throw new DomainError('missing_required_parameter', NO_CHANGE);
    return storedKeyDto(await this.issuer.update(id, change));
  }

  @Post(':id/rotate')
  @Header('cache-control', 'no-store')
  @Answers(IssuedKeyDto)
  @DescribesKeyRotation()
  async rotate(@Param('id') id: string, @Body() { grace_s: graceS }: RotateKeyDto) {
    return issued(await this.issuer.rotate(id, graceS * 1000));
  }

  @Delete(':id')
  @Answers(ApiKeyDto)
  @DescribesKeyRevocation()
  async revoke(@Param('id') id: string) {
    return storedKeyDto(await this.issuer.revoke(id));
  }

  /** Undefined: not given. @throws DomainError for a model that is not served */
  #termsIn(
    fields: KeyTermsDto & { readonly scopes?: readonly KeyScope[] },
    nowMs: number,
  ): KeyChange {
    const { scopes, models, limits, expires_in_days: days, expires_at: at } = fields;
    if (at != null && days != null)
      throw invalidField('expires_at', 'Give expires_at or expires_in_days, not both.');
    return {
      scopes: scopes ? [...new Set(scopes)] : undefined,
      models: models && [...new Set(models.map(name => this.catalog.get(name).id))],
      limits,
      defaultPriority: fields.default_priority,
      expiresAtMs: days == null ? at && at * 1000 : nowMs + days * DAY_S * 1000,
    };
  }
}

const issued = ({ key, secret, first = false }: IssuedKey) => ({
  ...storedKeyDto(key),
  secret,
  makes_keys_required: first,
});
