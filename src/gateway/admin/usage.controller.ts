import { Get, Query } from '@nestjs/common';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type UsageSums } from '../../core/access/usage-row.js';
import { LIMIT_NAMES } from '../../core/limits/limit-rules.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { KEY_LIMITS } from '../../platform/auth/keys-file.js';
import { DAY_MS } from '../../platform/config/setting-definition.js';
import { Settings } from '../../platform/config/settings.js';
import { KeyStore } from '../../platform/database/key-store.js';
import { UsageStore } from '../../platform/database/usage-store.js';
import { AdminController } from '../http/admin-controller.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { TenantListDto } from './dto/tenant.dto.js';
import { UsageQueryDto, UsageListDto } from './dto/usage-list.dto.js';
import { usageDto, usageTodayDto } from './dto/usage.dto.js';
import { utcDay, UsageRecorder } from './usage-recorder.js';

const MAX_GROUPS = 10_000;

const DEFAULT_DAYS = 30;

/**
 * What tenants used, and who they are. This gateway's own counts are up to date, those of
 * others a few seconds old.
 */
@AdminController()
export class AdminUsageController {
  constructor(
    private readonly usageStore: UsageStore,
    private readonly keyStore: KeyStore,
    private readonly settings: Settings,
    private readonly ring: KeyRing,
    private readonly recorder: UsageRecorder,
  ) {}

  @Get('usage')
  @Answers(UsageListDto)
  @DescribesErrors('invalid_value', 'storage_unavailable')
  async usage(@Query() { to = utcDay(Date.now()), ...query }: UsageQueryDto) {
    const usualMs = dayMs('to', to) - (DEFAULT_DAYS - 1) * DAY_MS;
    const { from = utcDay(usualMs), group_by: groupBy, tenant } = query;
    dayMs('from', from);
    if (from > to) throw invalidField('from', '`from` must not be after `to`.');
    await this.recorder.flush();
    const rows = await this.usageStore.sum({
      from,
      to,
      groupBy,
      tenant,
      limit: MAX_GROUPS + 1,
    });
    const data = rows.slice(0, MAX_GROUPS).map(usageDto);
    return { object: 'list', from, to, data, has_more: rows.length > MAX_GROUPS };
  }

  @Get('tenants')
  @Answers(TenantListDto)
  @DescribesErrors('storage_unavailable')
  async tenants() {
    await this.recorder.flush();
    const today = utcDay(Date.now());
    const used = await this.usageStore.sum({
      from: today,
      to: today,
      groupBy: ['tenant'],
      limit: MAX_GROUPS,
    });
    const keys = new Map<string, number>();
    for (const { tenant } of [...this.ring.fixedKeys, ...(await this.keyStore.live())])
      keys.set(tenant, (keys.get(tenant) ?? 0) + 1);
    const sums = new Map(used.map((row): [string, UsageSums] => [row.tenant ?? '', row]));
    const limits: Record<string, number> = Object.fromEntries(
      LIMIT_NAMES.map((name, at): [string, number] => [
        KEY_LIMITS[at] ?? name,
        this.settings.limits[name],
      ]),
    );
    const data = [...new Set([...keys.keys(), ...sums.keys()])].sort().map(id => ({
      object: 'tenant' as const,
      id,
      keys: keys.get(id) ?? 0,
      limits,
      weight: this.ring.weightOf(id),
      usage_today: usageTodayDto(sums.get(id)),
    }));
    return { object: 'list', data, has_more: false };
  }
}

/** @throws DomainError for a day that no calendar has, such as 2027-02-30 */
function dayMs(name: 'from' | 'to', day: string): number {
  const ms = Date.parse(day);
  if (Number.isNaN(ms) || utcDay(ms) !== day)
    throw invalidField(name, `\`${name}\` is no day of the calendar.`);
  return ms;
}
