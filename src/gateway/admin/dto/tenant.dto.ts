import {
  anyField,
  constantField,
  fieldOf,
  numberField,
  partialListAnswer,
  textField,
  answer,
} from '../../http/openapi/answer.js';
import { UsageTodayDto } from './usage.dto.js';

class TenantDto extends answer({
  object: constantField('tenant'),
  id: textField({ example: 'acme' }),
  keys: numberField('Keys that are not revoked.'),
  limits: anyField<Readonly<Record<string, number>>>({
    description: 'By name; 0 = unlimited.',
    example: { requests_per_minute: 60 },
  }),
  weight: numberField('Its share of a busy model is this, divided by the weights of all who wait.'),
  usage_today: fieldOf(UsageTodayDto, 'Since 00:00 UTC.'),
}) {}

export class TenantListDto extends partialListAnswer(TenantDto) {}
