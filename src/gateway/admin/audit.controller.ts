import { Controller, Get, Inject, Query, UseInterceptors, UsePipes } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { Field } from '../../contracts/openai/field.decorators.js';
import { fromForm, textLike, whole } from '../../contracts/openai/field-types.js';
import { type AuditEntry, type AuditStore } from '../../core/access/audit-store.port.js';
import { AUDIT_STORE } from '../../platform/database/database.tokens.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { OutageInterceptor } from '../jobs/shared/outage.interceptor.js';
import { AdminInputPipe } from './admin-input.pipe.js';

export class AuditQueryDto {
  @Field(fromForm(whole(1, 1000)), { default: 100 })
  limit = 100;

  @Field(textLike(/^audit_[0-9a-f]{32}$/, 'must be the id of an entry'), {
    description: 'Id of the last entry that was read.',
  })
  after?: string;
}

export class AuditActorDto {
  @ApiProperty() tenant!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Id of the key; null: no keys are asked for.' })
  key!: string | null;
}

export class AuditEntryDto {
  @ApiProperty() id!: string;
  @ApiProperty({ description: 'Unix seconds.' }) at!: number;
  @ApiProperty({ type: AuditActorDto }) actor!: AuditActorDto;
  @ApiProperty({ example: 'POST /admin/v1/keys/:id/rotate' }) action!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Id of what was changed.' }) target!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'What was asked, as JSON, cut at 500 characters.' })
  detail!: string | null;
  @ApiProperty() request_id!: string;
  @ApiProperty({ example: 'ok', description: '`ok`, or the code of the refusal.' }) outcome!: string;
}

export class AuditListDto {
  @ApiProperty({ enum: ['list'] }) object!: 'list';
  @ApiProperty({ type: [AuditEntryDto], description: 'Newest first.' }) data!: AuditEntryDto[];
  @ApiProperty() has_more!: boolean;
}

const auditEntryDto = ({ id, atMs, tenant, key, action, target, detail, requestId, outcome }: AuditEntry) => ({
  ...{ id, action, outcome, request_id: requestId },
  at: Math.floor(atMs / 1000),
  actor: { tenant, key: key || null },
  target: target || null,
  detail: detail || null,
});

/** The audit log: changes made through admin routes, by all gateways of this database. */
@ApiTags('admin')
@Controller('admin/v1/audit')
@UsePipes(AdminInputPipe)
@UseInterceptors(OutageInterceptor)
export class AdminAuditController {
  constructor(@Inject(AUDIT_STORE) private readonly store: AuditStore) {}

  @Get()
  @ApiOperation({ summary: 'Who changed what, newest first' })
  @ApiOkResponse({ type: AuditListDto })
  @DescribesErrors('invalid_value', 'storage_unavailable')
  async list(@Query() { limit, after }: AuditQueryDto): Promise<AuditListDto> {
    const entries = await this.store.list({ limit: limit + 1, ...(after !== undefined && { after }) });
    return { object: 'list', data: entries.slice(0, limit).map(auditEntryDto), has_more: entries.length > limit };
  }
}
