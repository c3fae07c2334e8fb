import {
  commaSeparated,
  type FieldType,
  repeatedOneOf,
  textLike,
} from '../../../contracts/openai/field-types.js';
import { Field } from '../../../contracts/openai/field.decorators.js';
import { USAGE_GROUPS, type UsageGroup } from '../../../core/access/usage-row.js';
import { Strict } from '../../http/dto-validation.js';
import {
  constantField,
  flagField,
  listField,
  textField,
  answer,
} from '../../http/openapi/answer.js';
import { UsageDto } from './usage.dto.js';

const DAY = textLike(
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/,
  'must be a day such as 2027-01-31',
);

const GROUPS: FieldType = {
  schema: { type: String },
  checks: repeatedOneOf(USAGE_GROUPS).checks,
  shape: commaSeparated(USAGE_GROUPS.length, Infinity).shape!,
};

@Strict()
export class UsageQueryDto {
  @Field(DAY, {
    example: '2027-01-01',
    description: 'First day, UTC; absent: 29 days before the last.',
  })
  from?: string;

  @Field(DAY, { example: '2027-01-31', description: 'Last day, UTC; absent: today.' })
  to?: string;

  @Field(GROUPS, {
    example: 'day,tenant',
    description: 'Out of day, tenant, key, model.',
  })
  group_by: (keyof UsageGroup)[] = ['day'];

  @Field(textLike(/^[~\w.-]{1,64}$/, 'must be the name of a tenant'), {
    example: 'acme',
    description: 'Of this tenant only.',
  })
  tenant?: string;
}

export class UsageListDto extends answer({
  object: constantField('list'),
  from: textField({ example: '2027-01-01' }),
  to: textField({ example: '2027-01-31' }),
  data: listField(UsageDto),
  has_more: flagField('More than 10,000 groups: ask for fewer days or groups.'),
}) {}
