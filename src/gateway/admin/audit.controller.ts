import { Get, Query } from '@nestjs/common';
import { AuditStore } from '../../platform/database/usage-store.js';
import { AdminController } from '../http/admin-controller.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { auditEntryDto } from './dto/audit-entry.dto.js';
import { AuditQueryDto, AuditListDto } from './dto/audit-list.dto.js';

/** The audit log: changes made through admin routes, by all gateways of this database. */
@AdminController('audit')
export class AdminAuditController {
  constructor(private readonly store: AuditStore) {}

  @Get()
  @Answers(AuditListDto)
  @DescribesErrors('invalid_value', 'storage_unavailable')
  async list(@Query() { limit, after }: AuditQueryDto) {
    const { data, hasMore } = await this.store.list({ limit, after });
    return { object: 'list', data: data.map(auditEntryDto), has_more: hasMore };
  }
}
